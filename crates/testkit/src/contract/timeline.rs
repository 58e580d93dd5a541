//! The timeline: charges, payouts and split credits as one list, sorted by their keys: the ids without the prefix.

use cais_domain::charge::{Charge, ChargeStatus};
use cais_domain::ids::{AccountId, ChargeId, kind};
use cais_domain::ledger::EntryKind;
use cais_domain::payout::{Payout, PayoutStatus};
use cais_domain::timeline::{Direction, TransactionStatus};
use cais_ports::{EntryFilter, Page, PageRequest, Span, SplitCredit, Transaction, TransactionFilter};
use jiff::{Timestamp, ToSpan as _};
use uuid::Uuid;

use super::Harness;
use super::harness::{after_s, instant, walk};
use crate::builders::{a_charge, a_payment, a_payout, a_split, fresh, in_status, payout_in_status, steps};

/// The timeline has transactions of every kind, and each transaction once, at every page size.
pub async fn transactions_are_merged_in_the_order_of_their_keys(h: &mut Harness) {
    let (account, other) = (h.account().await.id, h.account().await.id);
    let written = fill(h, account, other).await;
    let count = u32::try_from(written.len()).unwrap();
    for limit in (1..=count + 1).chain([200]) {
        let walked = all(h, account, TransactionFilter::default(), limit).await;
        assert!(walked.iter().eq(written.iter().rev()), "limit {limit}");
    }
    let stranger = list(h, fresh(), TransactionFilter::default(), first(5)).await;
    assert_eq!(stranger, Page { rows: Vec::new(), has_more: false });
}

/// Tests each filter alone and all together, with rows exactly at both ends of a span, page by page.
pub async fn filters_of_a_timeline_combine(h: &mut Harness) {
    let (account, other) = (h.account().await.id, h.account().await.id);
    let mut written = Vec::new();
    let mut middle = None;
    for round in 0..3 {
        written.extend(fill(h, account, other).await);
        if round == 1 {
            middle = written.last().map(created_at);
        }
    }
    let (first, last) = (written.first().map(created_at), written.last().map(created_at));
    let tick = middle.map(|at| at + 1.microsecond());
    let ends = [
        (None, None),
        (first, last),
        (middle, None),
        (tick, None),
        (None, middle),
        (None, tick),
        (middle, tick),
        (first, tick),
        (last, first),
    ];
    let directions = Direction::ALL.into_iter().map(Some).chain([None]);
    let statuses = || TransactionStatus::ALL.into_iter().map(Some).chain([None]);
    for (direction, status) in directions.flat_map(|direction| statuses().map(move |status| (direction, status))) {
        for (from, until) in ends {
            let created = Span { from, until };
            let filter = TransactionFilter { direction, status, created };
            let wanted = |transaction: &&Transaction| {
                direction.is_none_or(|wanted| wanted == direction_of(transaction))
                    && status.is_none_or(|wanted| wanted == status_of(transaction))
                    && created.contains(created_at(transaction))
            };
            let expected: Vec<&Transaction> = written.iter().rev().filter(wanted).collect();
            for limit in [2, 200] {
                let listed = all(h, account, filter, limit).await;
                assert!(listed.iter().eq(expected.iter().copied()), "{filter:?}, limit {limit}: {listed:#?}");
            }
        }
    }
}

/// New rows of any kind never move older rows to another page, with or without a filter.
pub async fn pages_of_a_timeline_are_stable_while_rows_arrive(h: &mut Harness) {
    let (account, other) = (h.account().await.id, h.account().await.id);
    fill(h, account, other).await;
    let cash_in = TransactionFilter { direction: Some(Direction::CashIn), ..TransactionFilter::default() };
    let completed = TransactionFilter { status: Some(TransactionStatus::Completed), ..TransactionFilter::default() };
    for (filter, limit) in
        [(TransactionFilter::default(), 1), (TransactionFilter::default(), 4), (cash_in, 3), (completed, 2)]
    {
        let before = all(h, account, filter, 200).await;
        let walked = walk(limit, Transaction::key, async |page| {
            let read = list(h, account, filter, page).await;
            h.charge(charge_now(account, ChargeStatus::Paid)).await;
            h.payout(payout_now(account, PayoutStatus::Completed)).await;
            split_credit(h, account, other).await;
            read
        });
        assert_eq!(walked.await, before, "{filter:?}, limit {limit}");
    }
}

/// A cursor marks a place in the list, and may be the key of a row that the filter hides.
pub async fn timeline_cursor_need_not_match(h: &mut Harness) {
    let account = h.account().await.id;
    let older = h.charge(charge_now(account, ChargeStatus::Pending)).await;
    let payout = h.payout(payout_now(account, PayoutStatus::Failed)).await;
    let newer = h.charge(charge_now(account, ChargeStatus::Pending)).await;
    let [older, newer] = [older, newer].map(|charge| Transaction::Charge(Box::new(charge)));
    let cash_in = TransactionFilter { direction: Some(Direction::CashIn), ..TransactionFilter::default() };
    let after = |key| PageRequest { limit: 5, starting_after: Some(key) };
    let page = list(h, account, cash_in, after(payout.id.uuid())).await;
    assert_eq!(page, Page { rows: vec![older.clone()], has_more: false });
    let page = list(h, account, cash_in, after(fresh::<kind::Charge>().uuid())).await;
    assert_eq!(page, Page { rows: vec![newer, older], has_more: false });
}

/// Transactions that the API does not show, and those of other accounts, are not listed, do not set `has_more`, and are not found by
/// their keys. A payout is listed at the place of its key once it is sent.
pub async fn unfinished_and_foreign_transactions_are_not_shown(h: &mut Harness) {
    let [account, other, creator] = [h.account().await.id, h.account().await.id, h.account().await.id];
    let visible = h.charge(charge_now(account, ChargeStatus::Pending)).await;
    let mut hidden: Vec<(Direction, Uuid)> = Vec::new();
    for status in [ChargeStatus::Creating, ChargeStatus::Abandoned] {
        hidden.push((Direction::CashIn, h.charge(charge_now(account, status)).await.id.uuid()));
    }
    let pending = h.payout(payout_now(account, PayoutStatus::Pending)).await;
    let abandoned = h.payout(payout_now(account, PayoutStatus::Abandoned)).await;
    hidden.extend([&pending, &abandoned].map(|payout| (Direction::CashOut, payout.id.uuid())));
    let foreign = fill(h, other, creator).await;
    hidden.extend(foreign.iter().map(|foreign| (direction_of(foreign), foreign.key())));
    let credit = split_credit(h, account, creator).await;
    for (direction, key) in hidden {
        assert_eq!(h.store.find_transaction(account, direction, key).await.unwrap(), None, "{direction:?} {key}");
    }
    let expected = vec![Transaction::SplitCredit(credit), Transaction::Charge(Box::new(visible))];
    let page = list(h, account, TransactionFilter::default(), first(2)).await;
    assert_eq!(page, Page { rows: expected, has_more: false });

    let sent = payout_in_status(pending, PayoutStatus::Processing);
    h.commit_ok(steps::update_payout(&sent, after_s(1))).await;
    let cash_out = TransactionFilter { direction: Some(Direction::CashOut), ..TransactionFilter::default() };
    let page = list(h, account, cash_out, first(5)).await;
    let seen = Transaction::Payout(Box::new(Payout { version: 2, ..sent }));
    assert_eq!(page, Page { rows: vec![seen], has_more: false });
}

/// The beneficiary's timeline has its part and no data of the charge. The creator's timeline has the charge and no part.
pub async fn split_credit_is_shown_to_its_beneficiary_only(h: &mut Harness) {
    let [creator, one, other] = [h.account().await.id, h.account().await.id, h.account().await.id];
    let mut charge = charge_now(creator, ChargeStatus::Pending);
    charge.terms.split = a_split(&[(one, "10"), (other, "20")]);
    let charge = h.charge(charge).await;
    let at = instant(fresh::<kind::Entry>());
    h.commit_ok(steps::credit_payment(&charge, a_payment(1_000), 60, at)).await;
    let paid = h.read_charge(&charge).await;
    let shown = all(h, creator, TransactionFilter::default(), 50).await;
    assert_eq!(shown, [Transaction::Charge(Box::new(paid))]);
    for (beneficiary, centavos) in [(one, 94), (other, 188)] {
        let shown = all(h, beneficiary, TransactionFilter::default(), 50).await;
        let [Transaction::SplitCredit(credit)] = shown.as_slice() else {
            assert_eq!(shown, [], "the credit is the only entry");
            continue;
        };
        assert_eq!((credit.amount.centavos(), credit.created_at), (centavos, at));
        assert_eq!(splits(h, beneficiary).await.first(), Some(credit), "the statement has the same entry");
        let key = credit.id.uuid();
        let found = |account, direction| h.store.find_transaction(account, direction, key);
        assert_eq!(found(beneficiary, Direction::CashIn).await.unwrap().as_ref(), shown.first());
        assert_eq!(found(beneficiary, Direction::CashOut).await.unwrap(), None);
        assert_eq!(found(creator, Direction::CashIn).await.unwrap(), None);
        let the_charge = h.store.find_transaction(beneficiary, Direction::CashIn, charge.id.uuid()).await;
        assert_eq!(the_charge.unwrap(), None);
    }
}

/// Transactions of every kind are found by direction and key. Other entries of the statement are no transactions.
pub async fn transactions_are_found_by_their_keys(h: &mut Harness) {
    let (account, other) = (h.account().await.id, h.account().await.id);
    for transaction in fill(h, account, other).await {
        let (direction, key) = (direction_of(&transaction), transaction.key());
        for requested in Direction::ALL {
            let found = h.store.find_transaction(account, requested, key).await.unwrap();
            assert_eq!(found.as_ref(), Some(&transaction).filter(|_| requested == direction));
            assert_eq!(h.store.find_transaction(other, requested, key).await.unwrap(), None);
        }
    }
    h.fund(account, 5).await;
    let filter = EntryFilter { kind: Some(EntryKind::Charge), ..EntryFilter::default() };
    let page = PageRequest { limit: 1, starting_after: None };
    let lines = h.store.list_entries(account, filter, page).await.unwrap();
    let key = lines.rows.first().unwrap().id.uuid();
    for direction in Direction::ALL {
        assert_eq!(h.store.find_transaction(account, direction, key).await.unwrap(), None);
        let nothing = h.store.find_transaction(account, direction, fresh::<kind::Payout>().uuid()).await;
        assert_eq!(nothing.unwrap(), None);
    }
}

/// Creates a charge and a payout in every status, and after each charge a split credit from a charge of `other`. Returns the account's
/// visible transactions, oldest first.
async fn fill(h: &Harness, account: AccountId, other: AccountId) -> Vec<Transaction> {
    let mut written = Vec::new();
    let mut payouts = PayoutStatus::ALL.into_iter();
    for status in ChargeStatus::ALL {
        let charge = h.charge(charge_now(account, status)).await;
        if status.is_visible() {
            written.push(Transaction::Charge(Box::new(charge)));
        }
        let credit = split_credit(h, account, other).await;
        written.push(Transaction::SplitCredit(credit));
        let Some(status) = payouts.next() else { continue };
        let payout = h.payout(payout_now(account, status)).await;
        if status.is_visible() {
            written.push(Transaction::Payout(Box::new(payout)));
        }
    }
    assert!(written.is_sorted_by_key(Transaction::key), "keys grow with time");
    written
}

/// Pays a new charge of `other` in whose split `account` has a share. Returns the split credit, which is younger than the charge.
async fn split_credit(h: &Harness, account: AccountId, other: AccountId) -> SplitCredit {
    let mut charge = charge_now(other, ChargeStatus::Pending);
    charge.terms.split = a_split(&[(account, "10")]);
    let charge = h.charge(charge).await;
    h.commit_ok(steps::confirm_payment(&charge, a_payment(1_000), instant(fresh::<kind::Entry>()))).await;
    splits(h, account).await.remove(0)
}

/// Returns the account's split credits, newest first, read from its statement.
async fn splits(h: &Harness, account: AccountId) -> Vec<SplitCredit> {
    let filter = EntryFilter { kind: Some(EntryKind::Split), ..EntryFilter::default() };
    let page = PageRequest { limit: 200, starting_after: None };
    let lines = h.store.list_entries(account, filter, page).await.unwrap().rows.into_iter();
    lines.map(|line| SplitCredit { id: line.id, amount: line.amount, created_at: line.created_at }).collect()
}

/// Returns a charge that was created at the instant in its id, like every charge of the service.
fn charge_now(account: AccountId, status: ChargeStatus) -> Charge {
    let charge = a_charge(account);
    let id: ChargeId = charge.id;
    in_status(Charge { created_at: instant(id), ..charge }, status)
}

fn payout_now(account: AccountId, status: PayoutStatus) -> Payout {
    let payout = a_payout(account);
    payout_in_status(Payout { created_at: instant(payout.id), ..payout }, status)
}

const fn first(limit: u32) -> PageRequest<Uuid> {
    PageRequest { limit, starting_after: None }
}

async fn list(
    h: &Harness,
    account: AccountId,
    filter: TransactionFilter,
    page: PageRequest<Uuid>,
) -> Page<Transaction> {
    h.store.list_transactions(account, filter, page).await.unwrap()
}

async fn all(h: &Harness, account: AccountId, filter: TransactionFilter, limit: u32) -> Vec<Transaction> {
    walk(limit, Transaction::key, async |page| list(h, account, filter, page).await).await
}

const fn direction_of(transaction: &Transaction) -> Direction {
    match transaction {
        Transaction::Charge(_) | Transaction::SplitCredit(_) => Direction::CashIn,
        Transaction::Payout(_) => Direction::CashOut,
    }
}

fn status_of(transaction: &Transaction) -> TransactionStatus {
    match transaction {
        Transaction::Charge(charge) => TransactionStatus::of_charge(charge.state.status()).unwrap(),
        Transaction::Payout(payout) => TransactionStatus::of_payout(payout.state.status()).unwrap(),
        Transaction::SplitCredit(_) => TransactionStatus::Completed,
    }
}

fn created_at(transaction: &Transaction) -> Timestamp {
    match transaction {
        Transaction::Charge(charge) => charge.created_at,
        Transaction::Payout(payout) => payout.created_at,
        Transaction::SplitCredit(credit) => credit.created_at,
    }
}
