//! Audit and housekeeping of the store in memory.

use std::collections::BTreeMap;

use async_trait::async_trait;
use cais_domain::end_to_end_id::EndToEndId;
use cais_domain::ids::AccountId;
use cais_domain::ledger::{EntryKind, LedgerAccount, SystemAccount};
use cais_domain::money::Money;
use cais_ports::{
    KeyUse, LedgerCheckResult, LedgerDifference, LedgerReport, LoggedRequest, Maintenance, PruneBefore, Pruned,
    QueryError,
};

use super::MemoryStore;
use super::state::{Entry, State};
use super::{crypto_rules, infraction_rules, money_rules, prune, usage};

#[async_trait]
impl Maintenance for MemoryStore {
    async fn verify_ledger(&self) -> Result<LedgerReport, QueryError> {
        let state = self.read()?;
        let mut report = LedgerReport {
            accounts: length(state.snapshot.ledger.balances.len()),
            entries: length(state.entries.len()),
            differences: Vec::new(),
        };
        rebuild_balances(&state, &mut report);
        check_payments(&state, &mut report);
        check_sequences(&state, &mut report);
        money_rules::check(&state, &mut report);
        infraction_rules::check(&state, &mut report);
        crypto_rules::check(&state, &mut report);
        Ok(report)
    }

    async fn record_ledger_check(&self, check: LedgerCheckResult) -> Result<(), QueryError> {
        self.read()?.ledger_checks.insert(check.at, check);
        Ok(())
    }

    async fn last_ledger_check(&self) -> Result<Option<LedgerCheckResult>, QueryError> {
        Ok(self.read()?.ledger_checks.values().next_back().copied())
    }

    async fn prune(&self, before: PruneBefore) -> Result<Pruned, QueryError> {
        Ok(prune::prune(&mut *self.read()?, before))
    }

    async fn ready(&self) -> Result<(), QueryError> {
        self.read().map(drop)
    }

    async fn last_sequence(&self, account: AccountId) -> Result<i64, QueryError> {
        Ok(self.read()?.last_sequence(account))
    }

    async fn record_key_uses(&self, uses: Vec<KeyUse>) -> Result<(), QueryError> {
        usage::record_key_uses(&mut *self.read()?, uses);
        Ok(())
    }

    async fn record_requests(&self, requests: Vec<LoggedRequest>, trim: Vec<AccountId>) -> Result<(), QueryError> {
        usage::record_requests(&mut *self.read()?, requests, &trim);
        Ok(())
    }
}

fn rebuild_balances(state: &State, report: &mut LedgerReport) {
    let mut sums: BTreeMap<&LedgerAccount, i128> = BTreeMap::new();
    for entry in &state.entries {
        let sum = sums.entry(&entry.account).or_default();
        *sum = sum.saturating_add(centavos(entry.amount));
        compare(report, &format!("running balance of {}", entry.account), *sum, centavos(entry.balance_after));
    }
    let balances = || state.snapshot.ledger.balances.iter().map(|(account, balance)| (account, balance.amount));
    for (account, stored) in balances() {
        let sum = sums.remove(account).unwrap_or_default();
        compare(report, &format!("balance of {account}"), sum, centavos(stored));
        if matches!(account, LedgerAccount::Merchant(..)) && stored.is_negative() {
            compare(report, &format!("negative balance of {account}"), 0, centavos(stored));
        }
    }
    for (account, sum) in sums {
        compare(report, &format!("balance of {account}"), sum, 0);
    }
    let all = balances().map(|(_, amount)| centavos(amount));
    compare(report, "sum of all balances", 0, all.sum());
}

/// Checks that every payment was credited once and in full: the entries of its credit debit the settlement account by the payment's
/// amount. Also checks that each credit has a payment.
fn check_payments(state: &State, report: &mut LedgerReport) {
    let mut credited: BTreeMap<&EndToEndId, i128> = BTreeMap::new();
    for entry in state.entries.iter().filter(|entry| credits(entry)) {
        if let Some(end_to_end_id) = &entry.end_to_end_id {
            let sum = credited.entry(end_to_end_id).or_default();
            *sum = sum.saturating_sub(centavos(entry.amount));
        }
    }
    for paid in state.tables.payments.values() {
        let end_to_end_id = &paid.payment.end_to_end_id;
        let credited = credited.remove(end_to_end_id).unwrap_or_default();
        compare(report, &format!("credit of payment {end_to_end_id}"), centavos(paid.payment.amount), credited);
    }
    for (end_to_end_id, sum) in credited {
        compare(report, &format!("credit without payment {end_to_end_id}"), 0, sum);
    }
}

/// Returns whether the entry debits a settlement account for a received Pix. The return of a payout debits a settlement account too, and
/// can have the same end-to-end id: if the payout paid another merchant's charge, the payout and the payment of that charge are one Pix.
/// So the kind of the entry decides.
fn credits(entry: &Entry) -> bool {
    let from_settlement = matches!(entry.account, LedgerAccount::System(SystemAccount::Settlement(_), _));
    let brought = match entry.kind {
        EntryKind::Charge | EntryKind::ExtraPayment | EntryKind::Fee | EntryKind::Split => true,
        EntryKind::Release
        | EntryKind::Payout
        | EntryKind::PayoutFailed
        | EntryKind::PayoutReversed
        | EntryKind::Refund
        | EntryKind::RefundFailed
        | EntryKind::Infraction
        | EntryKind::InfractionReleased
        | EntryKind::InfractionReturned
        | EntryKind::CryptoDeposit
        | EntryKind::CryptoWithdrawal
        | EntryKind::CryptoWithdrawalFailed => false,
    };
    from_settlement && brought && entry.amount.is_negative()
}

/// Checks the sequence numbers of events. The oldest events may have been removed; the remaining numbers have no gap up to
/// the last one.
fn check_sequences(state: &State, report: &mut LedgerReport) {
    for (account, last) in &state.snapshot.ledger.sequences {
        let kept = state.events.get(account).map_or(&[][..], Vec::as_slice);
        let gone = i128::from(*last).saturating_sub(i128::from(length(kept.len())));
        for (expected, event) in (gone.saturating_add(1)..).zip(kept) {
            let stored = i128::from(event.sequence);
            compare(report, &format!("event sequence of {account}"), expected, stored);
        }
    }
}

/// Reports a difference if the stored value is not the expected one.
pub(super) fn compare(report: &mut LedgerReport, what: &str, expected: i128, stored: i128) {
    let cut = |number: i128| i64::try_from(number).unwrap_or(i64::MAX);
    if expected != stored {
        let (expected, stored) = (cut(expected), cut(stored));
        report.differences.push(LedgerDifference { what: what.to_owned(), expected, stored });
    }
}

pub(super) fn centavos(amount: Money) -> i128 {
    i128::from(amount.centavos())
}

pub(super) fn length(count: usize) -> u64 {
    u64::try_from(count).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;
    use crate::builders::{a_payment, an_account, pending_charge, steps};
    use cais_ports::Store as _;

    #[tokio::test]
    async fn damaged_ledger_is_reported() {
        let store = MemoryStore::default();
        let account = an_account();
        store.commit(steps::open_account(&account)).await.unwrap();
        let charge = pending_charge(account.id);
        store.commit(steps::open_charge(&charge)).await.unwrap();
        let charge = store.charges().remove(0);
        let confirm = steps::confirm_payment(&charge, a_payment(1_000), account.created_at);
        store.commit(confirm).await.unwrap();
        assert_eq!(store.verify_ledger().await.unwrap().differences, []);

        let lost = store.state().entries.pop();
        assert!(!store.verify_ledger().await.unwrap().differences.is_empty());
        store.state().entries.extend(lost);
        assert_eq!(store.verify_ledger().await.unwrap().differences, []);
        let unpaid = store.state().tables.payments.pop_first();
        assert!(!store.verify_ledger().await.unwrap().differences.is_empty());
        store.state().tables.payments.extend(unpaid);
        assert_eq!(store.verify_ledger().await.unwrap().differences, []);
        for event in store.state().events.values_mut().flatten() {
            event.sequence = 7;
        }
        assert!(!store.verify_ledger().await.unwrap().differences.is_empty());
    }
}
