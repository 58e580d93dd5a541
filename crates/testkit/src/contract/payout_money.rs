//! The money of payouts: held when the payout is stored, then spent once or returned once.

use cais_domain::ids::AccountId;
use cais_domain::ledger::Bucket;
use cais_domain::payout::{Payout, PayoutStatus};
use cais_ports::{ChangeSet, CommitError, IdempotencyChange, ReservationKey, ResponseKind};

use super::Harness;
use super::harness::{after_s, commit_concurrently, count_accepted, not_covered};
use crate::builders::{a_payment, a_payout, a_return_id, an_end_to_end_id, an_external_id, steps};

/// The number of concurrent callers.
const CALLERS: usize = 64;

/// Amount and fee move from `available` to `in_transit`. When the payout completes, both leave the account.
pub async fn payout_is_held_and_completed(h: &mut Harness) {
    let account = h.account().await.id;
    h.fund(account, 2_000).await;
    let payout = a_payout(account);
    let name = steps::idempotency_ref(account, "held-and-completed");
    h.commit_ok(steps::create_payout(&payout, name.clone())).await;
    assert_eq!(h.balances(account).await, [950, 0, 0, 1_050]);
    assert_eq!(h.store.find_idempotency_record(&name).await.unwrap().unwrap().resource, payout.id.to_string());

    let pending = h.read_payout(&payout).await;
    assert_eq!(pending, Payout { version: 1, ..payout });
    let sent = steps::send_payout(&pending, after_s(1));
    let answer = IdempotencyChange::Answer { name, fence: 1, answer: steps::answer(ResponseKind::Created, b"{}") };
    assert!(h.commit_ok(ChangeSet { idempotency: Some(answer), ..sent }).await.sequences.is_empty());
    let processing = h.read_payout(&pending).await;
    assert_eq!((processing.state.status(), processing.version), (PayoutStatus::Processing, 2));
    assert_eq!(h.balances(account).await, [950, 0, 0, 1_050]);

    let completed = h.commit_ok(steps::complete_payout(&processing, an_end_to_end_id(), after_s(2))).await;
    assert_eq!(completed.sequences, [1]);
    assert_eq!(h.balances(account).await, [950, 0, 0, 0]);
    assert_eq!(h.read_payout(&pending).await.state.status(), PayoutStatus::Completed);
}

/// The fee is returned as well, and later outcomes are refused.
pub async fn failed_payout_returns_all_money(h: &mut Harness) {
    let account = h.account().await.id;
    let payout = h.held_payout(account).await;
    assert_eq!(h.balances(account).await, [0, 0, 0, 1_050]);
    let fail = steps::fail_payout(&payout, after_s(1));
    assert_eq!(h.commit_ok(fail.clone()).await.sequences, [1]);
    assert_eq!(h.balances(account).await, [1_050, 0, 0, 0]);
    for again in [fail, steps::complete_payout(&payout, an_end_to_end_id(), after_s(2))] {
        assert_eq!(h.commit(again).await, Err(CommitError::Stale));
    }
    assert_eq!(h.balances(account).await, [1_050, 0, 0, 0]);
}

/// While the payout is abandoned, its external id is free. Its instruction id stays reserved.
pub async fn abandoned_payout_is_tried_again(h: &mut Harness) {
    let account = h.account().await.id;
    h.fund(account, 2_100).await;
    let mut payout = a_payout(account);
    let external_id = an_external_id();
    payout.terms.external_id = Some(external_id.clone());
    h.commit_ok(steps::open_payout(&payout)).await;
    let pending = h.read_payout(&payout).await;
    h.commit_ok(steps::abandon_payout(&pending, after_s(1))).await;
    assert_eq!(h.balances(account).await, [2_100, 0, 0, 0]);
    let key = ReservationKey::PayoutExternalId(account, external_id);
    assert_eq!(h.store.find_owner(&key).await.unwrap(), None);
    let instruction_id = ReservationKey::InstructionId(payout.instruction_id());
    assert_eq!(h.store.find_owner(&instruction_id).await.unwrap(), Some(payout.id.to_string()));

    let abandoned = h.read_payout(&payout).await;
    assert_eq!((abandoned.state.status(), abandoned.version), (PayoutStatus::Abandoned, 2));
    h.commit_ok(steps::reopen_payout(&abandoned, after_s(2))).await;
    assert_eq!(h.balances(account).await, [1_050, 0, 0, 1_050]);
    assert_eq!(h.store.find_owner(&key).await.unwrap(), Some(payout.id.to_string()));
    let reopened = h.read_payout(&payout).await;
    assert_eq!(reopened, Payout { version: 3, ..pending });
}

/// Neither the idempotency record nor the identifiers, the row or the transfers of the payout are stored. With one centavo
/// more the payout is accepted.
pub async fn uncovered_payout_leaves_nothing(h: &mut Harness) {
    let account = h.account().await.id;
    h.fund(account, 1_049).await;
    let mut payout = a_payout(account);
    let external_id = an_external_id();
    payout.terms.external_id = Some(external_id.clone());
    let name = steps::idempotency_ref(account, "an-uncovered-payout");
    let create = steps::create_payout(&payout, name.clone());
    let entries = h.audit().await;

    let refused = not_covered(account, Bucket::Available, 1_049);
    assert_eq!(h.commit(create.clone()).await, Err(refused), "the balance before the debits of amount and fee");
    assert_eq!(h.balances(account).await, [1_049, 0, 0, 0]);
    assert_eq!(h.audit().await, entries);
    assert_eq!(h.store.find_idempotency_record(&name).await.unwrap(), None);
    assert_eq!(h.store.find_payout(account, payout.id).await.unwrap(), None);
    let keys = [
        ReservationKey::PayoutExternalId(account, external_id),
        ReservationKey::InstructionId(payout.instruction_id()),
    ];
    for key in keys {
        assert_eq!(h.store.find_owner(&key).await.unwrap(), None);
    }
    h.fund(account, 1).await;
    h.commit_ok(create).await;
    assert_eq!(h.balances(account).await, [0, 0, 0, 1_050]);
}

/// The balance covers exactly one of the payouts. The refused payouts leave no trace.
pub async fn last_money_covers_one_of_many_payouts(h: &mut Harness) {
    let account = h.account().await.id;
    h.fund(account, 2_099).await;
    let payouts: Vec<Payout> = (0..CALLERS).map(|_| a_payout(account)).collect();
    let create =
        |payout: &Payout| steps::create_payout(payout, steps::idempotency_ref(account, &payout.id.to_string()));
    let outcomes = commit_concurrently(&h.store, payouts.iter().map(create).collect()).await;
    assert_eq!(count_accepted(&outcomes, |refused| matches!(refused, CommitError::NotCovered { .. })), 1);
    for (payout, outcome) in payouts.iter().zip(&outcomes) {
        let found = h.store.find_payout(account, payout.id).await.unwrap();
        assert_eq!(found.is_some(), outcome.is_ok());
        let owner = h.store.find_owner(&ReservationKey::InstructionId(payout.instruction_id())).await.unwrap();
        assert_eq!(owner.is_some(), outcome.is_ok());
    }
    assert_eq!(h.balances(account).await, [1_049, 0, 0, 1_050]);
}

/// Half of the callers report completion, and half report failure. One outcome is stored.
pub async fn payout_with_racing_outcomes_has_one(h: &mut Harness) {
    let account = h.account().await.id;
    for round in 0..8 {
        let before = h.balances(account).await;
        let payout = h.held_payout(account).await;
        let outcomes = (0..CALLERS).map(|caller| match (caller + round) % 2 {
            0 => steps::complete_payout(&payout, an_end_to_end_id(), after_s(1)),
            _ => steps::fail_payout(&payout, after_s(1)),
        });
        let outcomes = commit_concurrently(&h.store, outcomes.collect()).await;
        assert_eq!(count_accepted(&outcomes, |refused| *refused == CommitError::Stale), 1);
        let ended = h.read_payout(&payout).await;
        assert_eq!(ended.version, 2);
        let back = if ended.state.status() == PayoutStatus::Failed { 1_050 } else { 0 };
        let [available, ..] = before;
        assert_eq!(h.balances(account).await, [available + back, 0, 0, 0]);
    }
    assert_eq!(h.store.last_sequence(account).await.unwrap(), 8);
}

/// Each return id is credited once. The fee is not returned. When the whole amount is returned, the payout is `Reversed`.
pub async fn payout_return_is_credited_once(h: &mut Harness) {
    let account = h.account().await.id;
    let payout = h.held_payout(account).await;
    h.commit_ok(steps::complete_payout(&payout, an_end_to_end_id(), after_s(1))).await;
    let completed = h.read_payout(&payout).await;
    let first = a_return_id();
    let part = |payout: &Payout, centavos| steps::credit_return(payout, centavos, first.clone(), after_s(2));
    let outcomes = commit_concurrently(&h.store, vec![part(&completed, 400); CALLERS]).await;
    assert_eq!(count_accepted(&outcomes, |refused| matches!(refused, CommitError::Taken { .. })), 1);
    let returned = h.read_payout(&payout).await;
    assert_eq!((returned.returned.centavos(), returned.state.status()), (400, PayoutStatus::Completed));
    // The return id is refused also if the change set has the current version of the payout.
    let taken = CommitError::Taken { key: ReservationKey::ReturnId(first.clone()), by: payout.id.to_string() };
    assert_eq!(h.commit(part(&returned, 600)).await, Err(taken));
    assert_eq!(h.balances(account).await, [400, 0, 0, 0]);
    assert_eq!(h.store.last_sequence(account).await.unwrap(), 1);

    let rest = h.commit_ok(steps::credit_return(&returned, 600, a_return_id(), after_s(3))).await;
    assert_eq!(rest.sequences, [2]);
    assert_eq!(h.balances(account).await, [1_000, 0, 0, 0]);
    assert_eq!(h.read_payout(&payout).await.state.status(), PayoutStatus::Reversed);
}

/// The Pix of one account's payout pays the charge of another account. There the Pix is credited as a payment, not as a return.
pub async fn payout_may_pay_a_charge_of_another_account(h: &mut Harness) {
    let (payer, shop) = (h.account().await.id, h.account().await.id);
    let payout = h.held_payout(payer).await;
    let payment = a_payment(1_000);
    h.commit_ok(steps::complete_payout(&payout, payment.end_to_end_id.clone(), after_s(1))).await;
    let charge = h.pending_charge(shop).await;
    h.commit_ok(steps::credit_payment(&charge, payment, 60, after_s(2))).await;
    h.audit().await;
    let completed = h.read_payout(&payout).await;
    h.commit_ok(steps::credit_return(&completed, 1_000, a_return_id(), after_s(3))).await;
    assert_eq!(h.balances(payer).await, [1_000, 0, 0, 0]);
    assert_eq!(h.balances(shop).await, [0, 940, 0, 0]);
}

/// A charge, a payout and a refund may share an external id, and so may payouts of two accounts. Two payouts of an account may not.
pub async fn external_ids_are_unique_among_payouts(h: &mut Harness) {
    let account = h.account().await.id;
    let external_id = an_external_id();
    let mut charge = crate::builders::pending_charge(account);
    charge.terms.external_id = Some(external_id.clone());
    let charge = h.paid_charge(charge, 0).await;
    let requested = cais_domain::refund::NewRefund {
        external_id: Some(external_id.clone()),
        ..crate::builders::new_refund(Some(100))
    };
    h.commit_ok(steps::open_refund(&charge, &requested, after_s(2))).await;

    let named = |account: AccountId| {
        let mut payout = a_payout(account);
        payout.terms.external_id = Some(external_id.clone());
        payout
    };
    h.fund(account, 1_050 * 64).await;
    let payouts: Vec<Payout> = (0..CALLERS).map(|_| named(account)).collect();
    let outcomes = commit_concurrently(&h.store, payouts.iter().map(steps::open_payout).collect()).await;
    let (payout, _) = payouts.iter().zip(&outcomes).find(|(_, outcome)| outcome.is_ok()).unwrap();
    let key = ReservationKey::PayoutExternalId(account, external_id.clone());
    let taken = CommitError::Taken { key: key.clone(), by: payout.id.to_string() };
    assert_eq!(count_accepted(&outcomes, |refused| *refused == taken), 1);
    let [_, _, _, in_transit] = h.balances(account).await;
    assert_eq!(in_transit, 1_150, "one payout and the refund");
    let other = h.account().await.id;
    h.payout(named(other)).await;

    let owners = [
        (key, payout.id.to_string()),
        (ReservationKey::ChargeExternalId(account, external_id.clone()), charge.id.to_string()),
        (ReservationKey::RefundExternalId(account, external_id.clone()), requested.id.to_string()),
    ];
    for (key, owner) in owners {
        assert_eq!(h.store.find_owner(&key).await.unwrap(), Some(owner));
    }
    // The instruction id identifies one payout; a payout of another account cannot have the same one.
    let copy = Payout { account: other, version: 0, ..payout.clone() };
    let key = ReservationKey::InstructionId(payout.instruction_id());
    let taken = CommitError::Taken { key, by: payout.id.to_string() };
    let copy = Payout { terms: crate::builders::payout_terms(), ..copy };
    assert_eq!(h.commit(steps::open_payout(&copy)).await, Err(taken));
}
