//! Idempotency: a key is used once, its response is stored once, and a stored response never changes.

use cais_domain::ids::AccountId;
use cais_ports::{
    ChangeSet, CommitError, Fingerprint, IdempotencyChange, IdempotencyRecord, IdempotencyRef, NewIdempotencyRecord,
    ResponseKind, StoredResponse,
};

use super::Harness;
use super::harness::after_s;
use super::probe::{Probe, take};
use crate::builders::{start, steps};

/// The new record has fence 1. Its lease ends at its due time. From then on a worker may resume the request.
pub async fn first_use_of_key_creates_its_record(h: &mut Harness) {
    let (name, record) = taken(h, "the-first-use").await;
    let expected = IdempotencyRecord {
        name,
        fingerprint: Fingerprint([1; 32]),
        resource: "chg_1".to_owned(),
        fence: 1,
        lease_until: after_s(steps::LEASE_S),
        due_at: Some(after_s(steps::LEASE_S)),
        answer: None,
        created_at: start(),
    };
    assert_eq!(record, expected);
}

/// The refusal contains the stored record, both for the same request and for another one.
pub async fn second_use_of_key_is_refused_with_its_record(h: &mut Harness) {
    let (name, record) = taken(h, "a-second-use").await;
    for fingerprint in [[1; 32], [2; 32]] {
        let again = NewIdempotencyRecord {
            fingerprint: Fingerprint(fingerprint),
            ..steps::new_idempotency_record(name.clone(), "chg_2", after_s(99))
        };
        let refused = change(h, IdempotencyChange::Take(again)).await;
        assert_eq!(refused, key_in_use(&record));
    }
    assert_eq!(read(h, &name).await, record);
}

/// Each account has its own keys.
pub async fn key_is_free_in_another_account(h: &mut Harness) {
    let (one, other) = (h.account().await, h.account().await);
    h.commit_ok(take(one.id, "everybodys", "chg_1")).await;
    h.commit_ok(take(other.id, "everybodys", "chg_2")).await;
    for (account, resource) in [(one.id, "chg_1"), (other.id, "chg_2")] {
        let record = read(h, &steps::idempotency_ref(account, "everybodys")).await;
        assert_eq!(record.resource, resource);
    }
}

/// Case is significant, and so is the last of 255 characters.
pub async fn keys_differ_in_every_character(h: &mut Harness) {
    let account = h.account().await;
    let long = "k".repeat(254);
    for key in ["abcdefgh", "ABCDEFGH", "abcdefg%", "abcdefg_", "'; -- \\\"".trim_matches(' ')] {
        let key = key.replace(' ', "+");
        h.commit_ok(take(account.id, &key, &key)).await;
    }
    for last in ["a", "A"] {
        h.commit_ok(take(account.id, &format!("{long}{last}"), last)).await;
    }
    let record = read(h, &steps::idempotency_ref(account.id, &format!("{long}A"))).await;
    assert_eq!(record.resource, "A");
}

/// A takeover requires the fence that was read, and excludes the previous holder.
pub async fn takeover_increases_the_fence(h: &mut Harness) {
    let (name, _) = taken(h, "a-takeover").await;
    let retake = |fence| IdempotencyChange::Retake { name: name.clone(), fence, lease_until: after_s(100) };
    assert_eq!(change(h, retake(1)).await, Ok(()));
    let record = read(h, &name).await;
    assert_eq!(record.fence, 2);
    assert_eq!(record.lease_until, after_s(100));
    assert_eq!(record.due_at, Some(after_s(100)));
    assert_eq!(record.created_at, start());
    let late = [
        retake(1),
        IdempotencyChange::Answer { name: name.clone(), fence: 1, answer: steps::answer(ResponseKind::Created, b"{}") },
        IdempotencyChange::Release { name: name.clone(), fence: 1, due_at: None },
    ];
    for late in late {
        assert_eq!(change(h, late).await, key_in_use(&record));
    }
    assert_eq!(read(h, &name).await, record);
}

/// After an answer, every takeover, second answer and release is refused.
pub async fn record_is_answered_once(h: &mut Harness) {
    let (name, before) = taken(h, "answers-once").await;
    let first = steps::answer(ResponseKind::Created, b"{\"id\":1}");
    assert_eq!(change(h, answer(&name, 1, &first)).await, Ok(()));
    let record = read(h, &name).await;
    assert_eq!(record.answer, Some(first));
    assert_eq!((record.fence, record.due_at), (1, None));
    assert_eq!((record.fingerprint, &record.resource), (before.fingerprint, &before.resource));
    let late = [
        answer(&name, 1, &steps::answer(ResponseKind::InsufficientBalance, b"")),
        IdempotencyChange::Retake { name: name.clone(), fence: 1, lease_until: after_s(100) },
        IdempotencyChange::Release { name: name.clone(), fence: 1, due_at: None },
        IdempotencyChange::Take(steps::new_idempotency_record(name.clone(), "chg_2", start())),
    ];
    for late in late {
        assert_eq!(change(h, late).await, key_in_use(&record));
    }
}

/// The bodies are empty, binary and long. Each body is stored once together with a new record, and once for an existing record.
pub async fn answer_is_read_back_byte_for_byte(h: &mut Harness) {
    let account = h.account().await;
    let bodies = [Vec::new(), (0..=u8::MAX).collect(), "\u{1F980}".repeat(20_000).into_bytes()];
    for (body, kind) in bodies.into_iter().zip(ResponseKind::ALL) {
        let known = steps::answer(kind, &body);
        let kind = kind.as_str();
        let at_once = NewIdempotencyRecord {
            answer: Some(known.clone()),
            ..steps::new_idempotency_record(steps::idempotency_ref(account.id, &format!("at-once-{kind}")), "", start())
        };
        let name = at_once.name.clone();
        assert_eq!(change(h, IdempotencyChange::Take(at_once)).await, Ok(()));
        let record = read(h, &name).await;
        assert_eq!((record.answer, record.due_at), (Some(known.clone()), None));

        let later = steps::idempotency_ref(account.id, &format!("later-{kind}"));
        h.commit_ok(take(account.id, later.key.as_str(), "")).await;
        assert_eq!(change(h, answer(&later, 1, &known)).await, Ok(()));
        assert_eq!(read(h, &later).await.answer, Some(known));
    }
    assert_eq!(h.store.list_due_idempotency_records(after_s(1_000_000), 50).await.unwrap(), []);
}

/// A release ends the lease, so a repeat of the request resumes at once. With a due time, the record is also due for a worker.
pub async fn released_record_is_resumed(h: &mut Harness) {
    let (name, _) = taken(h, "given-back").await;
    let release = |fence, due_at| IdempotencyChange::Release { name: name.clone(), fence, due_at };
    let at = after_s(3);
    let released = ChangeSet { idempotency: Some(release(1, None)), ..ChangeSet::new(at) };
    h.commit_ok(released).await;
    let record = read(h, &name).await;
    assert_eq!((record.fence, record.due_at, &record.answer), (1, None, &None));
    assert!(record.lease_until <= at, "a repeat need not wait");
    assert_eq!(h.store.list_due_idempotency_records(after_s(1_000), 50).await.unwrap(), []);

    let retake = IdempotencyChange::Retake { name: name.clone(), fence: 1, lease_until: after_s(5) };
    assert_eq!(change(h, retake).await, Ok(()));
    assert_eq!(change(h, release(2, Some(after_s(60)))).await, Ok(()));
    let record = read(h, &name).await;
    assert_eq!((record.fence, record.due_at), (2, Some(after_s(60))));
    assert_eq!(h.store.list_due_idempotency_records(after_s(59), 50).await.unwrap(), []);
    assert_eq!(h.store.list_due_idempotency_records(after_s(61), 50).await.unwrap(), [record]);
}

/// If the idempotency change is refused, nothing of the change set is stored: no record, no money, no event.
pub async fn refused_record_leaves_nothing(h: &mut Harness) {
    let account = h.account().await;
    let (probe, mut change) = Probe::prepare(h, account.id).await;
    let idempotency = change.idempotency.take();
    let (other, _) = taken(h, "somebody-elses").await;
    let stale = IdempotencyChange::Answer { name: other, fence: 7, answer: steps::answer(ResponseKind::Created, b"") };
    let spoilt = ChangeSet { idempotency: Some(stale), ..change.clone() };
    let refused = h.commit(spoilt).await.unwrap_err();
    assert!(matches!(refused, CommitError::KeyInUse { .. }), "{refused:?}");
    probe.assert_absent(h).await;
    h.commit_ok(ChangeSet { idempotency, ..change }).await;
    probe.assert_present(h).await;
}

async fn taken(h: &Harness, key: &str) -> (IdempotencyRef, IdempotencyRecord) {
    let account: AccountId = h.account().await.id;
    h.commit_ok(take(account, key, "chg_1")).await;
    let name = steps::idempotency_ref(account, key);
    let record = read(h, &name).await;
    (name, record)
}

async fn read(h: &Harness, name: &IdempotencyRef) -> IdempotencyRecord {
    h.store.find_idempotency_record(name).await.unwrap().unwrap()
}

async fn change(h: &Harness, idempotency: IdempotencyChange) -> Result<(), CommitError> {
    let change = ChangeSet { idempotency: Some(idempotency), ..ChangeSet::new(start()) };
    h.commit(change).await.map(drop)
}

fn answer(name: &IdempotencyRef, fence: i64, answer: &StoredResponse) -> IdempotencyChange {
    IdempotencyChange::Answer { name: name.clone(), fence, answer: answer.clone() }
}

fn key_in_use(record: &IdempotencyRecord) -> Result<(), CommitError> {
    Err(CommitError::KeyInUse { record: Box::new(record.clone()) })
}
