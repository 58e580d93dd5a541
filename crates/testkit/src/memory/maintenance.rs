//! Audit and housekeeping of the store in memory.

use std::collections::BTreeMap;

use async_trait::async_trait;
use cais_domain::ids::AccountId;
use cais_domain::ledger::LedgerAccount;
use cais_domain::money::Money;
use cais_ports::{LedgerDifference, LedgerReport, Maintenance, NoticeState, Pruned, QueryError};
use jiff::Timestamp;

use super::MemoryStore;
use super::state::State;

#[async_trait]
impl Maintenance for MemoryStore {
    async fn verify_ledger(&self) -> Result<LedgerReport, QueryError> {
        let state = self.read()?;
        let mut report = LedgerReport {
            accounts: length(state.balances.len()),
            entries: length(state.entries.len()),
            differences: Vec::new(),
        };
        rebuild_balances(&state, &mut report);
        judge_payments(&state, &mut report);
        judge_sequences(&state, &mut report);
        Ok(report)
    }

    async fn prune(&self, claims_before: Timestamp, marks_before: Timestamp) -> Result<Pruned, QueryError> {
        let mut state = self.read()?;
        let (claims, notices) = (state.claims.len(), state.notices.len());
        state.claims.retain(|_, claim| claim.due_at.is_some() || claim.created_at >= claims_before);
        state.notices.retain(|_, notice| notice.state != NoticeState::Done || notice.received_at >= marks_before);
        Ok(Pruned {
            claims: length(claims.saturating_sub(state.claims.len())),
            batches: 0,
            notices: length(notices.saturating_sub(state.notices.len())),
        })
    }

    async fn ready(&self) -> Result<(), QueryError> {
        self.read().map(drop)
    }

    async fn last_sequence(&self, account: AccountId) -> Result<i64, QueryError> {
        Ok(self.read()?.last_sequence(account))
    }
}

fn rebuild_balances(state: &State, report: &mut LedgerReport) {
    let mut sums: BTreeMap<&LedgerAccount, i128> = BTreeMap::new();
    for entry in &state.entries {
        let sum = sums.entry(&entry.account).or_default();
        *sum = sum.saturating_add(i128::from(entry.amount.centavos()));
        compare(report, &format!("running balance of {}", entry.account), *sum, entry.balance_after);
    }
    for (account, stored) in &state.balances {
        let sum = sums.remove(account).unwrap_or_default();
        compare(report, &format!("balance of {account}"), sum, *stored);
        if matches!(account, LedgerAccount::Merchant(..)) && stored.is_negative() {
            compare(report, &format!("no debt of {account}"), 0, *stored);
        }
    }
    for (account, sum) in sums {
        compare(report, &format!("balance of {account}"), sum, Money::ZERO);
    }
    let all = state.balances.values().map(|balance| i128::from(balance.centavos()));
    if all.sum::<i128>() != 0 {
        compare(report, "sum of all balances", 0, Money::from_centavos(1));
    }
}

fn judge_payments(state: &State, report: &mut LedgerReport) {
    for paid in state.payments.values() {
        let own = state.entries.iter().filter(|entry| {
            entry.end_to_end_id.as_ref() == Some(&paid.payment.end_to_end_id) && entry.amount.is_positive()
        });
        let credited = own.map(|entry| i128::from(entry.amount.centavos())).sum();
        let what = format!("credit of payment {}", paid.payment.end_to_end_id);
        compare(report, &what, credited, paid.payment.amount);
    }
}

fn judge_sequences(state: &State, report: &mut LedgerReport) {
    for (account, events) in &state.events {
        for (expected, event) in (1_i128..).zip(events) {
            let stored = Money::from_centavos(event.sequence);
            compare(report, &format!("event sequence of {account}"), expected, stored);
        }
    }
}

fn compare(report: &mut LedgerReport, what: &str, expected: i128, stored: Money) {
    if expected != i128::from(stored.centavos()) {
        report.differences.push(LedgerDifference {
            what: what.to_owned(),
            expected: i64::try_from(expected).unwrap_or(i64::MAX),
            stored: stored.centavos(),
        });
    }
}

fn length(count: usize) -> u64 {
    u64::try_from(count).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;
    use crate::builders::{a_payment, an_account, pending_charge, steps};
    use cais_ports::Store as _;

    #[tokio::test]
    async fn a_damaged_ledger_is_found_out() {
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
        for event in store.state().events.values_mut().flatten() {
            event.sequence = 2;
        }
        assert!(!store.verify_ledger().await.unwrap().differences.is_empty());
    }
}
