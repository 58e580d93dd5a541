//! The rules as tables and as properties, without a database.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod blocks;
mod events;
mod keys;
mod postings;
mod properties;

use cais_commit_rules::{Balance, BlockWrite, Effects, LedgerSnapshot, Snapshot, judge};
use cais_domain::ids::AccountId;
use cais_domain::ledger::{Bucket, EntryKind, LedgerAccount, Overdraft, SystemAccount, Transfer};
use cais_domain::money::Money;
use cais_ports::{ChangeSet, CommitError, Committed};
use cais_testkit::builders::{main_acquirer, start};
use cais_testkit::ids::SequentialIds;

type Verdict = Result<Committed, CommitError>;

/// Change sets that were judged in order.
struct Judged<'a> {
    verdicts: Vec<Verdict>,
    /// The effects of the accepted change sets.
    effects: Vec<Effects<'a>>,
    after: Snapshot,
}

impl Judged<'_> {
    /// Returns the kind and the amount of each entry.
    fn moves(&self) -> Vec<(EntryKind, i64)> {
        let entries = self.effects.iter().flat_map(|effects| &effects.entries);
        entries.map(|entry| (entry.transfer.kind, entry.amount.centavos())).collect()
    }

    fn balance(&self, account: &LedgerAccount) -> Balance {
        *self.after.ledger.balances.get(account).unwrap()
    }

    /// Returns, for each change of a block: whether the block existed before, and its held amount and limit afterwards.
    fn block_writes(&self) -> Vec<(bool, Option<(i64, i64)>)> {
        let writes = self.effects.iter().flat_map(|effects| effects.blocks.values());
        let amounts = |write: &BlockWrite| write.now.as_ref().map(|now| (now.held.centavos(), now.limit.centavos()));
        writes.map(|write| (write.stored, amounts(write))).collect()
    }
}

fn judge_all(changes: &[ChangeSet], mut after: Snapshot) -> Judged<'_> {
    let (ids, mut verdicts, mut effects) = (SequentialIds::default(), Vec::new(), Vec::new());
    for change in changes {
        match judge(&mut after, change, &ids) {
            Ok(accepted) => {
                verdicts.push(Ok(accepted.committed()));
                effects.push(accepted);
            }
            Err(refusal) => verdicts.push(Err(refusal)),
        }
    }
    Judged { verdicts, effects, after }
}

#[expect(clippy::unnecessary_wraps, reason = "its callers compare the value with verdicts")]
fn accepted(sequences: &[i64]) -> Verdict {
    Ok(Committed { sequences: sequences.to_vec() })
}

/// Returns the refusal of a transfer from an account with this balance in centavos.
const fn not_covered(account: AccountId, bucket: Bucket, centavos: i64) -> Verdict {
    Err(CommitError::NotCovered { account: merchant(account, bucket), available: Money::from_centavos(centavos) })
}

/// Returns a snapshot in which the account has `available` centavos and an event counter at 4. A settlement account is 10 centavos above
/// the least amount.
fn snapshot(account: AccountId, available: i64) -> Snapshot {
    let balance = |centavos| Balance { amount: Money::from_centavos(centavos), ..Balance::default() };
    let balances = [
        (merchant(account, Bucket::Available), balance(available)),
        (merchant(account, Bucket::InTransit), balance(0)),
        (settlement(), balance(i64::MIN + 10)),
    ];
    let ledger =
        LedgerSnapshot { balances: balances.into(), sequences: [(account, 4)].into(), ..LedgerSnapshot::default() };
    Snapshot { ledger, ..Snapshot::default() }
}

const fn merchant(account: AccountId, bucket: Bucket) -> LedgerAccount {
    LedgerAccount::Merchant(account, bucket)
}

fn settlement() -> LedgerAccount {
    LedgerAccount::System(SystemAccount::Settlement(main_acquirer()), 0)
}

/// Returns a transfer that must be covered, from `available` to `in_transit`.
fn outgoing(account: AccountId, centavos: i64) -> Transfer {
    Transfer {
        from: merchant(account, Bucket::Available),
        to: merchant(account, Bucket::InTransit),
        amount: Money::from_centavos(centavos),
        overdraft: Overdraft::Forbidden,
        kind: EntryKind::Charge,
        resource: None,
        end_to_end_id: None,
    }
}

fn incoming(account: AccountId, bucket: Bucket, centavos: i64) -> Transfer {
    let (from, to) = (settlement(), merchant(account, bucket));
    Transfer { from, to, overdraft: Overdraft::Allowed, ..outgoing(account, centavos) }
}

fn moving(transfer: Transfer) -> ChangeSet {
    ChangeSet { transfers: vec![transfer], ..ChangeSet::new(start()) }
}
