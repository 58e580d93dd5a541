//! Many concurrent callers: each caller that can be served is served exactly once.

use cais_domain::charge::Charge;
use cais_domain::ids::AccountId;
use cais_ports::{CommitError, Committed, PageRequest};

use super::Harness;
use super::harness::{commit_concurrently, hold};
use super::probe::take;
use crate::builders::{a_payment, an_external_id, pending_charge, start, steps};

/// The number of concurrent callers.
const CALLERS: usize = 64;

/// A single charge is created, and all other callers get the winner's idempotency record.
pub async fn idempotency_key_goes_to_one_of_many_callers(h: &mut Harness) {
    let account = h.account().await;
    let name = steps::idempotency_ref(account.id, "one-of-many");
    let charges = many(|| pending_charge(account.id));
    let changes = charges.iter().map(|charge| steps::create_charge(charge, name.clone()));
    let outcomes = commit_concurrently(&h.store, changes.collect()).await;
    let winner = only_winner(&outcomes, &charges);
    let record = h.store.find_idempotency_record(&name).await.unwrap().unwrap();
    assert_eq!(record.resource, winner.id.to_string());
    for refused in outcomes.iter().filter_map(|outcome| outcome.as_ref().err()) {
        let expected = CommitError::KeyInUse { record: Box::new(record.clone()) };
        assert_eq!(*refused, expected);
    }
    assert_eq!(listed(h, account.id).await, [winner.id]);
}

/// A single charge is created, and all other callers get the id of the charge that owns the external id.
pub async fn external_id_goes_to_one_of_many_callers(h: &mut Harness) {
    let account = h.account().await;
    let external_id = an_external_id();
    let charges = many(|| {
        let mut charge = pending_charge(account.id);
        charge.terms.external_id = Some(external_id.clone());
        charge
    });
    let outcomes = commit_concurrently(&h.store, charges.iter().map(steps::open_charge).collect()).await;
    let winner = only_winner(&outcomes, &charges);
    for refused in outcomes.iter().filter_map(|outcome| outcome.as_ref().err()) {
        let named = matches!(refused, CommitError::Taken { by, .. } if *by == winner.id.to_string());
        assert!(named, "{refused:?}");
    }
    assert_eq!(listed(h, account.id).await, [winner.id]);
}

/// The balance covers exactly one payout, so one caller succeeds.
pub async fn last_money_goes_to_one_of_many_callers(h: &mut Harness) {
    let account = h.account().await;
    h.fund(account.id, 1_999).await;
    let outcomes = commit_concurrently(&h.store, many(|| steps::transfer(hold(account.id, 1_000)))).await;
    assert_eq!(outcomes.iter().filter(|outcome| outcome.is_ok()).count(), 1);
    for refused in outcomes.iter().filter_map(|outcome| outcome.as_ref().err()) {
        assert!(matches!(refused, CommitError::NotCovered { .. }), "{refused:?}");
    }
    assert_eq!(h.balances(account.id).await, [999, 0, 0, 1_000]);
}

/// Repeated callbacks have no further effect.
pub async fn repeated_callbacks_credit_a_payment_once(h: &mut Harness) {
    let account = h.account().await;
    let charge = h.pending_charge(account.id).await;
    let payment = a_payment(1_000);
    let changes = many(|| steps::confirm_payment(&charge, payment.clone(), start()));
    let outcomes = commit_concurrently(&h.store, changes).await;
    assert_eq!(outcomes.iter().filter(|outcome| outcome.is_ok()).count(), 1);
    for refused in outcomes.iter().filter_map(|outcome| outcome.as_ref().err()) {
        assert!(matches!(refused, CommitError::Taken { .. }), "{refused:?}");
    }
    assert_eq!(h.balances(account.id).await, [940, 0, 0, 0]);
    assert_eq!(h.store.last_sequence(account.id).await.unwrap(), 1);
}

/// Callers commit correct and wrong change sets at the same time. Each correct change set is stored, and no wrong one.
pub async fn refused_change_sets_do_not_affect_neighbors(h: &mut Harness) {
    let account = h.account().await;
    let known = h.pending_charge(account.id).await;
    h.commit_ok(take(account.id, "taken-before", "chg_1")).await;
    for _ in 0..4 {
        let charges = many(|| pending_charge(account.id));
        let changes = charges.iter().enumerate().map(|(caller, charge)| {
            let mut change = steps::open_charge(charge);
            match caller % 6 {
                0 => change.idempotency = take(account.id, "taken-before", "chg_2").idempotency,
                1 => change.reserve.extend(steps::open_charge(&known).reserve),
                2 => {
                    let stale = Charge { version: 7, ..known.clone() };
                    change.writes.extend(steps::update_charge(&stale, start()).writes);
                }
                3 => change.transfers.push(hold(account.id, 1)),
                _ => {}
            }
            change
        });
        let outcomes = commit_concurrently(&h.store, changes.collect()).await;
        for (caller, (outcome, charge)) in outcomes.iter().zip(&charges).enumerate() {
            let as_it_should = matches!(
                (caller % 6, outcome),
                (0, Err(CommitError::KeyInUse { .. }))
                    | (1, Err(CommitError::Taken { .. }))
                    | (2, Err(CommitError::Stale))
                    | (3, Err(CommitError::NotCovered { .. }))
                    | (4 | 5, Ok(_))
            );
            assert!(as_it_should, "{caller}: {outcome:?}");
            let found = h.store.find_charge(account.id, charge.id).await.unwrap();
            assert_eq!(found.is_some(), outcome.is_ok(), "{outcome:?}");
        }
    }
}

/// All payments are stored, and every balance is the sum of its account's payments less their fees.
pub async fn payments_of_many_accounts_add_up(h: &mut Harness) {
    let mut accounts = Vec::new();
    let mut charges = Vec::new();
    for _ in 0..8 {
        accounts.push(h.account().await.id);
    }
    for account in accounts.repeat(16) {
        charges.push(pending_charge(account));
    }
    let created = commit_concurrently(&h.store, charges.iter().map(steps::open_charge).collect()).await;
    assert!(created.iter().all(Result::is_ok), "{created:?}");
    let confirm = |charge: &Charge| steps::confirm_payment(charge, a_payment(1_000), start());
    for charge in &mut charges {
        charge.version = 1;
    }
    let confirmed = commit_concurrently(&h.store, charges.iter().map(confirm).collect()).await;
    assert!(confirmed.iter().all(Result::is_ok), "{confirmed:?}");
    for account in accounts {
        assert_eq!(h.balances(account).await, [16 * 940, 0, 0, 0]);
        assert_eq!(h.store.last_sequence(account).await.unwrap(), 16);
    }
    assert_eq!(h.audit().await, 8 * 16 * 4);
}

fn many<T>(make: impl Fn() -> T) -> Vec<T> {
    (0..CALLERS).map(|_| make()).collect()
}

fn only_winner<'a>(outcomes: &[Result<Committed, CommitError>], charges: &'a [Charge]) -> &'a Charge {
    let mut winners = outcomes.iter().zip(charges).filter(|(outcome, _)| outcome.is_ok());
    let (_, winner) = winners.next().unwrap();
    assert!(winners.next().is_none(), "{outcomes:?}");
    winner
}

async fn listed(h: &Harness, account: AccountId) -> Vec<cais_domain::ids::ChargeId> {
    let page = PageRequest { limit: 200, starting_after: None };
    let page = h.store.list_charges(account, page).await.unwrap();
    page.rows.iter().map(|charge| charge.id).collect()
}
