//! Refunds are read back exactly as written, are guarded by their versions, and are found and listed.

use cais_domain::acquirer_name::AcquirerName;
use cais_domain::charge::{Charge, ChargeStatus, RefundTotals};
use cais_domain::external_id::ExternalId;
use cais_domain::ids::RefundId;
use cais_domain::money::Money;
use cais_domain::refund::{Refund, RefundState, RefundStatus};
use cais_domain::text::{LineBreaks, Text};
use cais_ports::{CommitError, OpenMoney, Page, PageRequest, Write};
use jiff::Timestamp;

use super::Harness;
use super::due::AT_S;
use super::harness::{after_s, walk};
use super::probe::refused_without_a_trace;
use crate::builders::{a_charge, a_refund, a_return_id, fresh, in_status, pending_charge, refund_in_status, steps};

/// A refund in each state is inserted, and read back as version 1.
pub async fn refunds_come_back_in_every_state(h: &mut Harness) {
    let charge = paid(h).await;
    for status in RefundStatus::ALL {
        let written = h.refund(refund_in_status(a_refund(&charge), status)).await;
        assert_reads(h, &written).await;
    }
}

/// Refunds with the greatest amounts, the longest texts, many scripts, and very early and late instants are read back as written.
pub async fn extreme_refunds_come_back(h: &mut Harness) {
    let charge = paid(h).await;
    let text = |text: &str| Some(Text::parse(text, 140, LineBreaks::Allowed).unwrap());
    let longest = "\u{1F980}".repeat(120);
    let full = Refund {
        acquirer: AcquirerName::parse("the-other-1").unwrap(),
        amount: Money::from_centavos(i64::MAX),
        of_charge: Money::from_centavos(i64::MAX),
        reason: text("linha 1\r\nlinha 2\n'\"\\ -- \u{202E}\u{0301} çãé 漢字 \u{10FFFF}"),
        external_id: Some(ExternalId::parse(&longest).unwrap()),
        created_at: "9999-12-01T23:59:59.999999Z".parse().unwrap(),
        ..a_refund(&charge)
    };
    let empty = Refund {
        amount: Money::from_centavos(1),
        of_charge: Money::ZERO,
        reason: text(""),
        external_id: Some(ExternalId::parse(" ").unwrap()),
        created_at: Timestamp::from_microsecond(1).unwrap(),
        ..a_refund(&charge)
    };
    for refund in [full, empty] {
        for status in RefundStatus::ALL {
            let refund = Refund { id: fresh(), ..refund.clone() };
            let written = h.refund(refund_in_status(refund, status)).await;
            assert_reads(h, &written).await;
        }
    }
}

/// A refund that an update moves to a state is read back with the optional facts of that state and the next version.
pub async fn refunds_come_back_after_every_update(h: &mut Harness) {
    let charge = paid(h).await;
    for (state, due_at, attempts) in shapes() {
        let inserted = h.refund(a_refund(&charge)).await;
        let changed = Refund { state: state.clone(), due_at, attempts, ..inserted };
        h.commit_ok(steps::update_refund(&changed, after_s(1))).await;
        let changed = Refund { version: 2, ..changed };
        assert_reads(h, &changed).await;
        let failed = refund_in_status(changed, RefundStatus::Failed);
        h.commit_ok(steps::update_refund(&failed, after_s(2))).await;
        assert_reads(h, &Refund { version: 3, ..failed }).await;

        let at_once = h.refund(Refund { state, due_at, attempts, ..a_refund(&charge) }).await;
        assert_reads(h, &at_once).await;
    }
}

/// A charge is stored with its refunded amounts and the number of its open infractions, both at an insert and at an update.
pub async fn charge_is_read_with_its_refunded_amounts(h: &mut Harness) {
    let account = h.account().await.id;
    let totals =
        |in_flight, done| RefundTotals { in_flight: Money::from_centavos(in_flight), done: Money::from_centavos(done) };
    let shapes = [
        (ChargeStatus::Paid, totals(0, 0), 1),
        (ChargeStatus::Paid, totals(1_000, 0), 0),
        (ChargeStatus::Paid, totals(1, 999), 2_000_000_000),
        (ChargeStatus::Paid, totals(0, 999), 0),
        (ChargeStatus::Refunded, totals(0, 1_000), 3),
    ];
    for (status, refunds, open_infractions) in shapes {
        let with = |charge| Charge { refunds, open_infractions, ..in_status(charge, status) };
        let inserted = h.charge(with(a_charge(account))).await;
        assert_eq!(h.read_charge(&inserted).await, inserted);
        let updated = with(h.pending_charge(account).await);
        h.commit_ok(steps::update_charge(&updated, after_s(1))).await;
        assert_eq!(h.read_charge(&updated).await, Charge { version: 2, ..updated });
    }
}

/// Updates from another version, and of a refund that was never stored, fail with `Stale`.
pub async fn stale_refund_leaves_nothing(h: &mut Harness) {
    let charge = paid(h).await;
    let refund = h.refund(a_refund(&charge)).await;
    for version in [0, 2, i64::MAX] {
        let stale = Refund { version, ..refund_in_status(refund.clone(), RefundStatus::Completed) };
        let refused = refused_without_a_trace(h, charge.account, |change| {
            change.writes.push(Write::update(stale));
        });
        assert_eq!(refused.await, CommitError::Stale);
    }
    let never = Refund { version: 1, ..a_refund(&charge) };
    assert_eq!(h.commit(steps::update_refund(&never, after_s(1))).await, Err(CommitError::Stale));
    assert_reads(h, &refund).await;
    assert_eq!(h.store.find_refund(charge.account, never.id).await.unwrap(), None);
}

/// The list has only the charge's own refunds, newest first, each once. Refunds that the API does not show, and those of other
/// charges and accounts, are absent.
pub async fn refunds_are_listed_with_their_charge(h: &mut Harness) {
    let (charge, foreign) = (paid(h).await, paid(h).await);
    let sibling = h.charge(in_status(a_charge(charge.account), ChargeStatus::Paid)).await;
    let mut visible = Vec::new();
    for status in RefundStatus::ALL.repeat(3) {
        for other in [&foreign, &sibling] {
            h.refund(refund_in_status(a_refund(other), status)).await;
        }
        let refund = h.refund(refund_in_status(a_refund(&charge), status)).await;
        if status.is_visible() {
            visible.push(refund);
        }
    }
    let first = h.refund(a_refund(&charge)).await;
    visible.reverse();
    for limit in [1, 4, 8, 9, 10] {
        let walked = walk(limit, |refund: &Refund| refund.id, async |page| refunds(h, &charge, page).await);
        assert_eq!(walked.await, visible, "limit {limit}");
    }
    let elsewhere = h.store.list_refunds(foreign.account, charge.id, first_page(5)).await.unwrap();
    assert_eq!(elsewhere, Page { rows: Vec::new(), has_more: false });
    let of_another = h.store.find_refund(foreign.account, first.id).await.unwrap();
    assert_eq!(of_another, None);

    h.commit_ok(steps::send_refund(&first, after_s(1))).await;
    let page = refunds(h, &charge, first_page(1)).await;
    let seen: Vec<RefundId> = page.rows.iter().map(|refund| refund.id).collect();
    assert_eq!((seen, page.has_more), (vec![first.id], true), "the refund is listed after it was sent");
}

/// The list has the due refunds of all accounts. A look-up without a result postpones a refund, and an outcome removes it from the list.
pub async fn due_refunds_come_longest_overdue_first(h: &mut Harness) {
    let charges = [paid(h).await, paid(h).await];
    let mut open = Vec::new();
    for (due_s, charge) in [40, 10, 30, 50, 20].into_iter().zip(charges.iter().cycle()) {
        for status in RefundStatus::ALL {
            let mut refund = refund_in_status(a_refund(charge), status);
            refund.due_at = refund.due_at.map(|_| after_s(due_s));
            let refund = h.refund(refund).await;
            if status == RefundStatus::Processing {
                open.push((due_s, refund));
            }
        }
    }
    open.sort_unstable_by_key(|(due_s, _)| *due_s);
    let open: Vec<Refund> = open.into_iter().map(|(_, refund)| refund).collect();
    for (now_s, limit, skipped, expected) in AT_S {
        let due = h.store.list_due_refunds(after_s(now_s), limit).await.unwrap();
        assert!(due.iter().eq(open.iter().skip(skipped).take(expected)), "after {now_s} s, at most {limit}");
    }
    let (first, second) = (open.first().unwrap(), open.get(1).unwrap());
    let polled = first.clone().schedule_next_poll(after_s(100));
    h.commit_ok(steps::update_refund(&polled, after_s(100))).await;
    let completed = refund_in_status(second.clone(), RefundStatus::Completed);
    h.commit_ok(steps::update_refund(&completed, after_s(100))).await;
    let due = h.store.list_due_refunds(after_s(60), 50).await.unwrap();
    assert!(due.iter().eq(open.iter().skip(2)));
    let due = h.store.list_due_refunds(after_s(1_000), 50).await.unwrap();
    assert_eq!(due.last(), Some(&Refund { version: 2, ..polled }));
    let oldest = due.iter().map(|refund| refund.created_at).min();
    assert_eq!(h.store.count_open_refunds().await.unwrap(), OpenMoney { count: 4, oldest });
}

/// Stores a paid charge of a new account, without crediting a payment.
async fn paid(h: &Harness) -> Charge {
    let account = h.account().await.id;
    h.charge(in_status(pending_charge(account), ChargeStatus::Paid)).await
}

async fn assert_reads(h: &Harness, refund: &Refund) {
    assert_eq!(h.read_refund(refund.account, refund.id).await, *refund);
}

async fn refunds(h: &Harness, charge: &Charge, page: PageRequest<RefundId>) -> Page<Refund> {
    h.store.list_refunds(charge.account, charge.id, page).await.unwrap()
}

const fn first_page(limit: u32) -> PageRequest<RefundId> {
    PageRequest { limit, starting_after: None }
}

/// Returns every state but `Pending`, with and without each optional fact. Each item has the state, the due time
/// and the number of attempts.
fn shapes() -> Vec<(RefundState, Option<Timestamp>, u32)> {
    let (at, recorded_at) = (after_s(9), after_s(3));
    let failed = |return_id, reason: &str| RefundState::Failed { return_id, reason: reason.to_owned(), at };
    vec![
        (RefundState::Abandoned { at }, None, 0),
        (RefundState::Processing { recorded_at, return_id: None }, Some(after_s(4)), 0),
        (RefundState::Processing { recorded_at, return_id: Some(a_return_id()) }, Some(after_s(4)), 2_000_000_000),
        (RefundState::Completed { return_id: None, at }, None, 7),
        (RefundState::Completed { return_id: Some(a_return_id()), at }, None, 0),
        (failed(None, ""), None, 0),
        (failed(Some(a_return_id()), &"não é \u{1F980}, ' \" \\ ".repeat(90)), None, 1),
    ]
}
