//! The statement: one line for each change of a bucket but `in_transit`, in order, with its cause, and without data of other accounts.

use cais_domain::charge::Charge;
use cais_domain::ids::{AccountId, EntryId};
use cais_domain::ledger::{Bucket, EntryKind, LedgerAccount, Overdraft, SystemAccount, Transfer};
use cais_domain::money::Money;
use cais_domain::refund::NewRefund;
use cais_domain::text::{LineBreaks, Text};
use cais_ports::{ChangeSet, EntryFilter, Page, PageRequest, Span, StatementEntry};
use jiff::{Timestamp, ToSpan as _};

use super::Harness;
use super::dispute::Dispute;
use super::harness::{after_s, instant, merchant, movement, walk};
use crate::builders::{
    a_payment, a_payout, a_return_id, a_split, an_end_to_end_id, fresh, main_acquirer, new_refund, pending_charge,
    steps,
};

/// The buckets that a statement shows.
const SHOWN: [Bucket; 3] = [Bucket::Available, Bucket::Pending, Bucket::Blocked];

/// In each bucket, the balance that a line states is the sum of all lines up to it. The sum of all lines is the current balance.
pub async fn statement_replays_to_the_balance(h: &mut Harness) {
    let (account, other) = (h.account().await.id, h.account().await.id);
    for _ in 0..3 {
        live(h, account, other).await;
        live(h, other, account).await;
    }
    for account in [account, other] {
        let lines = all(h, account, EntryFilter::default(), 7).await;
        let balances = h.balances(account).await;
        for (bucket, balance) in SHOWN.into_iter().zip(balances) {
            let mut sum = 0;
            for line in lines.iter().rev().filter(|line| line.bucket == bucket) {
                sum += line.amount.centavos();
                assert_eq!(line.balance_after.centavos(), sum, "{line:?}");
            }
            assert_eq!(sum, balance, "{}", bucket.as_str());
        }
        assert!(lines.iter().all(|line| SHOWN.contains(&line.bucket)), "money in transit is in no statement");
        assert!(lines.is_sorted_by(|newer, older| newer.id > older.id), "newest first, each once");
        let in_transit = EntryFilter { bucket: Some(Bucket::InTransit), ..EntryFilter::default() };
        assert_eq!(all(h, account, in_transit, 7).await, []);
    }
}

/// A line has the facts of its movement, such as amount, resource and end-to-end id. The description is the one of the charge, payout or
/// refund.
pub async fn statement_lines_describe_their_movements(h: &mut Harness) {
    let (account, other) = (h.account().await.id, h.account().await.id);
    let mut charge = pending_charge(account);
    charge.terms.description = Some(text("linha 1\nlinha 2 \u{1F980} 漢字"));
    charge.terms.split = a_split(&[(other, "10")]);
    let charge = h.charge(charge).await;
    let payment = a_payment(1_003);
    h.commit_ok(steps::credit_payment(&charge, payment.clone(), 60, after_s(1))).await;
    let due = h.store.list_due_releases(after_s(61), 5).await.unwrap();
    h.commit_ok(steps::make_release(due.first().unwrap(), after_s(62))).await;

    let requested = NewRefund { reason: Some(text("devolvido a pedido")), ..new_refund(Some(100)) };
    let paid = h.read_charge(&charge).await;
    h.commit_ok(steps::open_refund(&paid, &requested, after_s(63))).await;
    let (paid, refund) = (h.read_charge(&charge).await, h.read_refund(account, requested.id).await);
    h.commit_ok(steps::fail_refund(&refund, &paid, after_s(64))).await;

    h.fund(account, 1_000).await;
    let mut payout = a_payout(account);
    payout.terms.description = Some(text(""));
    h.commit_ok(steps::open_payout(&payout)).await;
    let payout = h.read_payout(&payout).await;
    let pix = an_end_to_end_id();
    h.commit_ok(steps::complete_payout(&payout, pix.clone(), after_s(66))).await;
    let payout = h.read_payout(&payout).await;
    h.commit_ok(steps::credit_return(&payout, 7, a_return_id(), after_s(67))).await;

    let by_payment = Some(payment.end_to_end_id);
    let of_charge = (Some(charge.id.to_string()), by_payment.clone(), "linha 1\nlinha 2 \u{1F980} 漢字", 1);
    let of_release = (of_charge.0.clone(), by_payment.clone(), of_charge.2, 62);
    let of_refund = |at| (Some(requested.id.to_string()), by_payment.clone(), "devolvido a pedido", at);
    let of_payout = |pix, at| (Some(payout.id.to_string()), pix, "", at);
    let (available, pending) = (Bucket::Available, Bucket::Pending);
    let expected = [
        (EntryKind::Charge, pending, 846, 846, of_charge.clone()),
        (EntryKind::ExtraPayment, pending, 3, 849, of_charge),
        (EntryKind::Release, pending, -849, 0, of_release.clone()),
        (EntryKind::Release, available, 849, 849, of_release),
        (EntryKind::Refund, available, -100, 749, of_refund(63)),
        (EntryKind::RefundFailed, available, 100, 849, of_refund(64)),
        // The transfer of `Harness::fund` has no resource.
        (EntryKind::Charge, available, 1_000, 1_849, (None, None, "", 0)),
        (EntryKind::Payout, available, -1_000, 849, of_payout(None, 0)),
        (EntryKind::Fee, available, -50, 799, of_payout(None, 0)),
        (EntryKind::PayoutReversed, available, 7, 806, of_payout(Some(pix), 67)),
    ];
    let lines = all(h, account, EntryFilter::default(), 200).await;
    assert_eq!(lines.len(), expected.len());
    for (line, expected) in lines.into_iter().rev().zip(expected) {
        let (kind, bucket, amount, balance_after, (resource, end_to_end_id, words, at)) = expected;
        let expected = StatementEntry {
            id: line.id,
            kind,
            bucket,
            amount: Money::from_centavos(amount),
            balance_after: Money::from_centavos(balance_after),
            description: resource.as_ref().map(|_| words.to_owned()),
            resource,
            end_to_end_id,
            created_at: after_s(at),
        };
        assert_eq!(line, expected);
    }
}

/// The line of a split credit names no resource and has no data of the charge. The line of a charge without a description has none.
pub async fn split_credit_line_hides_its_charge(h: &mut Harness) {
    let (creator, one) = (h.account().await.id, h.account().await.id);
    let mut charge = pending_charge(creator);
    charge.terms.description = Some(text("between creator and payer"));
    charge.terms.split = a_split(&[(one, "50")]);
    h.paid_charge(charge, 0).await;
    let lines = all(h, one, EntryFilter::default(), 50).await;
    let shown: Vec<_> = lines.iter().map(|line| (line.kind, line.amount.centavos(), line.bucket)).collect();
    assert_eq!(shown, [(EntryKind::Split, 470, Bucket::Available)]);
    assert!(lines.iter().all(|line| line.resource.is_none() && line.description.is_none()), "{lines:?}");

    let silent = h.paid_charge(pending_charge(creator), 0).await;
    let lines = all(h, creator, EntryFilter::default(), 50).await;
    let newest = lines.first().unwrap();
    assert_eq!((&newest.resource, &newest.description), (&Some(silent.id.to_string()), &None));
    assert_eq!(lines.len(), 2, "one line for each charge: the fee and the part of another account have no line");
}

/// Tests each filter alone and all together, with lines exactly at both ends of a span, page by page.
pub async fn filters_of_a_statement_combine(h: &mut Harness) {
    let (account, other) = (h.account().await.id, h.account().await.id);
    let mut moments = Vec::new();
    for _ in 0..3 {
        let at = instant(fresh::<cais_domain::ids::kind::Entry>());
        for account in [account, other] {
            h.commit_ok(one_of_each(account, at)).await;
        }
        moments.push(at);
    }
    let everything = all(h, account, EntryFilter::default(), 200).await;
    assert_eq!(everything.len(), 3 * EntryKind::ALL.len() * SHOWN.len());
    let middle = moments.get(1).copied();
    let last = moments.last().copied();
    let tick = middle.map(|at| at + 1.microsecond());
    let ends =
        [(None, None), (middle, None), (None, middle), (middle, last), (middle, tick), (tick, middle), (tick, last)];
    let spans = ends.map(|(from, until)| Span { from, until });
    let buckets = Bucket::ALL.into_iter().map(Some).chain([None]);
    for (bucket, created) in buckets.flat_map(|bucket| spans.map(|span| (bucket, span))) {
        for kind in EntryKind::ALL.into_iter().map(Some).chain([None]) {
            let filter = EntryFilter { bucket, kind, created };
            let wanted = |line: &&StatementEntry| {
                bucket.is_none_or(|bucket| bucket == line.bucket)
                    && kind.is_none_or(|kind| kind == line.kind)
                    && created.contains(line.created_at)
            };
            let expected: Vec<&StatementEntry> = everything.iter().filter(wanted).collect();
            let limit = if kind.is_none() { 20 } else { 4 };
            let listed = all(h, account, filter, limit).await;
            assert!(listed.iter().eq(expected), "{filter:?}: {listed:#?}");
        }
    }
    for account in [account, other] {
        h.commit_ok(put_back(account, h.balances(account).await)).await;
    }
}

/// The pages contain each row once, even while new rows are stored. `has_more` is exact.
pub async fn pages_of_a_statement_are_complete_and_stable(h: &mut Harness) {
    let account = h.account().await.id;
    for centavos in 1..=13 {
        h.fund(account, centavos).await;
    }
    let amounts = |lines: &[StatementEntry]| -> Vec<i64> { lines.iter().map(|line| line.amount.centavos()).collect() };
    let expected: Vec<i64> = (1..=13).rev().collect();
    for limit in [1, 4, 12, 13, 14] {
        assert_eq!(amounts(&all(h, account, EntryFilter::default(), limit).await), expected, "limit {limit}");
    }
    let walked = walk(
        3,
        |line: &StatementEntry| line.id,
        async |page| {
            let read = entries(h, account, EntryFilter::default(), page).await;
            h.fund(account, 77).await;
            read
        },
    );
    assert_eq!(amounts(&walked.await), expected);
    let stranger = entries(h, fresh(), EntryFilter::default(), PageRequest { limit: 5, starting_after: None }).await;
    assert_eq!(stranger, Page { rows: Vec::new(), has_more: false });
}

/// A cursor is valid if its line is in the account's statement, regardless of the filter.
pub async fn entry_is_a_cursor_for_its_own_account_only(h: &mut Harness) {
    let (account, other) = (h.account().await.id, h.account().await.id);
    live(h, account, other).await;
    for line in all(h, account, EntryFilter::default(), 200).await {
        assert!(h.store.has_entry(account, line.id).await.unwrap());
        assert!(!h.store.has_entry(other, line.id).await.unwrap());
    }
    assert!(!h.store.has_entry(account, fresh()).await.unwrap());
}

/// Credits, releases, pays out, refunds and blocks money of an account.
async fn live(h: &Harness, account: AccountId, other: AccountId) {
    let mut charge = pending_charge(account);
    charge.terms.split = a_split(&[(other, "12.5")]);
    let charge: Charge = h.paid_charge(charge, 60).await;
    for release in h.store.list_due_releases(after_s(1_000), 50).await.unwrap() {
        h.commit_ok(steps::make_release(&release, after_s(1_000))).await;
    }
    let [completed, failed] = [h.held_payout(account).await, h.held_payout(account).await];
    h.commit_ok(steps::complete_payout(&completed, an_end_to_end_id(), after_s(3))).await;
    h.commit_ok(steps::fail_payout(&failed, after_s(3))).await;
    let completed = h.read_payout(&completed).await;
    h.commit_ok(steps::credit_return(&completed, 1_000, a_return_id(), after_s(4))).await;
    let requested = new_refund(Some(300));
    h.commit_ok(steps::open_refund(&charge, &requested, after_s(5))).await;
    let (charge, refund) = (h.read_charge(&charge).await, h.read_refund(account, requested.id).await);
    h.commit_ok(steps::complete_refund(&refund, &charge, a_return_id(), after_s(6))).await;
    h.commit_ok(Dispute::of(account).hold(20)).await;
}

/// Returns the change set that credits one centavo to every bucket for each kind of entry.
fn one_of_each(account: AccountId, at: Timestamp) -> ChangeSet {
    let settlement = LedgerAccount::system(SystemAccount::Settlement(main_acquirer()), account);
    let into = |bucket, kind| {
        let to = merchant(account, bucket);
        Transfer { kind, ..movement(settlement.clone(), to, 1, Overdraft::Allowed) }
    };
    let kinds = |bucket| EntryKind::ALL.map(|kind| into(bucket, kind));
    ChangeSet { transfers: Bucket::ALL.into_iter().flat_map(kinds).collect(), ..ChangeSet::new(at) }
}

/// Returns the change set that makes pending and blocked money available. Without it the test would end with an inconsistent ledger,
/// because the money of `one_of_each` has no release and no block.
fn put_back(account: AccountId, [_, pending, blocked, _]: [i64; 4]) -> ChangeSet {
    let back = |(bucket, centavos)| {
        let (from, to) = (merchant(account, bucket), merchant(account, Bucket::Available));
        movement(from, to, centavos, Overdraft::Forbidden)
    };
    let transfers = [(Bucket::Pending, pending), (Bucket::Blocked, blocked)].map(back);
    ChangeSet { transfers: transfers.to_vec(), ..ChangeSet::new(after_s(1)) }
}

async fn entries(
    h: &Harness,
    account: AccountId,
    filter: EntryFilter,
    page: PageRequest<EntryId>,
) -> Page<StatementEntry> {
    h.store.list_entries(account, filter, page).await.unwrap()
}

/// Returns all lines of the filter, newest first, read in pages of at most `limit`.
async fn all(h: &Harness, account: AccountId, filter: EntryFilter, limit: u32) -> Vec<StatementEntry> {
    walk(limit, |line: &StatementEntry| line.id, async |page| entries(h, account, filter, page).await).await
}

fn text(text: &str) -> Text {
    Text::parse(text, 140, LineBreaks::Allowed).unwrap()
}
