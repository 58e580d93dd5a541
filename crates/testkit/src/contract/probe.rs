//! A change set with every kind of effect, and the check of these effects.

use cais_domain::event::EventType;
use cais_domain::ids::AccountId;
use cais_ports::{ChangeSet, IdempotencyChange, IdempotencyRef, ReservationKey};

use super::dispute::Dispute;
use super::harness::{Harness, income};
use crate::builders::{a_charge, an_event, an_external_id, start, steps};

/// The expected effects of a change set.
pub(super) struct Probe {
    account: AccountId,
    charge: cais_domain::charge::Charge,
    key: IdempotencyRef,
    dispute: Dispute,
    balances: [i64; 4],
    sequence: i64,
}

impl Probe {
    /// Returns a correct change set with an idempotency record, reservations, a record, money, an empty block and an event.
    pub(super) async fn prepare(harness: &Harness, account: AccountId) -> (Self, ChangeSet) {
        let mut charge = a_charge(account);
        charge.terms.external_id = Some(an_external_id());
        let key = steps::idempotency_ref(account, &format!("probe-{}", charge.id));
        let mut change = steps::create_charge(&charge, key.clone());
        change.transfers.push(income(account, 77));
        let dispute = Dispute::of(account);
        change.blocks.push(dispute.hold_change(0));
        let resource = charge.id.to_string();
        change.events.push(an_event(account, EventType::ChargePaid, &resource));
        let probe = Self {
            account,
            charge,
            key,
            dispute,
            balances: harness.balances(account).await,
            sequence: harness.store.last_sequence(account).await.unwrap(),
        };
        (probe, change)
    }

    /// Asserts that no effect of the change set is stored.
    pub(super) async fn assert_absent(&self, harness: &Harness) {
        let store = &harness.store;
        assert_eq!(store.find_idempotency_record(&self.key).await.unwrap(), None, "key");
        for key in self.keys() {
            assert_eq!(store.find_owner(&key).await.unwrap(), None, "{key:?}");
        }
        let found = store.find_charge(self.account, self.charge.id).await.unwrap();
        assert_eq!(found, None, "record");
        assert_eq!(harness.balances(self.account).await, self.balances, "money");
        assert_eq!(self.dispute.read(harness).await, None, "block");
        let sequence = store.last_sequence(self.account).await.unwrap();
        assert_eq!(sequence, self.sequence, "event");
    }

    /// Asserts that each effect of the change set is stored.
    pub(super) async fn assert_present(&self, harness: &Harness) {
        let store = &harness.store;
        assert!(store.find_idempotency_record(&self.key).await.unwrap().is_some(), "key");
        for key in self.keys() {
            let owner = store.find_owner(&key).await.unwrap();
            assert_eq!(owner, Some(self.charge.id.to_string()), "{key:?}");
        }
        let found = store.find_charge(self.account, self.charge.id).await.unwrap();
        assert!(found.is_some(), "record");
        // A block of the test may have blocked the credited money at once, so only the sum of all buckets is compared.
        let all: i64 = harness.balances(self.account).await.iter().sum();
        assert_eq!(all, self.balances.iter().sum::<i64>() + 77, "money");
        assert_eq!(self.dispute.read(harness).await, Some((0, 0)), "block");
        let sequence = store.last_sequence(self.account).await.unwrap();
        assert_eq!(sequence, self.sequence + 1, "event");
    }

    fn keys(&self) -> Vec<ReservationKey> {
        let external_id = self.charge.terms.external_id.clone().unwrap();
        vec![
            ReservationKey::ChargeExternalId(self.account, external_id),
            ReservationKey::Txid(self.charge.txid.clone()),
        ]
    }
}

/// Asserts that the change set of [`Probe::prepare`] is refused after `spoil`, leaves no trace, and is accepted without `spoil`.
/// Returns the error of the refusal.
pub(super) async fn refused_without_a_trace(
    harness: &Harness,
    account: AccountId,
    spoil: impl FnOnce(&mut ChangeSet),
) -> cais_ports::CommitError {
    let (probe, change) = Probe::prepare(harness, account).await;
    let mut spoilt = change.clone();
    spoil(&mut spoilt);
    assert_ne!(spoilt, change, "`spoil` must change the change set");
    let refused = harness.commit(spoilt).await.unwrap_err();
    probe.assert_absent(harness).await;
    harness.commit_ok(change).await;
    probe.assert_present(harness).await;
    refused
}

/// Returns the change set of the first use of the idempotency key `text`: a new record with a lease.
pub(super) fn take(account: AccountId, text: &str, resource: &str) -> ChangeSet {
    let name = steps::idempotency_ref(account, text);
    ChangeSet {
        idempotency: Some(IdempotencyChange::Take(steps::new_idempotency_record(name, resource, start()))),
        ..ChangeSet::new(start())
    }
}
