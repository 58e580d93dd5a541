//! What reconciliation reads from the store in memory.

use std::ops::Bound;

use async_trait::async_trait;
use cais_domain::end_to_end_id::EndToEndId;
use cais_domain::ids::PayoutId;
use cais_domain::payment::CreditedPayment;
use cais_domain::payout::Payout;
use cais_ports::{QueryError, ReconciliationQueries, Span};
use jiff::Timestamp;

use super::MemoryStore;
use super::queries::count;

#[async_trait]
impl ReconciliationQueries for MemoryStore {
    async fn list_payments_between(
        &self,
        from: Timestamp,
        until: Timestamp,
        after: Option<EndToEndId>,
        limit: u32,
    ) -> Result<Vec<CreditedPayment>, QueryError> {
        let state = self.read()?;
        let span = Span { from: Some(from), until: Some(until) };
        let following = state.payments.range(beyond(after)).map(|(_, paid)| paid);
        let received = following.filter(|paid| span.contains(paid.payment.paid_at));
        Ok(received.take(count(limit)).cloned().collect())
    }

    async fn list_payouts_between(
        &self,
        from: Timestamp,
        until: Timestamp,
        after: Option<PayoutId>,
        limit: u32,
    ) -> Result<Vec<Payout>, QueryError> {
        let state = self.read()?;
        let span = Span { from: Some(from), until: Some(until) };
        let following = state.payouts.range(beyond(after)).map(|(_, payout)| payout);
        let asked_for = following.filter(|payout| span.contains(payout.created_at));
        Ok(asked_for.take(count(limit)).cloned().collect())
    }
}

/// Everything that is greater; all there is without anything to compare with.
fn beyond<K>(after: Option<K>) -> (Bound<K>, Bound<K>) {
    (after.map_or(Bound::Unbounded, Bound::Excluded), Bound::Unbounded)
}
