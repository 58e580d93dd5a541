//! The stored state of everything that a change set touches.

use std::collections::BTreeMap;

use cais_domain::block::Block;
use cais_domain::ids::{AccountId, EndpointId, EntryId, InfractionId};
use cais_domain::ledger::LedgerAccount;
use cais_domain::merchant::webhook::Endpoint;
use cais_domain::money::Money;
use cais_ports::{AnyRecord, ChangeSet};

use crate::effects::Effects;
use crate::keys::KeySnapshot;
use crate::needs::LedgerNeeds;

/// The state that change sets are judged against, and that accepted ones update.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Snapshot {
    /// The mode in which keys are judged.
    pub mode: Mode,
    /// Idempotency records, unique values and versions; empty in optimistic mode.
    pub keys: KeySnapshot,
    /// Money, blocks, event counters and endpoints.
    pub ledger: LedgerSnapshot,
}

/// The mode in which idempotency records, unique values and versions are judged.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Mode {
    /// The keys were read under locks.
    #[default]
    Pessimistic,
    /// The keys are not read. Each key is assumed to be as the change set expects, and the statements that write must
    /// check it. The batch must not touch a key twice. If a change set is refused, the batch must be judged again in
    /// pessimistic mode.
    Optimistic,
}

/// The balance of a ledger account.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Balance {
    /// The sum of the entries.
    pub amount: Money,
    /// The number of entries.
    pub entries: i64,
    /// The id of the last entry.
    pub last: Option<EntryId>,
    /// The amount that blocks seized from money that is not released yet. Only `pending` balances have such an amount.
    pub seized_from_pending: Money,
}

/// The blocks of one account, the oldest infraction first.
pub type Blocks = BTreeMap<InfractionId, Block>;

/// The webhook endpoints of each account.
pub type Endpoints = BTreeMap<AccountId, BTreeMap<EndpointId, Endpoint>>;

/// Balances, event counters, blocks and endpoints. The snapshot must hold the rows that [`LedgerNeeds`] names.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LedgerSnapshot {
    /// Balances of the ledger accounts.
    pub balances: BTreeMap<LedgerAccount, Balance>,
    /// The last sequence number of each account's events.
    pub sequences: BTreeMap<AccountId, i64>,
    /// All blocks of each account whose blocks may change. An account that is missing here has no under-funded block.
    pub blocks: BTreeMap<AccountId, Blocks>,
    /// The webhook endpoints of each account with events.
    pub endpoints: Endpoints,
}

impl Snapshot {
    /// Adds, at zero, every balance and event counter that the change set needs and the snapshot lacks.
    pub fn open(&mut self, change: &ChangeSet) {
        let needs = LedgerNeeds::of(&[change]);
        for account in needs.every_balance() {
            self.ledger.balances.entry(account).or_default();
        }
        for account in needs.counted {
            self.ledger.sequences.entry(account).or_default();
        }
    }

    pub(crate) fn apply(&mut self, change: &ChangeSet, effects: &Effects<'_>) {
        if self.mode == Mode::Pessimistic {
            self.keys.apply(change);
        }
        self.ledger.apply(change, effects);
    }
}

impl LedgerSnapshot {
    fn apply(&mut self, change: &ChangeSet, effects: &Effects<'_>) {
        for (account, after) in &effects.balances {
            if let Some(balance) = self.balances.get_mut(account) {
                *balance = *after;
            }
        }
        for ((account, infraction), write) in &effects.blocks {
            let blocks = self.blocks.entry(*account).or_default();
            match &write.now {
                Some(block) => blocks.insert(*infraction, block.clone()),
                None => blocks.remove(infraction),
            };
        }
        for endpoint in written_endpoints(change) {
            let endpoints = self.endpoints.entry(endpoint.account).or_default();
            // An update of an endpoint never changes these two fields, so they are kept from the stored endpoint.
            let stored = endpoints.get(&endpoint.id).unwrap_or(endpoint);
            let (slot, created_at, version) = (stored.slot, stored.created_at, endpoint.version.saturating_add(1));
            endpoints.insert(endpoint.id, Endpoint { slot, created_at, version, ..endpoint.clone() });
        }
        for event in &effects.events {
            self.sequences.insert(event.event.account, event.sequence);
        }
    }
}

/// Returns the endpoints that the change set writes, in the order of the writes.
pub(crate) fn written_endpoints(change: &ChangeSet) -> impl Iterator<Item = &Endpoint> {
    change
        .writes
        .iter()
        .filter_map(|write| if let AnyRecord::Endpoint(one) = write.record() { Some(&**one) } else { None })
}
