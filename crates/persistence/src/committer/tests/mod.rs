//! The judgement without a database: order of the checks, and what one change set means for the next.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod blocks;
mod hearing;

use cais_domain::charge::Charge;
use cais_domain::event::EventType;
use cais_domain::ids::AccountId;
use cais_domain::ledger::{Bucket, EntryKind, LedgerAccount, Overdraft, SystemAccount, Transfer};
use cais_domain::money::Money;
use cais_ports::{ChangeSet, Claim, ClaimChange, CommitError, Committed, Reservation, ReservationKey, Write};
use cais_testkit::builders::{a_charge, an_account, an_event, main_acquirer, pending_charge, start, steps};
use cais_testkit::ids::SequentialIds;

use super::books::Books;
use super::judge::{Judged, Known, Observed, Touched, judge};
use super::record::RecordKey;
use crate::rows::ledger::Balance;

type Outcome = Result<Committed, CommitError>;

#[expect(clippy::unnecessary_wraps, reason = "it stands beside refusals")]
fn good(sequences: &[i64]) -> Outcome {
    Ok(Committed { sequences: sequences.to_vec() })
}

/// Balances of the account, and an event counter at 4.
fn books(account: AccountId, available: i64) -> Books {
    let balance = |centavos| Balance { amount: Money::from_centavos(centavos), ..Balance::default() };
    Books {
        balances: [
            (merchant(account, Bucket::Available), balance(available)),
            (merchant(account, Bucket::InTransit), balance(0)),
            (LedgerAccount::System(SystemAccount::Settlement(main_acquirer()), 0), balance(i64::MIN + 10)),
        ]
        .into(),
        sequences: [(account, 4)].into(),
        ..Books::default()
    }
}

const fn merchant(account: AccountId, bucket: Bucket) -> LedgerAccount {
    LedgerAccount::Merchant(account, bucket)
}

fn hold(account: AccountId, centavos: i64) -> Transfer {
    Transfer {
        from: merchant(account, Bucket::Available),
        to: merchant(account, Bucket::InTransit),
        amount: Money::from_centavos(centavos),
        overdraft: Overdraft::Forbidden,
        kind: EntryKind::Charge,
        resource: None,
        end_to_end_id: None,
    }
}

fn judged<'a>(changes: &'a [ChangeSet], observed: Observed<'a>, books: Books) -> Judged<'a> {
    let changes: Vec<&ChangeSet> = changes.iter().collect();
    judge(&changes, Known::Store(observed), books, &SequentialIds::default())
}

fn outcomes(changes: &[ChangeSet], observed: Observed<'_>, books: Books) -> Vec<Outcome> {
    judged(changes, observed, books).verdicts
}

fn stored(charge: &Charge) -> Charge {
    Charge { version: 1, ..charge.clone() }
}

/// Returns the refusal of a transfer from an account with this balance in centavos.
fn not_covered(account: AccountId, bucket: Bucket, centavos: i64) -> CommitError {
    CommitError::NotCovered { account: merchant(account, bucket), available: Money::from_centavos(centavos) }
}

#[test]
fn a_key_belongs_to_the_first_whom_nothing_else_refuses() {
    let account = an_account();
    let charge = a_charge(account.id);
    let name = steps::claim_name(account.id, "same-key");
    let mut uncovered = steps::create_charge(&a_charge(account.id), name.clone());
    uncovered.transfers.push(hold(account.id, 1));
    let first = steps::create_charge(&charge, name.clone());
    let second = steps::create_charge(&a_charge(account.id), name);
    let verdicts = outcomes(&[uncovered, first, second], Observed::default(), books(account.id, 0));
    let [refused, good, claimed] = verdicts.try_into().unwrap();
    assert_eq!(refused, Err(not_covered(account.id, Bucket::Available, 0)));
    assert_eq!(good, Ok(Committed::default()));
    assert!(matches!(claimed, Err(CommitError::Claimed { claim }) if claim.resource == charge.id.to_string()));
}

#[test]
fn a_value_belongs_to_the_first_and_is_free_once_it_is_given_back() {
    let account = an_account();
    let key = ReservationKey::Email("ana@shop.example".to_owned());
    let reserve = |owner: &str| ChangeSet {
        reserve: vec![Reservation { key: key.clone(), account: account.id, owner: owner.to_owned() }],
        ..ChangeSet::new(start())
    };
    let give_back = ChangeSet { unreserve: vec![key.clone()], ..ChangeSet::new(start()) };
    let changes = [reserve("a"), reserve("b"), give_back, reserve("c")];
    let judged = judged(&changes, Observed::default(), books(account.id, 0));
    let taken = Err(CommitError::Taken { key: key.clone(), by: "a".to_owned() });
    assert_eq!(judged.verdicts, [good(&[]), taken, good(&[]), good(&[])]);
    // In the store it was free before and is the last one's after: one row, and nothing to remove.
    let owners: Vec<&str> = judged.plan.reserve.values().map(|reservation| reservation.owner.as_str()).collect();
    assert_eq!((owners, judged.plan.unreserve.len()), (vec!["c"], 0));
}

#[test]
fn one_given_back_in_the_store_and_taken_again_is_removed_and_inserted() {
    let account = an_account();
    let key = ReservationKey::Email("ana@shop.example".to_owned());
    let give_back = ChangeSet { unreserve: vec![key.clone()], ..ChangeSet::new(start()) };
    let reserve = Reservation { key: key.clone(), account: account.id, owner: "new".to_owned() };
    let take = ChangeSet { reserve: vec![reserve], ..ChangeSet::new(start()) };
    let mut observed = Observed::default();
    observed.owners.insert(&key, "old".to_owned());
    let changes = [take.clone(), give_back, take];
    let judged = judged(&changes, observed, books(account.id, 0));
    assert_eq!(
        judged.verdicts,
        [Err(CommitError::Taken { key: key.clone(), by: "old".to_owned() }), good(&[]), good(&[])]
    );
    assert_eq!((judged.plan.unreserve.len(), judged.plan.reserve.len()), (1, 1));
}

#[test]
fn of_two_updates_the_second_is_stale_and_leaves_nothing() {
    let account = an_account();
    let charge = stored(&pending_charge(account.id));
    let update = || {
        let mut change = steps::update_charge(&charge, start());
        change.events.push(an_event(account.id, EventType::ChargePaid, "x"));
        change
    };
    let changes = [update(), update()];
    let mut observed = Observed::default();
    observed.versions.insert(RecordKey::Charge(account.id, charge.id), 1);
    let judged = judged(&changes, observed, books(account.id, 0));
    assert_eq!(judged.verdicts, [good(&[5]), Err(CommitError::Stale)]);
    assert_eq!((judged.plan.events.len(), judged.plan.records.len()), (1, 1));
}

#[test]
fn updates_that_follow_each_other_are_one_row() {
    let account = an_account();
    let charge = stored(&pending_charge(account.id));
    let next = Charge { version: 2, ..charge.clone() };
    let both = ChangeSet {
        writes: vec![Write::UpdateCharge(Box::new(charge.clone())), Write::UpdateCharge(Box::new(next))],
        ..ChangeSet::new(start())
    };
    let mut observed = Observed::default();
    observed.versions.insert(RecordKey::Charge(account.id, charge.id), 1);
    let changes = [both];
    let judged = judged(&changes, observed, books(account.id, 0));
    assert_eq!(judged.verdicts, [good(&[])]);
    let write = judged.plan.records.values().next().unwrap();
    assert_eq!((write.read, write.version), (Some(1), 3));
}

#[test]
fn cover_is_judged_on_what_is_left_by_those_before() {
    let account = an_account();
    let pay = |centavos| ChangeSet { transfers: vec![hold(account.id, centavos)], ..ChangeSet::new(start()) };
    let changes = [pay(60), pay(50), pay(40), pay(1)];
    let judged = judged(&changes, Observed::default(), books(account.id, 100));
    let refused = |centavos| Err(not_covered(account.id, Bucket::Available, centavos));
    assert_eq!(judged.verdicts, [good(&[]), refused(40), good(&[]), refused(0)]);
    let after: Vec<i64> = judged.plan.entries.iter().map(|entry| entry.balance_after.centavos()).collect();
    assert_eq!(after, [40, 60, 0, 100]);
    assert_eq!(judged.books.balances.get(&merchant(account.id, Bucket::InTransit)).unwrap().entries, 2);
}

#[test]
fn a_balance_that_leaves_its_range_refuses_only_its_own() {
    let account = an_account();
    let from = LedgerAccount::System(SystemAccount::Settlement(main_acquirer()), 0);
    let income = |centavos| ChangeSet {
        transfers: vec![Transfer { from: from.clone(), overdraft: Overdraft::Allowed, ..hold(account.id, centavos) }],
        ..ChangeSet::new(start())
    };
    let verdicts = outcomes(&[income(11), income(10)], Observed::default(), books(account.id, 0));
    assert!(matches!(verdicts.as_slice(), [Err(CommitError::Corrupt(_)), Ok(_)]), "{verdicts:?}");
}

#[test]
fn a_claim_given_back_is_taken_over_in_the_same_batch_as_one_row() {
    let account = an_account();
    let name = steps::claim_name(account.id, "some-key");
    let new = steps::new_claim(name.clone(), "chg_1", start());
    let claim = Claim {
        name: name.clone(),
        fingerprint: new.fingerprint,
        resource: new.resource,
        fence: 3,
        lease_until: new.lease_until,
        due_at: Some(new.lease_until),
        answer: None,
        created_at: start(),
    };
    let change = |claim| ChangeSet { claim: Some(claim), ..ChangeSet::new(start()) };
    let changes = [
        change(ClaimChange::Release { name: name.clone(), fence: 3, due_at: None }),
        change(ClaimChange::Retake { name: name.clone(), fence: 3, lease_until: new.lease_until }),
        change(ClaimChange::Answer { name: name.clone(), fence: 3, answer: steps::answer(200, b"{}") }),
    ];
    let mut observed = Observed::default();
    observed.claims.insert(&name, claim);
    let judged = judged(&changes, observed, books(account.id, 0));
    let [released, retaken, late] = judged.verdicts.try_into().unwrap();
    assert_eq!((released, retaken), (good(&[]), good(&[])));
    assert!(matches!(late, Err(CommitError::Claimed { claim }) if claim.fence == 4));
    let write = judged.plan.claims.get(&name).unwrap();
    assert_eq!((write.read, write.standing.fence, write.standing.lease_until), (3, 4, Some(new.lease_until)));
}

#[test]
fn the_checks_come_in_the_documented_order() {
    let account = an_account();
    let name = steps::claim_name(account.id, "some-key");
    let charge = stored(&pending_charge(account.id));
    let mut all_wrong = steps::issue_charge(&charge, name.clone(), 1, start());
    let key = ReservationKey::Email("ana@shop.example".to_owned());
    all_wrong.reserve.push(Reservation { key: key.clone(), account: account.id, owner: "b".to_owned() });
    all_wrong.transfers.push(hold(account.id, 1));
    let without_claim = ChangeSet { claim: None, ..all_wrong.clone() };
    let without_value = ChangeSet { reserve: Vec::new(), ..without_claim.clone() };
    let without_record = ChangeSet { writes: Vec::new(), ..without_value.clone() };
    let mut observed = Observed::default();
    observed.owners.insert(&key, "a".to_owned());
    let changes = [all_wrong, without_claim, without_value, without_record];
    let verdicts = outcomes(&changes, observed, books(account.id, 0));
    let [claim, value, record, money] = verdicts.try_into().unwrap();
    assert!(matches!(claim, Err(CommitError::Corrupt(_))), "nobody holds that claim: {claim:?}");
    assert_eq!(value, Err(CommitError::Taken { key: key.clone(), by: "a".to_owned() }));
    assert_eq!(record, Err(CommitError::Stale));
    assert!(matches!(money, Err(CommitError::NotCovered { .. })));
}

#[test]
fn keys_that_are_touched_twice_are_noticed() {
    let account = an_account();
    let (one, other) = (steps::open_charge(&a_charge(account.id)), steps::open_charge(&a_charge(account.id)));
    assert!(!Touched::by(&[&one, &other]).twice);
    assert!(Touched::by(&[&one, &other, &one]).twice);
}
