//! Tests idempotency records, unique values and versions, and the order of the checks.

use cais_commit_rules::KeySnapshot;
use cais_domain::charge::Charge;
use cais_ports::{IdempotencyChange, IdempotencyRecord, RecordKey, Reservation, ReservationKey, ResponseKind};
use cais_testkit::builders::{a_charge, an_account, pending_charge, steps};

use super::*;

fn with_keys(account: AccountId, keys: KeySnapshot) -> Snapshot {
    Snapshot { keys, ..snapshot(account, 0) }
}

fn email() -> ReservationKey {
    ReservationKey::Email("ana@shop.example".to_owned())
}

fn reserve(account: AccountId, owner: &str) -> ChangeSet {
    let reserve = vec![Reservation { key: email(), account, owner: owner.to_owned() }];
    ChangeSet { reserve, ..ChangeSet::new(start()) }
}

#[test]
fn idempotency_key_belongs_to_the_first_accepted_change_set() {
    let account = an_account().id;
    let charge = a_charge(account);
    let name = steps::idempotency_ref(account, "same-key");
    let mut uncovered = steps::create_charge(&a_charge(account), name.clone());
    uncovered.transfers.push(outgoing(account, 1));
    let changes =
        [uncovered, steps::create_charge(&charge, name.clone()), steps::create_charge(&a_charge(account), name)];
    let [refused, first, second] = judge_all(&changes, snapshot(account, 0)).verdicts.try_into().unwrap();
    assert_eq!(refused, not_covered(account, Bucket::Available, 0));
    assert_eq!(first, accepted(&[]));
    assert!(matches!(second, Err(CommitError::KeyInUse { record }) if record.resource == charge.id.to_string()));
}

#[test]
fn unique_value_is_free_again_after_it_is_returned() {
    let account = an_account().id;
    let unreserve = ChangeSet { unreserve: vec![email()], ..ChangeSet::new(start()) };
    let changes = [reserve(account, "a"), reserve(account, "b"), unreserve, reserve(account, "c")];
    let taken = Err(CommitError::Taken { key: email(), by: "a".to_owned() });
    let judged = judge_all(&changes, snapshot(account, 0));
    assert_eq!(judged.verdicts, [accepted(&[]), taken, accepted(&[]), accepted(&[])]);
    let owners = KeySnapshot { owners: [(email(), "c".to_owned())].into(), ..KeySnapshot::default() };
    assert_eq!(judged.after.keys, owners);
}

#[test]
fn unique_value_reserved_twice_in_one_change_set_is_taken() {
    let account = an_account().id;
    let mut twice = reserve(account, "a");
    twice.reserve.extend(reserve(account, "b").reserve);
    let judged = judge_all(std::slice::from_ref(&twice), snapshot(account, 0));
    assert_eq!(judged.verdicts, [Err(CommitError::Taken { key: email(), by: "a".to_owned() })]);
}

#[test]
fn second_update_of_one_version_is_stale() {
    let account = an_account().id;
    let charge = Charge { version: 1, ..pending_charge(account) };
    let update = || steps::update_charge(&charge, start());
    let next = steps::update_charge(&Charge { version: 2, ..charge.clone() }, start());
    let key = RecordKey::Charge { account, id: charge.id };
    let keys = KeySnapshot { versions: [(key.clone(), 1)].into(), ..KeySnapshot::default() };
    let changes = [update(), update(), next];
    let judged = judge_all(&changes, with_keys(account, keys));
    assert_eq!(judged.verdicts, [accepted(&[]), Err(CommitError::Stale), accepted(&[])]);
    let keys = KeySnapshot { versions: [(key, 3)].into(), ..KeySnapshot::default() };
    assert_eq!(judged.after.keys, keys);
}

#[test]
fn inserted_record_is_updated_but_not_inserted_again() {
    let account = an_account().id;
    let open = ChangeSet { reserve: Vec::new(), ..steps::open_charge(&a_charge(account)) };
    let mut twice = open.clone();
    twice.writes.extend(open.writes.clone());
    let charge = a_charge(account);
    let mut in_place = steps::open_charge(&charge);
    in_place.writes.extend(steps::update_charge(&Charge { version: 1, ..charge }, start()).writes);
    let changes = [twice, open.clone(), open, in_place];
    let verdicts = judge_all(&changes, snapshot(account, 0)).verdicts;
    assert!(
        matches!(verdicts.as_slice(), [Err(CommitError::Exists(_)), Ok(_), Err(CommitError::Exists(_)), Ok(_)]),
        "{verdicts:?}"
    );
}

#[test]
fn released_idempotency_record_is_retaken_under_the_next_fence() {
    let account = an_account().id;
    let name = steps::idempotency_ref(account, "some-key");
    let new = steps::new_idempotency_record(name.clone(), "chg_1", start());
    let record = IdempotencyRecord {
        name: name.clone(),
        fingerprint: new.fingerprint,
        resource: new.resource,
        fence: 3,
        lease_until: new.lease_until,
        due_at: Some(new.lease_until),
        answer: None,
        created_at: start(),
    };
    let change = |idempotency| ChangeSet { idempotency: Some(idempotency), ..ChangeSet::new(start()) };
    let answer = |fence| IdempotencyChange::Answer {
        name: name.clone(),
        fence,
        answer: steps::answer(ResponseKind::Existing, b"{}"),
    };
    let changes = [
        change(IdempotencyChange::Release { name: name.clone(), fence: 3, due_at: None }),
        change(IdempotencyChange::Retake { name: name.clone(), fence: 3, lease_until: new.lease_until }),
        change(answer(3)),
        change(answer(4)),
        change(answer(4)),
    ];
    let keys = KeySnapshot { idempotency_records: [(name.clone(), record)].into(), ..KeySnapshot::default() };
    let judged = judge_all(&changes, with_keys(account, keys));
    let [released, retaken, late, answered, again] = judged.verdicts.try_into().unwrap();
    assert_eq!([released, retaken, answered], [accepted(&[]), accepted(&[]), accepted(&[])]);
    assert!(matches!(late, Err(CommitError::KeyInUse { record }) if record.fence == 4 && record.answer.is_none()));
    assert!(
        matches!(again, Err(CommitError::KeyInUse { record }) if record.answer.is_some() && record.due_at.is_none())
    );
}

#[test]
fn checks_follow_the_documented_order() {
    let account = an_account().id;
    let charge = Charge { version: 1, ..pending_charge(account) };
    let mut all_wrong = steps::issue_charge(&charge, steps::idempotency_ref(account, "some-key"), 1, start());
    all_wrong.reserve.extend(reserve(account, "b").reserve);
    all_wrong.transfers.push(outgoing(account, 1));
    let without_key = ChangeSet { idempotency: None, ..all_wrong.clone() };
    let without_value = ChangeSet { reserve: Vec::new(), ..without_key.clone() };
    let without_record = ChangeSet { writes: Vec::new(), ..without_value.clone() };
    let keys = KeySnapshot { owners: [(email(), "a".to_owned())].into(), ..KeySnapshot::default() };
    let changes = [all_wrong, without_key, without_value, without_record];
    let [key, value, record, money] = judge_all(&changes, with_keys(account, keys)).verdicts.try_into().unwrap();
    assert!(matches!(key, Err(CommitError::Corrupt(_))), "the idempotency record is missing: {key:?}");
    assert_eq!(value, Err(CommitError::Taken { key: email(), by: "a".to_owned() }));
    assert_eq!(record, Err(CommitError::Stale));
    assert!(matches!(money, Err(CommitError::NotCovered { .. })));
}
