//! The audit rules for payouts, refunds and splits: the ledger moved the amounts that the records state.
//!
//! The rules for payouts and refunds begin with the entries. So they do not report a payout or refund that has no entry.

use std::collections::{BTreeMap, BTreeSet};

use cais_domain::end_to_end_id::EndToEndId;
use cais_domain::ids::{AccountId, ChargeId, InfractionId, PayoutId, RefundId};
use cais_domain::infraction::InfractionState;
use cais_domain::ledger::{Bucket, EntryKind, LedgerAccount, SystemAccount};
use cais_domain::payment::PaymentRole;
use cais_domain::payout::{Payout, PayoutState};
use cais_domain::refund::{Refund, RefundStatus};
use cais_ports::{LedgerReport, RecordKey};

use super::maintenance::{centavos, compare};
use super::state::{Entry, State};

/// The moved amounts of a payout or refund, in centavos.
#[derive(Debug, Default, Clone, Copy)]
struct Moved {
    /// The amount in transit.
    held: i128,
    /// The sent amount, without the fee.
    sent: i128,
    /// The fee, which the system account `fees` keeps.
    kept: i128,
    /// The returned part of the sent amount.
    back: i128,
}

impl Moved {
    fn add(&mut self, entry: &Entry) {
        let amount = centavos(entry.amount);
        match &entry.account {
            LedgerAccount::Merchant(_, Bucket::InTransit) => self.held += amount,
            LedgerAccount::Merchant(_, Bucket::Available | Bucket::Pending | Bucket::Blocked)
            | LedgerAccount::System(SystemAccount::Crypto(_), _) => {}
            LedgerAccount::System(SystemAccount::Fees, _) => self.kept += amount,
            LedgerAccount::System(SystemAccount::Settlement(_), _) if amount > 0 => self.sent += amount,
            LedgerAccount::System(SystemAccount::Settlement(_), _) => self.back -= amount,
        }
    }

    fn of_payout(payout: &Payout) -> Self {
        let (amount, fee) = (centavos(payout.terms.amount), centavos(payout.terms.fee));
        match payout.state {
            PayoutState::Pending { .. } | PayoutState::Processing(_) => Self { held: amount + fee, ..Self::default() },
            PayoutState::Completed { .. } | PayoutState::Reversed { .. } => {
                Self { sent: amount, kept: fee, back: centavos(payout.returned), ..Self::default() }
            }
            PayoutState::Abandoned { .. } | PayoutState::Failed { .. } => Self::default(),
        }
    }

    fn of_refund(refund: &Refund) -> Self {
        let amount = centavos(refund.amount);
        match refund.state.status() {
            RefundStatus::Pending | RefundStatus::Processing => Self { held: amount, ..Self::default() },
            RefundStatus::Completed => Self { sent: amount, ..Self::default() },
            RefundStatus::Abandoned | RefundStatus::Failed => Self::default(),
        }
    }

    fn compare(self, report: &mut LedgerReport, resource: &str, moved: Self) {
        compare(report, &format!("in transit for {resource}"), self.held, moved.held);
        compare(report, &format!("sent by {resource}"), self.sent, moved.sent);
        compare(report, &format!("fee of {resource}"), self.kept, moved.kept);
        compare(report, &format!("returned amount of {resource}"), self.back, moved.back);
    }
}

pub(super) fn check(state: &State, report: &mut LedgerReport) {
    let mut moved: BTreeMap<&str, Moved> = BTreeMap::new();
    for entry in &state.entries {
        if let Some(resource) = &entry.resource {
            moved.entry(resource).or_default().add(entry);
        }
    }
    let mut charges = BTreeSet::new();
    for (resource, moved) in moved {
        if let Ok(id) = PayoutId::parse(resource) {
            let expected = state.tables.payouts.values().find(|payout| payout.id == id).map(Moved::of_payout);
            expected.unwrap_or_default().compare(report, resource, moved);
        } else if let Ok(id) = RefundId::parse(resource) {
            let refund = state.tables.refunds.values().find(|refund| refund.id == id);
            refund.map(Moved::of_refund).unwrap_or_default().compare(report, resource, moved);
            charges.extend(refund.map(|refund| refund.charge));
        } else if let Ok(id) = InfractionId::parse(resource) {
            charges.extend(state.infraction(id).map(|infraction| infraction.charge));
        }
    }
    for charge in charges {
        check_refunded(state, report, charge);
    }
    check_parts(state, report);
}

/// Checks the sums that a charge stores: its refunds in flight, and its completed refunds plus the returns because of
/// lost infractions.
fn check_refunded(state: &State, report: &mut LedgerReport, id: ChargeId) {
    let sum = |counts: &dyn Fn(RefundStatus) -> bool| -> i128 {
        let own = state.tables.refunds.values().filter(|refund| refund.charge == id && counts(refund.state.status()));
        own.map(|refund| centavos(refund.of_charge)).sum()
    };
    let totals =
        state.tables.charges.values().find(|charge| charge.id == id).map(|charge| charge.refunds).unwrap_or_default();
    let in_flight = sum(&|status| matches!(status, RefundStatus::Pending | RefundStatus::Processing));
    let done = sum(&|status| status == RefundStatus::Completed) + lost(state, id);
    compare(report, &format!("refunds in flight of {id}"), in_flight, centavos(totals.in_flight));
    compare(report, &format!("completed refunds of {id}"), done, centavos(totals.done));
}

/// Returns the centavos of the charge that were returned because of lost infractions.
fn lost(state: &State, id: ChargeId) -> i128 {
    let own = state.tables.infractions.values().filter(|infraction| infraction.charge == id);
    let refunded = own.map(|infraction| match infraction.state {
        InfractionState::Lost { refunded, .. } => centavos(refunded),
        InfractionState::Open
        | InfractionState::UnderReview { .. }
        | InfractionState::Won { .. }
        | InfractionState::Cancelled { .. } => 0,
    });
    refunded.sum()
}

/// Checks that each beneficiary of a paid charge was credited exactly its part of the charge. No other account may have
/// a split credit.
fn check_parts(state: &State, report: &mut LedgerReport) {
    let mut parts: BTreeMap<(&EndToEndId, AccountId), (i128, i128)> = BTreeMap::new();
    for paid in state.tables.payments.values().filter(|paid| paid.role == PaymentRole::Settles) {
        let Some(charge) = state.tables.charges.get(&RecordKey::Charge { account: paid.account, id: paid.charge })
        else {
            continue;
        };
        let Some(settlement) = charge.state.settlement() else { continue };
        for (share, part) in charge.terms.split.shares().iter().zip(&settlement.parts) {
            let (fixed, _) = parts.entry((&paid.payment.end_to_end_id, share.recipient)).or_default();
            *fixed += centavos(*part);
        }
    }
    for entry in state.entries.iter().filter(|entry| entry.kind == EntryKind::Split) {
        if let (LedgerAccount::Merchant(holder, _), Some(pix)) = (&entry.account, &entry.end_to_end_id) {
            let (_, credited) = parts.entry((pix, *holder)).or_default();
            *credited += centavos(entry.amount);
        }
    }
    for ((pix, account), (fixed, credited)) in parts {
        compare(report, &format!("part of {account} in {pix}"), fixed, credited);
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;
    use crate::builders::{
        a_payment, a_payout, a_split, an_account, new_refund, payout_in_status, pending_charge, start, steps,
    };
    use crate::memory::MemoryStore;
    use cais_domain::money::Money;
    use cais_domain::payout::PayoutStatus;
    use cais_ports::{Maintenance as _, Store as _};

    /// Returns a store with a split charge whose money is pending, a payout in flight and a refund in flight.
    async fn populated_store() -> MemoryStore {
        let store = MemoryStore::default();
        let (account, other) = (an_account(), an_account());
        for account in [&account, &other] {
            store.commit(steps::open_account(account)).await.unwrap();
        }
        let mut shared = pending_charge(account.id);
        shared.terms.split = a_split(&[(other.id, "10")]);
        for (charge, delay_s) in [(shared, 60), (pending_charge(account.id), 0), (pending_charge(account.id), 0)] {
            store.commit(steps::open_charge(&charge)).await.unwrap();
            let charge = store.charges().pop().unwrap();
            store.commit(steps::credit_payment(&charge, a_payment(1_000), delay_s, start())).await.unwrap();
        }
        store.commit(steps::open_payout(&a_payout(account.id))).await.unwrap();
        let charge = store.charges().pop().unwrap();
        store.commit(steps::open_refund(&charge, &new_refund(Some(5)), start())).await.unwrap();
        assert_eq!(store.verify_ledger().await.unwrap().differences, []);
        store
    }

    #[tokio::test]
    async fn records_that_contradict_the_money_are_reported() {
        let failed = |payout: &mut Payout| {
            payout.state = payout_in_status(payout.clone(), PayoutStatus::Failed).state;
        };
        let damages: [&(dyn Fn(&mut State) + Sync); 7] = [
            &|state| state.tables.payouts.values_mut().for_each(failed),
            &|state| state.tables.payouts.clear(),
            &|state| state.tables.refunds.values_mut().for_each(|refund| refund.amount = Money::from_centavos(6)),
            &|state| state.tables.refunds.values_mut().for_each(|refund| refund.of_charge = Money::ZERO),
            &|state| state.tables.charges.values_mut().for_each(|charge| charge.refunds.in_flight = Money::ZERO),
            &|state| state.tables.releases.values_mut().for_each(|release| release.released_at = Some(start())),
            &|state| state.tables.charges.values_mut().for_each(|charge| charge.terms.split = a_split(&[])),
        ];
        for (place, damage) in damages.into_iter().enumerate() {
            let store = populated_store().await;
            damage(&mut store.state());
            assert!(!store.verify_ledger().await.unwrap().differences.is_empty(), "damage {place}");
        }
    }
}
