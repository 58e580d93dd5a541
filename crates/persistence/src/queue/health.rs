//! Records since when endpoints fail, from the outcomes of attempts. A failing endpoint has a row in `endpoint_failures`, with its epoch.

use std::collections::BTreeMap;

use cais_domain::ids::{AccountId, EndpointId};
use cais_ports::{EndpointQueue, FinishedAttempt, Health};
use jiff::Timestamp;

use crate::committer::Op;
use crate::sql::spec::{Kind, Spec};

static DELETE: Spec =
    Spec::delete("endpoint_failures", &[("account_id", Kind::Text), ("endpoint_id", Kind::Text), ("epoch", Kind::Int)]);

static INSERT: Spec = Spec::insert_unless_there(
    "endpoint_failures",
    &[("account_id", Kind::Text), ("endpoint_id", Kind::Text), ("epoch", Kind::Int), ("failing_since", Kind::Int)],
);

/// The change of an endpoint's row for one epoch, by the attempts that are stored together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Change {
    /// `true` if the stored row is removed first, because an attempt succeeded.
    removes_row: bool,
    /// The first failure after the last success. If a row is already stored, its instant is kept.
    failing_since: Option<Timestamp>,
}

type Changes = BTreeMap<(AccountId, EndpointId, i64), Change>;

/// Returns the changes that the attempts cause.
pub(super) fn changes<'a>(attempts: impl IntoIterator<Item = &'a FinishedAttempt>) -> Changes {
    let mut changes = Changes::new();
    for finished in attempts {
        let key = (finished.key.account, finished.key.endpoint, finished.epoch);
        match finished.health {
            Health::Unchanged => {}
            Health::Failing => {
                changes.entry(key).or_default().failing_since.get_or_insert(finished.attempt.at);
            }
            Health::Healthy => {
                changes.insert(key, Change { removes_row: true, failing_since: None });
            }
        }
    }
    changes
}

/// Returns the statement that deletes the row of the queue's endpoint and epoch.
pub(super) fn delete(queue: EndpointQueue) -> Op<'static> {
    Op::free(&DELETE, vec![vec![queue.account.into(), queue.endpoint.into(), queue.epoch.into()]])
}

/// Returns the statements that store the changes. Statements without rows are left out.
pub(super) fn ops(changes: &Changes) -> Vec<Op<'static>> {
    let (mut deleted, mut inserted) = (Vec::new(), Vec::new());
    for ((account, endpoint, epoch), change) in changes {
        let key = || vec![(*account).into(), (*endpoint).into(), (*epoch).into()];
        if change.removes_row {
            deleted.push(key());
        }
        if let Some(since) = change.failing_since {
            let mut row = key();
            row.push(since.into());
            inserted.push(row);
        }
    }
    let mut ops = vec![Op::free(&DELETE, deleted), Op::free(&INSERT, inserted)];
    ops.retain(|op| !op.rows.is_empty());
    ops
}
