//! The audit rules for infractions:
//!
//! - The blocked balance of an account is the sum of its blocks.
//! - The amount of an account's open releases is its pending money plus its seized money.
//! - An account with an under-funded block has no available and no pending money.
//! - For each infraction, the ledger blocked the amount that its block states, and returned the amount that its record
//!   states.

use std::collections::{BTreeMap, BTreeSet};

use cais_domain::ids::{AccountId, InfractionId};
use cais_domain::infraction::{Infraction, InfractionState};
use cais_domain::ledger::{Bucket, LedgerAccount, SystemAccount};
use cais_ports::LedgerReport;

use super::maintenance::{centavos, compare};
use super::state::State;

pub(super) fn check(state: &State, report: &mut LedgerReport) {
    check_accounts(state, report);
    check_shortfalls(state, report);
    check_each(state, report);
}

/// Checks the blocked and the pending balance of each account.
fn check_accounts(state: &State, report: &mut LedgerReport) {
    let mut held: BTreeMap<AccountId, i128> = BTreeMap::new();
    for block in state.blocks() {
        *held.entry(block.account).or_default() += centavos(block.held);
        compare(report, &format!("blocked beyond the limit of {}", block.infraction), 0, {
            centavos(block.held).saturating_sub(centavos(block.limit)).max(0)
        });
    }
    let mut waiting: BTreeMap<AccountId, i128> = BTreeMap::new();
    for release in state.tables.releases.values().filter(|release| release.released_at.is_none()) {
        *waiting.entry(release.account).or_default() += centavos(release.amount);
    }
    let mut accounts: BTreeSet<AccountId> = held.keys().chain(waiting.keys()).copied().collect();
    for (account, balance) in &state.snapshot.ledger.balances {
        let LedgerAccount::Merchant(account, _) = account else { continue };
        let seized = centavos(balance.seized_from_pending);
        compare(report, &format!("negative seized money of {account}"), 0, seized.min(0));
        *waiting.entry(*account).or_default() -= seized;
        accounts.insert(*account);
    }
    for account in accounts {
        let stored = |bucket| centavos(state.balance(&LedgerAccount::Merchant(account, bucket)));
        let (held, waiting) = (held.get(&account), waiting.get(&account));
        let (blocked, pending) = (stored(Bucket::Blocked), stored(Bucket::Pending));
        compare(report, &format!("blocked balance of {account}"), held.copied().unwrap_or_default(), blocked);
        compare(report, &format!("pending balance of {account}"), waiting.copied().unwrap_or_default(), pending);
    }
}

/// Checks that an account with an under-funded block has no available and no pending money.
fn check_shortfalls(state: &State, report: &mut LedgerReport) {
    let lacking = state.blocks().filter(|block| block.held < block.limit).map(|block| block.account);
    for account in lacking.collect::<BTreeSet<_>>() {
        for bucket in [Bucket::Available, Bucket::Pending] {
            let left = centavos(state.balance(&LedgerAccount::Merchant(account, bucket)));
            compare(report, &format!("{} of {account} with an under-funded block", bucket.as_str()), 0, left);
        }
    }
}

/// Checks the blocked and the returned amount of each infraction whose money moved.
fn check_each(state: &State, report: &mut LedgerReport) {
    let mut moved: BTreeMap<(AccountId, InfractionId), (i128, i128)> = BTreeMap::new();
    for entry in &state.entries {
        let resource = entry.resource.as_deref().and_then(|resource| InfractionId::parse(resource).ok());
        let Some(id) = resource else { continue };
        match &entry.account {
            LedgerAccount::Merchant(account, Bucket::Blocked) => {
                moved.entry((*account, id)).or_default().0 += centavos(entry.amount);
            }
            LedgerAccount::System(SystemAccount::Settlement(_), _) => {
                let account = state.infraction(id).map(|infraction| infraction.account);
                if let Some(account) = account {
                    moved.entry((account, id)).or_default().1 += centavos(entry.amount);
                } else {
                    compare(report, &format!("returned for {id}, which is unknown"), 0, centavos(entry.amount));
                }
            }
            LedgerAccount::Merchant(..) | LedgerAccount::System(SystemAccount::Fees | SystemAccount::Crypto(_), _) => {}
        }
    }
    for ((account, id), (blocked, returned)) in moved {
        let held = state.block(account, id).map_or(0, |block| centavos(block.held));
        compare(report, &format!("held for {id}"), held, blocked);
        let lost = state.infraction(id).map_or(0, lost);
        compare(report, &format!("returned for {id}"), lost, returned);
    }
}

/// Returns the centavos that a lost infraction debited from the account; 0 for other infractions.
fn lost(infraction: &Infraction) -> i128 {
    match infraction.state {
        InfractionState::Lost { returned, .. } => centavos(returned),
        InfractionState::Open
        | InfractionState::UnderReview { .. }
        | InfractionState::Won { .. }
        | InfractionState::Cancelled { .. } => 0,
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use cais_domain::block::Block;
    use cais_domain::infraction::Disputed;
    use cais_domain::money::Money;
    use cais_ports::{Maintenance as _, Store as _};

    use super::*;
    use crate::builders::{a_payment, an_account, dispute_report, pending_charge, start, steps};
    use crate::memory::MemoryStore;

    /// Returns a store with a lost infraction, an under-funded one, and money that was seized before its release.
    async fn populated_store() -> MemoryStore {
        let store = MemoryStore::default();
        let account = an_account();
        store.commit(steps::open_account(&account)).await.unwrap();
        let charge = pending_charge(account.id);
        store.commit(steps::open_charge(&charge)).await.unwrap();
        let charge = store.charges().remove(0);
        store.commit(steps::credit_payment(&charge, a_payment(1_000), 60, start())).await.unwrap();
        for amount in [300, 700] {
            let (charge, payment, infractions) =
                (store.charges().remove(0), store.payments().remove(0), store.infractions());
            let disputed = Disputed { payment: &payment, charge: &charge, infractions: &infractions };
            store.commit(steps::open_infraction(&dispute_report(amount), disputed, start())).await.unwrap();
        }
        let (charge, payment, infractions) =
            (store.charges().remove(0), store.payments().remove(0), store.infractions());
        let disputed = Disputed { payment: &payment, charge: &charge, infractions: &infractions };
        let lost = infractions.first().unwrap().clone().lose(disputed, Money::from_centavos(300), start()).unwrap();
        store.commit(steps::move_infraction(lost, start())).await.unwrap();
        assert_eq!(store.verify_ledger().await.unwrap().differences, []);
        store
    }

    fn blocks_mut(state: &mut State) -> impl Iterator<Item = &mut Block> {
        state.snapshot.ledger.blocks.values_mut().flat_map(BTreeMap::values_mut)
    }

    #[tokio::test]
    async fn records_that_contradict_the_money_are_reported() {
        let damages: [&(dyn Fn(&mut State) + Sync); 7] = [
            &|state| state.snapshot.ledger.blocks.clear(),
            &|state| blocks_mut(state).for_each(|block| block.limit = Money::from_centavos(1)),
            &|state| blocks_mut(state).for_each(|block| block.held = Money::from_centavos(639)),
            &|state| {
                let balances = state.snapshot.ledger.balances.values_mut();
                balances.for_each(|balance| balance.seized_from_pending = Money::ZERO);
            },
            &|state| state.tables.releases.clear(),
            &|state| state.tables.infractions.values_mut().for_each(|one| one.state = InfractionState::Open),
            &|state| state.tables.charges.values_mut().for_each(|charge| charge.refunds.done = Money::ZERO),
        ];
        for (place, damage) in damages.into_iter().enumerate() {
            let store = populated_store().await;
            damage(&mut store.state());
            assert!(!store.verify_ledger().await.unwrap().differences.is_empty(), "damage {place}");
        }
    }
}
