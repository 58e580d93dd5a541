//! What reconciliation reads over all accounts, a page at a time.

use async_trait::async_trait;
use cais_domain::end_to_end_id::EndToEndId;
use cais_domain::ids::PayoutId;
use cais_domain::payment::CreditedPayment;
use cais_domain::payout::Payout;
use cais_ports::{QueryError, ReconciliationQueries, Span};
use jiff::Timestamp;

use super::page::Reach;
use crate::Persistence;
use crate::rows::payment;
use crate::rows::payout::{self, payout_columns};
use crate::sql::Query;

#[async_trait]
impl ReconciliationQueries for Persistence {
    async fn list_payments_between(
        &self,
        from: Timestamp,
        until: Timestamp,
        after: Option<EndToEndId>,
        limit: u32,
    ) -> Result<Vec<CreditedPayment>, QueryError> {
        self.pool()
            .read(move |session| {
                let text = format!(
                    "SELECT {} FROM payments WHERE paid_at >= ? AND paid_at < ? AND end_to_end_id > ? ORDER BY end_to_end_id LIMIT ?",
                    payment::COLUMNS
                );
                let after = after.as_ref().map_or("", EndToEndId::as_str);
                let query = Query::new(text).bind(from).bind(until).bind(after).bind(limit);
                session.payments(&query)?.into_iter().map(payment::read).collect()
            })
            .await
    }

    async fn list_payouts_between(
        &self,
        from: Timestamp,
        until: Timestamp,
        after: Option<PayoutId>,
        limit: u32,
    ) -> Result<Vec<Payout>, QueryError> {
        // The expression is that of an index which is there for this alone.
        const TEXT: &str = concat!(
            "SELECT ",
            payout_columns!(),
            " FROM payouts AS p WHERE p.id || '' > ? AND p.id || '' < ? AND p.created_at >= ? AND p.created_at < ? ORDER BY p.id || '' LIMIT ?"
        );
        self.pool()
            .read(move |session| {
                let reach =
                    Reach::new::<cais_domain::ids::kind::Payout>(Span { from: Some(from), until: Some(until) }, None);
                let least = after.map_or(reach.least.clone(), |after| after.to_string().max(reach.least.clone()));
                let query = Query::new(TEXT).bind(least).bind(reach.below).bind(from).bind(until).bind(limit);
                session.payouts(&query)?.into_iter().map(payout::read).collect()
            })
            .await
    }
}
