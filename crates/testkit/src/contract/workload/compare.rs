//! Compares the tested store with the in-memory store after the workload.

use std::collections::BTreeMap;

use cais_domain::ids::{AccountId, Id};
use cais_domain::timeline::Direction;
use cais_ports::{
    ChargeQueries as _, Delivery, EntryFilter, EventFilter, IdempotencyQueries as _, InfractionQueries as _,
    Maintenance as _, PageRequest, PayoutQueries as _, RefundQueries as _, ReleaseQueries as _, SplitCredit,
    StatementEntry, StatementQueries as _, TimelineQueries as _, Transaction, TransactionFilter,
};
use uuid::Uuid;

use super::Workload;
use crate::contract::Harness;
use crate::contract::harness::{after_s, walk, walk_deliveries, walk_events};

impl Workload {
    pub(super) async fn compare(&self, h: &Harness) {
        for account in self.accounts.iter().copied() {
            let expected = cais_ports::BalanceQueries::balances(&self.model, account).await;
            assert_eq!(h.store.balances(account).await, expected);
            let expected = self.model.last_sequence(account).await;
            assert_eq!(h.store.last_sequence(account).await, expected);
            let expected = self.model.list_charges(account, first(200)).await;
            assert_eq!(h.store.list_charges(account, first(200)).await, expected);
            let expected = self.model.list_payouts(account, first(200)).await;
            assert_eq!(h.store.list_payouts(account, first(200)).await, expected);
            self.compare_statement(h, account).await;
            self.compare_timeline(h, account).await;
            self.compare_events(h, account).await;
        }
        self.compare_money_out(h).await;
        self.compare_disputes(h).await;
        for name in &self.keys {
            let mut stored = h.store.find_idempotency_record(name).await.unwrap();
            let mut expected = self.model.find_idempotency_record(name).await.unwrap();
            for record in [&mut stored, &mut expected].into_iter().flatten() {
                // The lease of an answered record has no meaning, so the stores may keep different values.
                record.lease_until = record.answer.as_ref().map_or(record.lease_until, |_| after_s(0));
            }
            assert_eq!(stored, expected);
        }
        assert_eq!(self.model.verify_ledger().await.unwrap().differences, []);
        h.audit().await;
    }

    /// Compares the statements. Each store assigns its own entry ids; all other fields must be equal.
    async fn compare_statement(&self, h: &Harness, account: AccountId) {
        let filter = EntryFilter::default();
        let unnamed = |line: StatementEntry| StatementEntry { id: Id::new(Uuid::nil()), ..line };
        let id = |line: &StatementEntry| line.id;
        let stored = walk(50, id, async |page| h.store.list_entries(account, filter, page).await.unwrap()).await;
        let expected = walk(50, id, async |page| self.model.list_entries(account, filter, page).await.unwrap()).await;
        assert!(stored.into_iter().map(unnamed).eq(expected.into_iter().map(unnamed)));
    }

    async fn compare_timeline(&self, h: &Harness, account: AccountId) {
        let unnamed = |transaction| match transaction {
            Transaction::SplitCredit(credit) => {
                Transaction::SplitCredit(SplitCredit { id: Id::new(Uuid::nil()), ..credit })
            }
            own @ (Transaction::Charge(_) | Transaction::Payout(_)) => own,
        };
        for direction in Direction::ALL {
            let filter = TransactionFilter { direction: Some(direction), ..TransactionFilter::default() };
            let read = async |page| h.store.list_transactions(account, filter, page).await.unwrap();
            let stored = walk(50, Transaction::key, read).await;
            let read = async |page| self.model.list_transactions(account, filter, page).await.unwrap();
            let expected = walk(50, Transaction::key, read).await;
            assert!(stored.into_iter().map(unnamed).eq(expected.into_iter().map(unnamed)), "{direction:?}");
        }
    }

    /// Compares the events byte for byte, and the webhook endpoints with their deliveries.
    async fn compare_events(&self, h: &Harness, account: AccountId) {
        for after_sequence in [None, Some(3)] {
            let filter = EventFilter { kind: None, after_sequence };
            let expected = walk_events(&self.model, account, filter, 50).await;
            assert_eq!(walk_events(&*h.store, account, filter, 50).await, expected);
        }
        for endpoint in self.model.endpoints().into_iter().filter(|endpoint| endpoint.account == account) {
            assert_eq!(h.store.find_endpoint(account, endpoint.id).await, Ok(Some(endpoint.clone())));
            let stored = walk_deliveries(&*h.store, account, endpoint.id).await;
            let expected = walk_deliveries(&self.model, account, endpoint.id).await;
            let unnamed = |deliveries: Vec<Delivery>| -> BTreeMap<_, _> {
                let of = |delivery: Delivery| (delivery.event, (delivery.kind, delivery.status));
                deliveries.into_iter().map(of).collect()
            };
            assert_eq!(stored.len(), expected.len(), "deliveries to {}", endpoint.id);
            assert_eq!(unnamed(stored), unnamed(expected));
        }
    }

    /// Compares infractions and their blocks.
    async fn compare_disputes(&self, h: &Harness) {
        for infraction in self.model.infractions() {
            let (account, id) = (infraction.account, infraction.id);
            let expected = self.model.find_block(account, id).await;
            assert_eq!(h.store.find_block(account, id).await, expected);
            assert_eq!(h.store.find_infraction(account, id).await, Ok(Some(infraction)));
        }
    }

    /// Compares payouts and refunds, also those that no list shows, and the lists of due payouts and releases.
    async fn compare_money_out(&self, h: &Harness) {
        for (account, id) in self.payouts.iter().copied() {
            let expected = self.model.find_payout(account, id).await;
            assert_eq!(h.store.find_payout(account, id).await, expected);
        }
        for (account, id) in self.refunds.iter().copied() {
            let expected = self.model.find_refund(account, id).await;
            assert_eq!(h.store.find_refund(account, id).await, expected);
        }
        for charge in &self.charges {
            let expected = self.model.list_refunds(charge.account, charge.id, first(200)).await;
            let stored = h.store.list_refunds(charge.account, charge.id, first(200)).await;
            assert_eq!(stored, expected);
        }
        // Rows that are due at the same instant may have any order. The tested store also has rows of earlier seeds.
        let now = after_s(100_000);
        let mut due = h.store.list_due_payouts(now, 500).await.unwrap();
        let mut expected = self.model.list_due_payouts(now, 500).await.unwrap();
        due.retain(|payout| self.accounts.contains(&payout.account));
        due.sort_by_key(|payout| payout.id);
        expected.sort_by_key(|payout| payout.id);
        assert_eq!(due, expected);
        let mut due = h.store.list_due_releases(now, 500).await.unwrap();
        let mut expected = self.model.list_due_releases(now, 500).await.unwrap();
        due.retain(|release| self.accounts.contains(&release.account));
        due.sort_by(|one, other| one.end_to_end_id.cmp(&other.end_to_end_id));
        expected.sort_by(|one, other| one.end_to_end_id.cmp(&other.end_to_end_id));
        assert_eq!(due, expected);
    }
}

const fn first<I>(limit: u32) -> PageRequest<I> {
    PageRequest { limit, starting_after: None }
}
