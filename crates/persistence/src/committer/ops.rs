//! The statements of a batch. Every node uses the same order of tables, and key order within each table, so that concurrent batches lock
//! rows in the same order.

use std::collections::BTreeMap;

use cais_commit_rules::Mode;
use cais_domain::ids::AccountId;
use jiff::Timestamp;

use super::outcome;
use super::plan::BatchPlan;
use crate::rows::{block, delivery, event, idempotency, ledger, reservation, written};
use crate::sql::Value;
use crate::sql::spec::Spec;

/// A statement and its rows.
#[derive(Debug)]
pub(crate) struct Op<'a> {
    /// The statement.
    pub(crate) spec: &'static Spec,
    /// The values of its rows.
    pub(crate) rows: Vec<Vec<Value<'a>>>,
    /// `true` if the statement must change each row. A missed row shows that the batch was judged on an outdated snapshot.
    pub(crate) guarded: bool,
    /// `true` if the rows were not read before. An insert of an existing row then aborts the whole transaction.
    pub(crate) optimistic: bool,
}

impl<'a> Op<'a> {
    /// Creates a statement that must change each row.
    pub(crate) const fn guarded(spec: &'static Spec, rows: Vec<Vec<Value<'a>>>) -> Self {
        Self { spec, rows, guarded: true, optimistic: false }
    }

    /// Creates a statement that may change fewer rows than it names.
    pub(crate) const fn free(spec: &'static Spec, rows: Vec<Vec<Value<'a>>>) -> Self {
        Self { spec, rows, guarded: false, optimistic: false }
    }
}

/// Returns the statements of a batch, without those that have no rows. The balances come last; only the batch id follows them.
pub(crate) fn ops<'a>(plan: &'a BatchPlan<'a>, batch: &'a str, at: Timestamp, mode: Mode) -> Vec<Op<'a>> {
    let mut ops = Vec::new();
    reservations(plan, &mut ops);
    idempotency_records(plan, &mut ops);
    records(plan, &mut ops);
    ops.push(Op::guarded(&event::INSERT, plan.events.iter().map(event::inserted).collect()));
    ops.push(Op::guarded(&delivery::INSERT, plan.deliveries.iter().map(delivery::inserted).collect()));
    ops.push(Op::guarded(&delivery::ENQUEUE, plan.deliveries.iter().map(delivery::enqueued).collect()));
    let last = plan.events.iter().map(|numbered| (numbered.event.account, numbered.sequence));
    let counters: BTreeMap<AccountId, i64> = last.collect();
    ops.push(Op::guarded(
        &event::UPDATE_COUNTER,
        counters.into_iter().map(|(account, last)| event::counted(account, last)).collect(),
    ));
    blocks(plan, &mut ops);
    balances(plan, &mut ops);
    ops.push(outcome::committed(batch, at));
    ops.retain(|op| !op.rows.is_empty());
    for op in &mut ops {
        op.optimistic = mode == Mode::Optimistic;
    }
    ops
}

fn blocks<'a>(plan: &'a BatchPlan<'a>, ops: &mut Vec<Op<'a>>) {
    let (mut new, mut changed, mut ended) = (Vec::new(), Vec::new(), Vec::new());
    for ((account, infraction), write) in &plan.blocks {
        match (write.stored, &write.now) {
            (false, Some(now)) => new.push(block::inserted(now)),
            (true, Some(now)) => changed.push(block::updated(now)),
            (true, None) => ended.push(block::deleted(*account, *infraction)),
            (false, None) => {}
        }
    }
    ops.push(Op::guarded(&block::DELETE, ended));
    ops.push(Op::guarded(&block::INSERT, new));
    ops.push(Op::guarded(&block::UPDATE, changed));
}

fn balances<'a>(plan: &'a BatchPlan<'a>, ops: &mut Vec<Op<'a>>) {
    ops.push(Op::guarded(&ledger::INSERT_ENTRY, plan.entries.iter().map(ledger::inserted).collect()));
    let rows = |pending: bool| {
        let moved = plan.balances.iter().filter(|(account, _)| ledger::is_pending(account) == pending);
        moved.map(|(account, balance)| ledger::moved(account, balance)).collect()
    };
    ops.push(Op::guarded(&ledger::UPDATE, rows(false)));
    ops.push(Op::guarded(&ledger::UPDATE_PENDING, rows(true)));
}

fn reservations<'a>(plan: &'a BatchPlan<'a>, ops: &mut Vec<Op<'a>>) {
    let freed = |within: bool| {
        let keys = plan.unreserve.iter().filter(move |key| key.within().is_some() == within);
        keys.map(|key| reservation::freed(key)).collect()
    };
    let reserved = |within: bool| {
        let new = plan.reserve.values().filter(move |new| new.key.within().is_some() == within);
        new.map(|new| reservation::reserved(new)).collect()
    };
    ops.push(Op::free(&reservation::FREE_WITHIN, freed(true)));
    ops.push(Op::free(&reservation::FREE_EVERYWHERE, freed(false)));
    ops.push(Op::guarded(&reservation::RESERVE_WITHIN, reserved(true)));
    ops.push(Op::guarded(&reservation::RESERVE_EVERYWHERE, reserved(false)));
}

fn idempotency_records<'a>(plan: &'a BatchPlan<'a>, ops: &mut Vec<Op<'a>>) {
    let (mut open, mut new, mut answered, mut changed) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for (name, write) in &plan.idempotency_records {
        let standing = &write.standing;
        match (write.new, standing.answer) {
            (Some((first, at)), None) => open.push(idempotency::opened(first, at, standing)),
            (Some((first, at)), Some(_)) => new.push(idempotency::inserted(first, at, standing)),
            (None, Some(answer)) if standing.only_answers(write.read) => {
                answered.push(idempotency::answered(name, answer, write.read));
            }
            (None, Some(_) | None) => changed.push(idempotency::updated(name, standing, write.read)),
        }
    }
    ops.push(Op::guarded(&idempotency::OPEN, open));
    ops.push(Op::guarded(&idempotency::INSERT, new));
    ops.push(Op::guarded(&idempotency::ANSWER, answered));
    ops.push(Op::guarded(&idempotency::UPDATE, changed));
}

/// Adds the statements of records in the order of their SQL text, which is the same on every node.
fn records<'a>(plan: &'a BatchPlan<'a>, ops: &mut Vec<Op<'a>>) {
    let mut records: BTreeMap<&str, Op<'a>> = BTreeMap::new();
    for write in plan.records.values() {
        let (spec, row) = written(write.record, write.version, write.read);
        records.entry(spec.single()).or_insert_with(|| Op::guarded(spec, Vec::new())).rows.push(row);
    }
    ops.extend(records.into_values());
}
