//! Tests random change sets. The rules and an independent, slow model judge each change set, and every refusal and every effect must be
//! equal.

mod model;
mod steps;

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Debug;

use cais_commit_rules::{KeySnapshot, Mode, Side};
use cais_domain::block::Block;
use cais_domain::event::EventType;
use cais_domain::ids::{DeliveryId, EntryId};
use cais_ports::{NewDelivery, NewEvent, entry_to_come};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::test_runner::{TestError, TestRunner};
use uuid::Uuid;

use super::*;
use model::{Model, target};
use steps::{Names, Step, step};

/// The number of sequences. All of them take a few seconds in a debug build.
const CASES: u32 = 200;
/// The number of change sets in the longest sequence.
const LONGEST: usize = 40;
/// A failure is printed after at most this many attempts to shorten its sequence.
const MAX_SHRINKS: u32 = 2_000;
/// The kinds of outcomes and of transfers that the sequences must include.
const MET: [&str; 11] = [
    "accepted",
    "corrupt",
    "infraction",
    "infraction_released",
    "infraction_returned",
    "key in use",
    "not covered",
    "release",
    "split",
    "stale",
    "taken",
];

/// A snapshot that holds everything, and the model of the same history.
struct ModelComparison {
    names: Names,
    model: Model,
    snapshot: Snapshot,
    /// The last entry of each ledger account.
    last: BTreeMap<LedgerAccount, EntryId>,
    steps: u64,
}

impl ModelComparison {
    fn new() -> Self {
        let (model, snapshot) = (Model::default(), Snapshot::default());
        Self { names: Names::new(), model, snapshot, last: BTreeMap::new(), steps: 0 }
    }

    /// Judges a step, and compares the outcome with the model's.
    fn judge(&mut self, step: &Step) -> Result<&'static str, TestCaseError> {
        self.steps += 1;
        let change = self.names.change(step, self.steps, &self.model);
        self.snapshot.open(&change);
        let (before, first_id) = (self.snapshot.clone(), 10_000 * self.steps);
        let found = judge(&mut self.snapshot, &change, &SequentialIds::starting_at(first_id));
        let expected = self.model.commit(&change);
        if self.model.check_keys(&change).is_ok() {
            let mut optimistic =
                Snapshot { mode: Mode::Optimistic, ledger: before.ledger.clone(), ..Snapshot::default() };
            let without_keys = judge(&mut optimistic, &change, &SequentialIds::starting_at(first_id));
            prop_assert!(without_keys == found && optimistic.ledger == self.snapshot.ledger, "optimistic mode differs");
        }
        let outcome = match (found, expected) {
            (Ok(effects), Ok(after)) => {
                same("sequences", &effects.committed().sequences, &after.sequences())?;
                self.compare(&effects, &after, &change)?;
                self.model = after;
                "accepted"
            }
            (Err(found), Err(expected)) => {
                let refusal =
                    if let CommitError::Corrupt(_) = found { CommitError::Corrupt(String::new()) } else { found };
                same("refusal", &refusal, &expected)?;
                prop_assert!(self.snapshot == before, "a refused change set left a trace");
                name(&refusal)
            }
            (found, expected) => {
                let (found, expected) = (found.map(|effects| effects.committed().sequences), expected.map(drop));
                return Err(TestCaseError::fail(format!("outcome: found {found:?}, expected {expected:?}")));
            }
        };
        self.compare_snapshot()?;
        self.check()?;
        Ok(outcome)
    }

    /// Compares the effects with the difference between the histories before and `after`.
    fn compare(&mut self, effects: &Effects<'_>, after: &Model, change: &ChangeSet) -> Result<(), TestCaseError> {
        let (mut running, mut legs) = (self.model.clone(), Vec::new());
        for step in after.moves.iter().skip(running.moves.len()) {
            running.moves.push(step.clone());
            let sides = [(Side::From, &step.transfer.from, -step.moved), (Side::To, &step.transfer.to, step.moved)];
            for (side, account, amount) in sides.into_iter().filter(|(_, _, amount)| *amount != 0) {
                legs.push((side, amount, running.balance(account), step.transfer.clone(), change.at));
            }
        }
        let entries = effects.entries.iter().map(|entry| {
            let (amount, balance) = (entry.amount.centavos(), entry.balance_after.centavos());
            (entry.side, amount, balance, entry.transfer.clone().into_owned(), entry.at)
        });
        same_list("entry", entries, legs)?;
        let transfers: BTreeSet<_> = effects.entries.iter().map(|entry| entry.transfer_id).collect();
        prop_assert_eq!(2 * transfers.len(), effects.entries.len(), "each transfer has an id of its own");
        for pair in effects.entries.chunks(2) {
            let names: BTreeSet<_> = pair.iter().map(|leg| leg.transfer_id).collect();
            prop_assert_eq!(names.len(), 1, "both entries of a transfer name it");
        }
        for entry in &effects.entries {
            let last = self.last.insert(entry.account().clone(), entry.id);
            prop_assert!(Some(entry.id) > last, "entry ids ascend");
        }
        for (account, balance) in &effects.balances {
            same("balance", &facts(balance), &facts_of(after, account))?;
        }
        let (was, is) = (self.model.blocks(), after.blocks());
        let keys: BTreeSet<_> = was.keys().chain(is.keys()).filter(|key| was.get(key) != is.get(key)).collect();
        let writes =
            keys.into_iter().map(|key| (*key, BlockWrite { stored: was.contains_key(key), now: is.get(key).cloned() }));
        same_list("block", effects.blocks.clone(), writes)?;
        let events = change.events.iter().map(|event| published(event, effects));
        same_list("event", effects.events.iter().map(|numbered| numbered.event.clone().into_owned()), events)?;
        let unnamed = |delivery: &NewDelivery| NewDelivery { id: DeliveryId::new(Uuid::nil()), ..delivery.clone() };
        same_list("delivery", effects.deliveries.iter().map(unnamed), after.deliveries())?;
        let names: BTreeSet<_> = effects.deliveries.iter().map(|delivery| delivery.id).collect();
        prop_assert_eq!(names.len(), effects.deliveries.len(), "each delivery has an id of its own");
        Ok(())
    }

    /// Compares everything in the snapshot with the model's history.
    fn compare_snapshot(&self) -> Result<(), TestCaseError> {
        let (Snapshot { keys, ledger, .. }, model) = (&self.snapshot, &self.model);
        for (account, balance) in &ledger.balances {
            same("stored balance", &facts(balance), &facts_of(model, account))?;
            same("last entry", &balance.last, &self.last.get(account).copied())?;
        }
        same_list(
            "stored block",
            ledger.blocks.values().flatten().map(|(_, block)| block.clone()),
            model.blocks().into_values(),
        )?;
        for (account, last) in &ledger.sequences {
            same("event counter", last, &model.events(*account))?;
        }
        let endpoints: BTreeMap<_, _> = ledger.endpoints.values().flatten().collect();
        same_list("endpoint", endpoints.into_values().cloned(), model.endpoints().into_values())?;
        let names = &self.names;
        let records = names.keys.iter().filter_map(|name| Some((name.clone(), model.idempotency_record(name)?)));
        let owners = names.values.iter().filter_map(|value| Some((value.clone(), model.owner(value)?)));
        let versions = model.writes().map(|write| target(write).0).map(|key| (key.clone(), model.version(&key)));
        let (idempotency_records, owners, versions) = (records.collect(), owners.collect(), versions.collect());
        same("keys", keys, &KeySnapshot { idempotency_records, owners, versions })
    }

    /// Checks invariants of money that need no model.
    fn check(&self) -> Result<(), TestCaseError> {
        let ledger = &self.snapshot.ledger;
        let sum: i64 = ledger.balances.values().map(|balance| balance.amount.centavos()).sum();
        prop_assert_eq!(sum, 0, "every transfer has two legs");
        for (account, balance) in &ledger.balances {
            let is_merchants = matches!(account, LedgerAccount::Merchant(..));
            prop_assert!(!is_merchants || !balance.amount.is_negative(), "{} is not covered", account);
            prop_assert!(!balance.seized_from_pending.is_negative());
        }
        for account in self.names.accounts {
            let of = |bucket| ledger.balances.get(&merchant(account, bucket)).map_or(0, |one| one.amount.centavos());
            let blocks: Vec<&Block> = ledger.blocks.get(&account).into_iter().flat_map(BTreeMap::values).collect();
            let held: i64 = blocks.iter().map(|block| block.held.centavos()).sum();
            prop_assert_eq!(of(Bucket::Blocked), held, "blocked is the sum of blocks");
            prop_assert!(blocks.iter().all(|block| block.held <= block.limit && !block.held.is_negative()));
            if blocks.iter().any(|block| block.held < block.limit) {
                prop_assert_eq!(of(Bucket::Available) + of(Bucket::Pending), 0, "a block lacks money that is there");
            }
        }
        Ok(())
    }
}

/// Returns amount, number of entries and seizures of a balance.
fn facts(balance: &Balance) -> (i64, i64, i64) {
    (balance.amount.centavos(), balance.entries, balance.seized_from_pending.centavos())
}

fn facts_of(model: &Model, account: &LedgerAccount) -> (i64, i64, i64) {
    let seized =
        if let LedgerAccount::Merchant(account, Bucket::Pending) = account { model.seized(*account) } else { 0 };
    (model.balance(account), i64::try_from(model.entries(account)).unwrap(), seized)
}

/// Returns the event with its final data: `split.received` names the entry of its account's first share.
fn published(event: &NewEvent, effects: &Effects<'_>) -> NewEvent {
    let available = merchant(event.account, Bucket::Available);
    let mut entries = effects.entries.iter();
    let share = entries.find(|entry| {
        entry.amount.is_positive() && entry.transfer.kind == EntryKind::Split && *entry.account() == available
    });
    match share.filter(|_| event.kind == EventType::SplitReceived) {
        Some(share) => {
            let data = String::from_utf8(event.data.clone()).unwrap();
            NewEvent { data: data.replace(&entry_to_come().suffix(), &share.id.suffix()).into_bytes(), ..event.clone() }
        }
        None => event.clone(),
    }
}

const fn name(refusal: &CommitError) -> &'static str {
    match refusal {
        CommitError::KeyInUse { .. } => "key in use",
        CommitError::Taken { .. } => "taken",
        CommitError::Stale => "stale",
        CommitError::NotCovered { .. } => "not covered",
        CommitError::Exists(_) => "exists",
        CommitError::Corrupt(_) => "corrupt",
        CommitError::Unavailable(_) => "unavailable",
    }
}

fn same<T: PartialEq + Debug>(name: &str, found: &T, expected: &T) -> Result<(), TestCaseError> {
    prop_assert!(found == expected, "{}: found {:?}, expected {:?}", name, found, expected);
    Ok(())
}

/// Compares two lists; a failure shows the first difference only.
fn same_list<T: PartialEq + Debug>(
    name: &str,
    found: impl IntoIterator<Item = T>,
    expected: impl IntoIterator<Item = T>,
) -> Result<(), TestCaseError> {
    let (mut found, mut expected) = (found.into_iter(), expected.into_iter());
    loop {
        match (found.next(), expected.next()) {
            (None, None) => return Ok(()),
            (found, expected) => same(name, &found, &expected)?,
        }
    }
}

#[test]
fn random_change_sets_have_the_effects_of_the_model() {
    let settings = ProptestConfig {
        max_shrink_iters: MAX_SHRINKS,
        failure_persistence: None,
        ..ProptestConfig::with_cases(CASES)
    };
    let met = RefCell::new(BTreeSet::new());
    let outcome = TestRunner::new(settings).run(&vec(step(), 1..LONGEST), |steps| {
        let mut comparison = ModelComparison::new();
        for step in &steps {
            let outcome = comparison.judge(step)?;
            met.borrow_mut().insert(outcome);
        }
        met.borrow_mut().extend(comparison.model.moves.iter().map(|one| one.transfer.kind.as_str()));
        Ok(())
    });
    let failure = outcome.err().map(|error| match error {
        TestError::Fail(reason, steps) => {
            steps.iter().fold(reason.to_string(), |text, step| format!("{text}\n{step:?}"))
        }
        TestError::Abort(reason) => reason.to_string(),
    });
    assert!(failure.is_none(), "{}", failure.unwrap_or_default());
    let met = met.into_inner();
    assert!(MET.iter().all(|wanted| met.contains(wanted)), "the sequences meet only {met:?}");
}
