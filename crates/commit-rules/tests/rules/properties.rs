//! Properties that hold after any sequence of change sets.

use std::collections::{BTreeMap, BTreeSet};

use cais_commit_rules::Mode;
use cais_domain::block::{Block, BlockChange, BlockEnd};
use cais_domain::end_to_end_id::EndToEndId;
use cais_domain::event::EventType;
use cais_domain::ids::{EntryId, InfractionId};
use cais_ports::{ClaimChange, Reservation, ReservationKey, Write};
use cais_testkit::builders::{a_charge, an_account, an_event, fresh, steps};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;

use super::*;

/// The number of sequences per property: together they take about two seconds in a debug build.
const CASES: u32 = 200;
/// The number of change sets in the longest sequence.
const LONGEST: usize = 40;
/// A failure is printed after at most this many attempts to shorten its sequence.
const MAX_SHRINKS: u32 = 2_000;

/// A change set in small numbers, which pick from the names of a [`World`].
#[derive(Debug, Clone)]
struct Step {
    account: usize,
    transfers: Vec<(Movement, i64)>,
    blocks: Vec<(usize, BlockStep)>,
    events: usize,
    /// The idempotency key to take.
    take: Option<usize>,
    /// The value to reserve.
    reserve: Option<usize>,
    unreserve: Option<usize>,
    /// A charge and the version it was read at; 0 inserts it.
    write: Option<(usize, i64)>,
}

#[derive(Debug, Clone, Copy)]
enum Movement {
    In(Bucket),
    Out,
    Back,
    Release,
}

#[derive(Debug, Clone, Copy)]
enum BlockStep {
    Hold(i64),
    /// `correct` says that the step carries the amount that is held; `returned` that the money leaves the account.
    End {
        correct: bool,
        returned: bool,
    },
}

fn step() -> impl Strategy<Value = Step> {
    let movement = prop_oneof![
        3 => Just(Movement::In(Bucket::Available)),
        2 => Just(Movement::In(Bucket::Pending)),
        2 => Just(Movement::Out),
        1 => Just(Movement::Back),
        2 => Just(Movement::Release),
    ];
    let block = prop_oneof![
        2 => (0_i64..300).prop_map(BlockStep::Hold),
        1 => (any::<bool>(), any::<bool>()).prop_map(|(correct, returned)| BlockStep::End { correct, returned }),
    ];
    let keys = (
        option::weighted(0.2, 0_usize..4),
        option::weighted(0.2, 0_usize..3),
        option::weighted(0.1, 0_usize..3),
        option::weighted(0.4, (0_usize..3, 0_i64..4)),
    );
    (0_usize..2, vec((movement, 0_i64..200), 0..4), vec((0_usize..3, block), 0..3), 0_usize..3, keys).prop_map(
        |(account, transfers, blocks, events, (take, reserve, unreserve, write))| Step {
            account,
            transfers,
            blocks,
            events,
            take,
            reserve,
            unreserve,
            write,
        },
    )
}

/// A snapshot that holds everything, and the names that steps pick from.
struct World {
    snapshot: Snapshot,
    accounts: [AccountId; 2],
    infractions: [[InfractionId; 3]; 2],
    charges: [cais_domain::charge::Charge; 3],
    /// The sequence numbers that were given out.
    sequences: BTreeMap<AccountId, Vec<i64>>,
    /// The sum, the number and the last of the entries of each ledger account.
    entries: BTreeMap<LedgerAccount, (i64, i64, Option<EntryId>)>,
    /// Idempotency keys, values and versions that accepted change sets took.
    taken: BTreeSet<usize>,
    reserved: BTreeSet<usize>,
    versions: BTreeMap<usize, i64>,
    ids: SequentialIds,
}

impl World {
    fn new() -> Self {
        let accounts = [an_account().id, an_account().id];
        Self {
            snapshot: Snapshot::default(),
            accounts,
            infractions: [[fresh(), fresh(), fresh()], [fresh(), fresh(), fresh()]],
            charges: [0, 1, 2].map(|_| a_charge(an_account().id)),
            sequences: BTreeMap::new(),
            entries: BTreeMap::new(),
            taken: BTreeSet::new(),
            reserved: BTreeSet::new(),
            versions: BTreeMap::new(),
            ids: SequentialIds::default(),
        }
    }

    fn change(&self, step: &Step) -> ChangeSet {
        let account = *self.accounts.get(step.account).unwrap();
        let transfer = |(movement, centavos): &(Movement, i64)| {
            let (from, to, kind) = match movement {
                Movement::In(bucket) => return incoming(account, *bucket, *centavos),
                Movement::Out => return outgoing(account, *centavos),
                Movement::Back => (Bucket::InTransit, Bucket::Available, EntryKind::PayoutFailed),
                Movement::Release => (Bucket::Pending, Bucket::Available, EntryKind::Release),
            };
            let (from, to) = (merchant(account, from), merchant(account, to));
            Transfer { from, to, kind, ..outgoing(account, *centavos) }
        };
        let mut change = ChangeSet::new(start());
        change.transfers = step.transfers.iter().map(transfer).collect();
        change.blocks = step.blocks.iter().map(|(number, block)| self.block(step.account, *number, *block)).collect();
        change.events = (0..step.events).map(|_| an_event(account, EventType::ChargePaid, "x")).collect();
        change.claim = step.take.map(|key| {
            let name = steps::claim_name(self.accounts[0], &format!("some-key-{key}"));
            ClaimChange::Take(steps::new_claim(name, "chg_1", start()))
        });
        let owner = "owner".to_owned();
        change.reserve = step.reserve.map(|one| Reservation { key: value(one), account, owner }).into_iter().collect();
        change.unreserve = step.unreserve.map(value).into_iter().collect();
        change.writes = step
            .write
            .map(|(number, version)| {
                let charge =
                    Box::new(cais_domain::charge::Charge { version, ..self.charges.get(number).unwrap().clone() });
                if version == 0 { Write::InsertCharge(charge) } else { Write::UpdateCharge(charge) }
            })
            .into_iter()
            .collect();
        change
    }

    fn block(&self, holder: usize, number: usize, step: BlockStep) -> BlockChange {
        let account = *self.accounts.get(holder).unwrap();
        let infraction = *self.infractions.get(holder).unwrap().get(number).unwrap();
        match step {
            BlockStep::Hold(limit) => {
                let end_to_end_id = EndToEndId::parse("E1234567820260102030400000000001").unwrap();
                BlockChange::Hold { account, infraction, end_to_end_id, limit: Money::from_centavos(limit) }
            }
            BlockStep::End { correct, returned } => {
                let blocks = self.snapshot.ledger.blocks.get(&account);
                let held = blocks.and_then(|blocks| blocks.get(&infraction)).map_or(Money::ZERO, |block| block.held);
                let held = if correct { held } else { held.checked_add(Money::from_centavos(1)).unwrap() };
                let to = if returned { BlockEnd::Returned(settlement()) } else { BlockEnd::Released };
                BlockChange::End { account, infraction, held, to }
            }
        }
    }

    /// Judges a step; checks that refusals have a cause and leave no trace, and collects what acceptance promises.
    fn judge(&mut self, step: &Step) -> Result<(), TestCaseError> {
        let change = self.change(step);
        self.snapshot.open(&change);
        let before = self.snapshot.clone();
        let verdict = judge(&mut self.snapshot, &change, &self.ids);
        let effects = match verdict {
            Ok(effects) => effects,
            Err(refusal) => {
                prop_assert!(self.is_justified(&refusal, step), "{:?}", refusal);
                prop_assert!(self.snapshot == before, "a refused change set left a trace");
                return Ok(());
            }
        };
        for entry in &effects.entries {
            let (sum, count, last) = self.entries.entry(entry.account().clone()).or_default();
            *sum += entry.amount.centavos();
            *count += 1;
            prop_assert_eq!(entry.balance_after.centavos(), *sum, "the running balance");
            prop_assert!(Some(entry.id) > *last, "entry ids ascend");
            *last = Some(entry.id);
        }
        for event in &effects.events {
            self.sequences.entry(event.event.account).or_default().push(event.sequence);
        }
        prop_assert!(step.take.is_none_or(|key| self.taken.insert(key)), "an idempotency key has one owner");
        prop_assert!(step.reserve.is_none_or(|one| self.reserved.insert(one)), "a unique value has one owner");
        if let Some(value) = step.unreserve {
            self.reserved.remove(&value);
        }
        if let Some((number, version)) = step.write {
            let last = self.versions.insert(number, version + 1).unwrap_or(0);
            prop_assert_eq!(last, version, "an update is based on the last version");
        }
        Ok(())
    }

    fn is_justified(&self, refusal: &CommitError, step: &Step) -> bool {
        match refusal {
            CommitError::Claimed { .. } => step.take.is_some_and(|key| self.taken.contains(&key)),
            CommitError::Taken { .. } => step.reserve.is_some_and(|one| self.reserved.contains(&one)),
            CommitError::Stale => {
                let stored = |number| self.versions.get(&number).copied().unwrap_or(0);
                let ends = |(_, block): &(usize, BlockStep)| matches!(block, BlockStep::End { .. });
                step.write.is_some_and(|(number, version)| version != stored(number)) || step.blocks.iter().any(ends)
            }
            CommitError::NotCovered { .. } => !step.transfers.is_empty(),
            CommitError::Corrupt(_) => {
                let exists =
                    step.write.is_some_and(|(number, version)| version == 0 && self.versions.contains_key(&number));
                exists || step.transfers.iter().any(|(_, centavos)| *centavos == 0)
            }
            CommitError::Unavailable(_) => false,
        }
    }

    fn centavos(&self, account: AccountId, bucket: Bucket) -> i64 {
        let balance = self.snapshot.ledger.balances.get(&merchant(account, bucket));
        balance.map_or(0, |balance| balance.amount.centavos())
    }

    /// Checks what holds after every commit.
    fn check(&self) -> Result<(), TestCaseError> {
        let ledger = &self.snapshot.ledger;
        let sum: i64 = ledger.balances.values().map(|balance| balance.amount.centavos()).sum();
        prop_assert_eq!(sum, 0, "every transfer has two legs");
        for (account, balance) in &ledger.balances {
            let (sum, count, last) = self.entries.get(account).copied().unwrap_or_default();
            let stored = (balance.amount.centavos(), balance.entries, balance.last);
            prop_assert_eq!(stored, (sum, count, last), "a balance is the sum of its entries");
            let is_merchants = matches!(account, LedgerAccount::Merchant(..));
            prop_assert!(!is_merchants || !balance.amount.is_negative(), "{} is not covered", account);
            prop_assert!(!balance.seized_from_pending.is_negative());
        }
        for account in self.accounts {
            let blocks: Vec<&Block> = ledger.blocks.get(&account).into_iter().flat_map(BTreeMap::values).collect();
            let held: i64 = blocks.iter().map(|block| block.held.centavos()).sum();
            prop_assert_eq!(self.centavos(account, Bucket::Blocked), held, "blocked is what blocks hold");
            prop_assert!(blocks.iter().all(|block| block.held <= block.limit && !block.held.is_negative()));
            if blocks.iter().any(|block| block.held < block.limit) {
                let left = self.centavos(account, Bucket::Available) + self.centavos(account, Bucket::Pending);
                prop_assert_eq!(left, 0, "either nothing is missing or nothing is left");
            }
            let sequences = self.sequences.get(&account).cloned().unwrap_or_default();
            prop_assert!(sequences.iter().copied().eq((1..).take(sequences.len())), "no sequence number is missing");
        }
        Ok(())
    }
}

fn value(number: usize) -> ReservationKey {
    ReservationKey::Email(format!("{number}@shop.example"))
}

fn config() -> ProptestConfig {
    ProptestConfig {
        cases: CASES,
        max_shrink_iters: MAX_SHRINKS,
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn any_sequence_keeps_the_ledger_whole(steps in vec(step(), 1..LONGEST)) {
        let mut world = World::new();
        for step in &steps {
            world.judge(step)?;
            world.check()?;
        }
    }

    #[test]
    fn optimistic_mode_agrees_where_no_key_conflicts(steps in vec(step(), 1..LONGEST)) {
        let mut world = World::new();
        for step in &steps {
            let change = world.change(step);
            world.snapshot.open(&change);
            let mut optimistic = Snapshot { mode: Mode::Optimistic, ..world.snapshot.clone() };
            let ids = [SequentialIds::starting_at(1_000_000), SequentialIds::starting_at(1_000_000)];
            let expected = judge(&mut world.snapshot, &change, &ids[0]);
            let found = judge(&mut optimistic, &change, &ids[1]);
            let on_a_key = matches!(
                expected,
                Err(CommitError::Claimed { .. } | CommitError::Taken { .. } | CommitError::Stale | CommitError::Corrupt(_))
            );
            if !on_a_key {
                prop_assert!(found == expected);
                prop_assert!(optimistic.ledger == world.snapshot.ledger);
            }
        }
    }

    #[test]
    fn refused_change_sets_cost_others_nothing(steps in vec(step(), 1..LONGEST)) {
        let mut world = World::new();
        let changes: Vec<ChangeSet> = steps.iter().map(|step| world.change(step)).collect();
        for change in &changes {
            world.snapshot.open(change);
        }
        let judged = judge_all(&changes, world.snapshot.clone());
        let kept: Vec<ChangeSet> =
            changes.iter().zip(&judged.verdicts).filter(|(_, verdict)| verdict.is_ok()).map(|(change, _)| change.clone()).collect();
        let alone = judge_all(&kept, world.snapshot.clone());
        prop_assert!(alone.verdicts.iter().all(Result::is_ok));
        prop_assert!(judged.verdicts.iter().filter(|verdict| verdict.is_ok()).eq(&alone.verdicts));
        prop_assert_eq!(judged.moves(), alone.moves());
        prop_assert_eq!(judged.block_writes(), alone.block_writes());
    }
}
