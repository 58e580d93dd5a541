//! Tests that several change sets of one batch write one row per key.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use cais_commit_rules::{Balance, KeySnapshot, LedgerSnapshot, Snapshot};
use cais_domain::block::{BlockChange, BlockEnd};
use cais_domain::charge::Charge;
use cais_domain::end_to_end_id::EndToEndId;
use cais_domain::ids::AccountId;
use cais_domain::ledger::{Bucket, LedgerAccount};
use cais_domain::money::Money;
use cais_ports::{
    ChangeSet, CommitError, Committed, IdempotencyChange, IdempotencyRecord, RecordKey, Reservation, ReservationKey,
    Write,
};
use cais_testkit::builders::{a_charge, an_account, fresh, pending_charge, start, steps};
use cais_testkit::ids::SequentialIds;

use super::plan::BatchPlan;
use super::touched::TouchedKeys;

type Verdict = Result<Committed, CommitError>;

fn judged(changes: &[ChangeSet], snapshot: Snapshot) -> (Vec<Verdict>, BatchPlan<'_>) {
    let changes: Vec<&ChangeSet> = changes.iter().collect();
    BatchPlan::judge(&changes, snapshot, &SequentialIds::default())
}

fn with_keys(keys: KeySnapshot) -> Snapshot {
    Snapshot { keys, ..Snapshot::default() }
}

#[expect(clippy::unnecessary_wraps, reason = "its callers compare the value with verdicts")]
fn accepted() -> Verdict {
    Ok(Committed::default())
}

fn email() -> ReservationKey {
    ReservationKey::Email("ana@shop.example".to_owned())
}

fn reserve(account: AccountId, owner: &str) -> ChangeSet {
    let reserve = vec![Reservation { key: email(), account, owner: owner.to_owned() }];
    ChangeSet { reserve, ..ChangeSet::new(start()) }
}

fn unreserve() -> ChangeSet {
    ChangeSet { unreserve: vec![email()], ..ChangeSet::new(start()) }
}

#[test]
fn value_reserved_freed_and_reserved_again_is_one_row() {
    let account = an_account().id;
    let changes = [reserve(account, "a"), unreserve(), reserve(account, "c")];
    let (verdicts, plan) = judged(&changes, Snapshot::default());
    assert_eq!(verdicts, [accepted(), accepted(), accepted()]);
    let owners: Vec<&str> = plan.reserve.values().map(|reservation| reservation.owner.as_str()).collect();
    assert_eq!((owners, plan.unreserve.len()), (vec!["c"], 0));
}

#[test]
fn stored_value_freed_and_reserved_again_is_replaced() {
    let account = an_account().id;
    let keys = KeySnapshot { owners: [(email(), "old".to_owned())].into(), ..KeySnapshot::default() };
    let changes = [reserve(account, "new"), unreserve(), reserve(account, "new")];
    let (verdicts, plan) = judged(&changes, with_keys(keys));
    let taken = Err(CommitError::Taken { key: email(), by: "old".to_owned() });
    assert_eq!(verdicts, [taken, accepted(), accepted()]);
    assert_eq!((plan.unreserve.len(), plan.reserve.len()), (1, 1));
}

#[test]
fn successive_updates_of_a_record_are_one_row() {
    let account = an_account();
    let charge = Charge { version: 1, ..pending_charge(account.id) };
    let next = Charge { version: 2, ..charge.clone() };
    let writes = vec![Write::update(charge.clone()), Write::update(next)];
    let changes = [ChangeSet { writes, ..ChangeSet::new(start()) }, steps::update_charge(&charge, start())];
    let charge_key = RecordKey::Charge { account: account.id, id: charge.id };
    let versions = [(charge_key, 1)].into();
    let (verdicts, plan) = judged(&changes, with_keys(KeySnapshot { versions, ..KeySnapshot::default() }));
    assert_eq!(verdicts, [accepted(), Err(CommitError::Stale)]);
    let write = plan.records.values().next().unwrap();
    assert_eq!((write.read, write.version, plan.records.len()), (Some(1), 3, 1));
}

#[test]
fn released_and_retaken_idempotency_record_is_one_row() {
    let account = an_account();
    let name = steps::idempotency_ref(account.id, "some-key");
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
    let changes = [
        change(IdempotencyChange::Release { name: name.clone(), fence: 3, due_at: None }),
        change(IdempotencyChange::Retake { name: name.clone(), fence: 3, lease_until: new.lease_until }),
    ];
    let idempotency_records = [(name.clone(), record)].into();
    let (verdicts, plan) = judged(&changes, with_keys(KeySnapshot { idempotency_records, ..KeySnapshot::default() }));
    assert_eq!(verdicts, [accepted(), accepted()]);
    let write = plan.idempotency_records.get(&name).unwrap();
    assert_eq!((write.read, write.standing.fence, write.standing.lease_until), (3, 4, Some(new.lease_until)));
}

#[test]
fn block_opened_and_ended_in_one_batch_has_no_row() {
    let (account, infraction) = (an_account().id, fresh());
    let merchant = |bucket| LedgerAccount::Merchant(account, bucket);
    let available = Balance { amount: Money::from_centavos(100), ..Balance::default() };
    let balances = [
        (merchant(Bucket::Available), available),
        (merchant(Bucket::Pending), Balance::default()),
        (merchant(Bucket::Blocked), Balance::default()),
    ];
    let ledger = LedgerSnapshot { balances: balances.into(), ..LedgerSnapshot::default() };
    let end_to_end_id = EndToEndId::parse("E1234567820260102030400000000001").unwrap();
    let amount = Money::from_centavos(50);
    let blocks = [
        BlockChange::Hold { account, infraction, end_to_end_id, limit: amount },
        BlockChange::End { account, infraction, held: amount, to: BlockEnd::Released },
    ];
    let changes = blocks.map(|block| ChangeSet { blocks: vec![block], ..ChangeSet::new(start()) });
    let (verdicts, plan) = judged(&changes, Snapshot { ledger, ..Snapshot::default() });
    assert_eq!(verdicts, [accepted(), accepted()]);
    let writes: Vec<_> = plan.blocks.values().map(|write| (write.stored, write.now.clone())).collect();
    assert_eq!((writes, plan.entries.len()), (vec![(false, None)], 4));
    assert_eq!(plan.balances.get(&merchant(Bucket::Available)).unwrap().amount, available.amount);
}

#[test]
fn refused_change_sets_write_nothing() {
    let account = an_account().id;
    let charge = Charge { version: 1, ..pending_charge(account) };
    let changes = [steps::update_charge(&charge, start())];
    let (verdicts, plan) = judged(&changes, Snapshot::default());
    assert_eq!(verdicts, [Err(CommitError::Stale)]);
    assert!(plan.is_empty());
}

#[test]
fn key_touched_twice_is_noticed() {
    let account = an_account();
    let (one, other) = (steps::open_charge(&a_charge(account.id)), steps::open_charge(&a_charge(account.id)));
    assert!(!TouchedKeys::of(&[&one, &other]).twice);
    assert!(TouchedKeys::of(&[&one, &other, &one]).twice);
}
