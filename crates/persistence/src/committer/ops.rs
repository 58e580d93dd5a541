//! A plan as statements with rows: in one fixed order of tables and in key order within each, the same on every node.

use std::collections::BTreeMap;

use cais_domain::ledger::LedgerAccount;
use jiff::Timestamp;

use super::books::Books;
use super::fate;
use super::plan::Plan;
use super::record::Record;
use crate::rows::ledger::{Balance, Entry};
use crate::rows::{
    account, audit, block, charge, claim, delivery, endpoint, event, infraction, key, ledger, notice, payment, payout,
    position, refund, release, reservation,
};
use crate::sql::Value;
use crate::sql::spec::Spec;

/// One statement and the rows that it is for.
#[derive(Debug)]
pub(crate) struct Op<'a> {
    /// The statement.
    pub(crate) spec: &'static Spec,
    /// The values of its rows.
    pub(crate) rows: Vec<Vec<Value<'a>>>,
    /// Whether each row must be hit: one that is not means that the batch was judged on wrong knowledge.
    pub(crate) guarded: bool,
    /// Whether rows that are to be new are taken to be new: then one that is there may end the whole transaction.
    pub(crate) hoped: bool,
}

impl<'a> Op<'a> {
    /// A statement that must hit each row.
    pub(crate) const fn guarded(spec: &'static Spec, rows: Vec<Vec<Value<'a>>>) -> Self {
        Self { spec, rows, guarded: true, hoped: false }
    }

    /// A statement that may hit fewer.
    pub(crate) const fn free(spec: &'static Spec, rows: Vec<Vec<Value<'a>>>) -> Self {
        Self { spec, rows, guarded: false, hoped: false }
    }
}

/// The statements of a plan without those that have no rows. Balances come last: their rows are the ones others wait for.
/// `hoped` says that nothing was read of what they touch; see [`Op::hoped`].
pub(crate) fn ops<'a>(plan: &'a Plan<'a>, books: &Books, batch: &'a str, at: Timestamp, hoped: bool) -> Vec<Op<'a>> {
    let mut ops = Vec::new();
    reservations(plan, &mut ops);
    claims(plan, &mut ops);
    records(plan, &mut ops);
    ops.push(Op::guarded(&payment::INSERT, plan.payments.iter().map(|paid| payment::inserted(paid)).collect()));
    ops.push(Op::guarded(&audit::INSERT, plan.audits.iter().map(|row| audit::inserted(row)).collect()));
    ops.push(Op::guarded(&event::INSERT, plan.events.iter().map(event::inserted).collect()));
    ops.push(Op::guarded(&delivery::INSERT, plan.deliveries.iter().map(delivery::inserted).collect()));
    ops.push(Op::guarded(&delivery::ENQUEUE, plan.deliveries.iter().map(delivery::enqueued).collect()));
    let mut counters = BTreeMap::new();
    for numbered in &plan.events {
        let account = numbered.event.account;
        counters.extend(books.sequences.get(&account).map(|last| (account, *last)));
    }
    ops.push(Op::guarded(
        &event::UPDATE_COUNTER,
        counters.into_iter().map(|(account, last)| event::counted(account, last)).collect(),
    ));
    blocks(plan, &mut ops);
    balances(plan, books, &mut ops);
    ops.push(fate::committed(batch, at));
    ops.retain(|op| !op.rows.is_empty());
    for op in &mut ops {
        op.hoped = hoped;
    }
    ops
}

fn blocks<'a>(plan: &'a Plan<'a>, ops: &mut Vec<Op<'a>>) {
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

fn balances<'a>(plan: &'a Plan<'a>, books: &Books, ops: &mut Vec<Op<'a>>) {
    ops.push(Op::guarded(&ledger::INSERT_ENTRY, plan.entries.iter().map(ledger::inserted).collect()));
    let mut moved = BTreeMap::new();
    for account in plan.entries.iter().map(Entry::account).chain(&plan.unmoved) {
        moved.extend(books.balances.get(account).map(|balance| (account, balance)));
    }
    let (pending, others): (Vec<_>, Vec<_>) = moved.into_iter().partition(|(account, _)| ledger::is_pending(account));
    let rows = |moved: Vec<(&LedgerAccount, &Balance)>| {
        moved.into_iter().map(|(account, balance)| ledger::moved(account, balance)).collect()
    };
    ops.push(Op::guarded(&ledger::UPDATE, rows(others)));
    ops.push(Op::guarded(&ledger::UPDATE_PENDING, rows(pending)));
}

fn reservations<'a>(plan: &'a Plan<'a>, ops: &mut Vec<Op<'a>>) {
    let given = |within: bool| {
        let keys = plan.unreserve.iter().filter(move |key| key.within().is_some() == within);
        keys.map(|key| reservation::given(key)).collect()
    };
    let taken = |within: bool| {
        let new = plan.reserve.values().filter(move |new| new.key.within().is_some() == within);
        new.map(|new| reservation::taken(new)).collect()
    };
    ops.push(Op::free(&reservation::GIVE_WITHIN, given(true)));
    ops.push(Op::free(&reservation::GIVE_EVERYWHERE, given(false)));
    ops.push(Op::guarded(&reservation::TAKE_WITHIN, taken(true)));
    ops.push(Op::guarded(&reservation::TAKE_EVERYWHERE, taken(false)));
}

fn claims<'a>(plan: &'a Plan<'a>, ops: &mut Vec<Op<'a>>) {
    let (mut open, mut new, mut answered, mut changed) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for (name, write) in &plan.claims {
        let standing = &write.standing;
        match (write.new, standing.answer) {
            (Some((first, at)), None) => open.push(claim::opened(first, at, standing)),
            (Some((first, at)), Some(_)) => new.push(claim::inserted(first, at, standing)),
            (None, Some(answer)) if standing.only_answers(write.read) => {
                answered.push(claim::answered(name, answer, write.read));
            }
            (None, Some(_) | None) => changed.push(claim::updated(name, standing, write.read)),
        }
    }
    ops.push(Op::guarded(&claim::OPEN, open));
    ops.push(Op::guarded(&claim::INSERT, new));
    ops.push(Op::guarded(&claim::ANSWER, answered));
    ops.push(Op::guarded(&claim::UPDATE, changed));
}

fn records<'a>(plan: &'a Plan<'a>, ops: &mut Vec<Op<'a>>) {
    let mut rows: [(&'static Spec, Vec<Vec<Value<'a>>>); 22] = [
        (&account::INSERT, Vec::new()),
        (&account::UPDATE, Vec::new()),
        (&key::INSERT, Vec::new()),
        (&key::UPDATE, Vec::new()),
        (&charge::OPEN, Vec::new()),
        (&charge::INSERT, Vec::new()),
        (&charge::ISSUE, Vec::new()),
        (&charge::UPDATE, Vec::new()),
        (&notice::INSERT, Vec::new()),
        (&notice::UPDATE, Vec::new()),
        (&release::INSERT, Vec::new()),
        (&release::UPDATE, Vec::new()),
        (&payout::INSERT, Vec::new()),
        (&payout::UPDATE, Vec::new()),
        (&refund::INSERT, Vec::new()),
        (&refund::UPDATE, Vec::new()),
        (&endpoint::INSERT, Vec::new()),
        (&endpoint::UPDATE, Vec::new()),
        (&infraction::INSERT, Vec::new()),
        (&infraction::UPDATE, Vec::new()),
        (&position::INSERT, Vec::new()),
        (&position::UPDATE, Vec::new()),
    ];
    let [
        (_, new_accounts),
        (_, accounts),
        (_, new_keys),
        (_, keys),
        (_, open_charges),
        (_, new_charges),
        (_, issued_charges),
        (_, charges),
        (_, new_notices),
        (_, notices),
        (_, new_releases),
        (_, releases),
        (_, new_payouts),
        (_, payouts),
        (_, new_refunds),
        (_, refunds),
        (_, new_endpoints),
        (_, endpoints),
        (_, new_infractions),
        (_, infractions),
        (_, new_positions),
        (_, positions),
    ] = &mut rows;
    for write in plan.records.values() {
        let version = write.version;
        match (write.record, write.read) {
            (Record::Account(record), None) => new_accounts.push(account::inserted(record, version)),
            (Record::Account(record), Some(read)) => accounts.push(account::updated(record, version, read)),
            (Record::Key(record), None) => new_keys.push(key::inserted(record, version)),
            (Record::Key(record), Some(read)) => keys.push(key::updated(record, version, read)),
            (Record::Charge(record), None) => match charge::opened(record, version) {
                Some(row) => open_charges.push(row),
                None => new_charges.push(charge::inserted(record, version)),
            },
            (Record::Charge(record), Some(read)) => match charge::issued(record, version, read) {
                Some(row) => issued_charges.push(row),
                None => charges.push(charge::updated(record, version, read)),
            },
            (Record::Notice(record), None) => new_notices.push(notice::inserted(record, version)),
            (Record::Notice(record), Some(read)) => notices.push(notice::updated(record, version, read)),
            (Record::Release(record), None) => new_releases.push(release::inserted(record, version)),
            (Record::Release(record), Some(read)) => releases.push(release::updated(record, version, read)),
            (Record::Payout(record), None) => new_payouts.push(payout::inserted(record, version)),
            (Record::Payout(record), Some(read)) => payouts.push(payout::updated(record, version, read)),
            (Record::Refund(record), None) => new_refunds.push(refund::inserted(record, version)),
            (Record::Refund(record), Some(read)) => refunds.push(refund::updated(record, version, read)),
            (Record::Endpoint(record), None) => new_endpoints.push(endpoint::inserted(record, version)),
            (Record::Endpoint(record), Some(read)) => endpoints.push(endpoint::updated(record, version, read)),
            (Record::Infraction(record), None) => new_infractions.push(infraction::inserted(record, version)),
            (Record::Infraction(record), Some(read)) => infractions.push(infraction::updated(record, version, read)),
            (Record::Position(record), None) => new_positions.push(position::inserted(record, version)),
            (Record::Position(record), Some(read)) => positions.push(position::updated(record, version, read)),
        }
    }
    ops.extend(rows.into_iter().map(|(spec, rows)| Op::guarded(spec, rows)));
}
