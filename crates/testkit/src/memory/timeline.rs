//! The timeline of the store in memory.

use async_trait::async_trait;
use cais_domain::ids::AccountId;
use cais_domain::ledger::{EntryKind, LedgerAccount};
use cais_domain::timeline::{Direction, TransactionStatus};
use cais_ports::{Page, PageRequest, QueryError, SplitCredit, TimelineQueries, Transaction, TransactionFilter};
use jiff::Timestamp;
use uuid::Uuid;

use super::MemoryStore;
use super::queries::cut;
use super::state::{Entry, State};

/// A transaction with the values for the filters.
struct Line {
    direction: Direction,
    status: TransactionStatus,
    created_at: Timestamp,
    transaction: Transaction,
}

#[async_trait]
impl TimelineQueries for MemoryStore {
    async fn list_transactions(
        &self,
        account: AccountId,
        filter: TransactionFilter,
        page: PageRequest<Uuid>,
    ) -> Result<Page<Transaction>, QueryError> {
        let mut lines = visible(&*self.read()?, account);
        lines.retain(|line| {
            filter.direction.is_none_or(|direction| direction == line.direction)
                && filter.status.is_none_or(|status| status == line.status)
                && filter.created.contains(line.created_at)
        });
        Ok(cut(lines.into_iter().map(|line| line.transaction), page, Transaction::key))
    }

    async fn find_transaction(
        &self,
        account: AccountId,
        direction: Direction,
        key: Uuid,
    ) -> Result<Option<Transaction>, QueryError> {
        let lines = visible(&*self.read()?, account).into_iter();
        let mut found = lines.filter(|line| line.direction == direction && line.transaction.key() == key);
        Ok(found.next().map(|line| line.transaction))
    }
}

/// Returns all transactions that the account may see, in no order.
fn visible(state: &State, account: AccountId) -> Vec<Line> {
    let charges = state.tables.charges.values().filter(|charge| charge.account == account).filter_map(|charge| {
        Some(Line {
            direction: Direction::CashIn,
            status: TransactionStatus::of_charge(charge.state.status())?,
            created_at: charge.created_at,
            transaction: Transaction::Charge(Box::new(charge.clone())),
        })
    });
    let payouts = state.tables.payouts.values().filter(|payout| payout.account == account).filter_map(|payout| {
        Some(Line {
            direction: Direction::CashOut,
            status: TransactionStatus::of_payout(payout.state.status())?,
            created_at: payout.created_at,
            transaction: Transaction::Payout(Box::new(payout.clone())),
        })
    });
    let credits = state.entries.iter().filter(|entry| is_split_credit(entry, account)).map(|entry| Line {
        direction: Direction::CashIn,
        status: TransactionStatus::Completed,
        created_at: entry.at,
        transaction: Transaction::SplitCredit(SplitCredit { id: entry.id, amount: entry.amount, created_at: entry.at }),
    });
    charges.chain(payouts).chain(credits).collect()
}

fn is_split_credit(entry: &Entry, account: AccountId) -> bool {
    let own = matches!(entry.account, LedgerAccount::Merchant(holder, _) if holder == account);
    own && entry.kind == EntryKind::Split
}
