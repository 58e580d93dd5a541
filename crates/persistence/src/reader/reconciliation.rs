//! The reads of reconciliation over all accounts, a page at a time.

use async_trait::async_trait;
use cais_domain::acquirer_name::AcquirerName;
use cais_domain::crypto::deposit::DepositPayment;
use cais_domain::crypto::{ProcessorId, Withdrawal};
use cais_domain::end_to_end_id::EndToEndId;
use cais_domain::ids::{CryptoWithdrawalId, IdKind, PayoutId, kind};
use cais_domain::payment::CreditedPayment;
use cais_domain::payout::Payout;
use cais_ports::{QueryError, ReconciliationQueries, Span};
use jiff::Timestamp;

use super::page::Reach;
use crate::Persistence;
use crate::rows::crypto::payment::PaymentRow;
use crate::rows::crypto::withdrawal::WithdrawalRow;
use crate::rows::payout::PayoutRow;
use crate::rows::{Record as _, acquirer, payment};
use crate::sql::Query;
use crate::sql::table::names;

/// Selects one acquirer's payments of a span, in the order of instant and end-to-end id. The page begins behind the last row of the
/// previous page.
const PAYMENTS: &str = " FROM payments AS p WHERE p.acquirer = ? AND (p.paid_at, p.end_to_end_id) > (?, ?) AND p.paid_at < ? \
     ORDER BY p.paid_at, p.end_to_end_id LIMIT ?";
/// Selects one acquirer's payouts of a span, in the order of their ids. The expression `p.id || ''` has an index that only reconciliation
/// uses.
const PAYOUTS: &str = " FROM payouts AS p WHERE p.id || '' > ? AND p.id || '' < ? AND p.created_at >= ? AND p.created_at < ? AND p.acquirer = ? \
     ORDER BY p.id || '' LIMIT ?";
/// Selects one processor's crypto payments of a span, in the order of instant and identifier. The page begins behind the last row of the
/// previous page.
const CRYPTO_PAYMENTS: &str = " FROM crypto_payments AS p WHERE p.processor || '' = ? AND (p.created_at, p.payment_id) > (?, ?) \
     AND p.created_at < ? ORDER BY p.created_at, p.payment_id LIMIT ?";
/// Selects one processor's crypto withdrawals of a span, in the order of their ids. The expression `w.id || ''` has an index that no list
/// of an account uses.
const CRYPTO_WITHDRAWALS: &str = " FROM crypto_withdrawals AS w WHERE w.id || '' > ? AND w.id || '' < ? AND w.created_at >= ? \
     AND w.created_at < ? AND w.processor = ? ORDER BY w.id || '' LIMIT ?";
/// Selects the acquirers with a payment or a payout in the span. For payments, the query goes from one acquirer to the next along an index.
const ACQUIRERS: &str = "WITH RECURSIVE names (name) AS (SELECT min(acquirer) FROM payments UNION ALL \
     SELECT (SELECT min(m.acquirer) FROM payments AS m WHERE m.acquirer > n.name) FROM names AS n WHERE n.name IS NOT NULL) \
     SELECT n.name FROM names AS n WHERE (SELECT p.paid_at FROM payments AS p WHERE p.acquirer = n.name AND p.paid_at >= ? \
     ORDER BY p.paid_at LIMIT 1) < ? \
     UNION SELECT p.acquirer FROM payouts AS p WHERE p.id || '' > ? AND p.id || '' < ? AND p.created_at >= ? AND p.created_at < ?";
/// Finds crypto processors as [`ACQUIRERS`] finds acquirers.
const PROCESSORS: &str = "WITH RECURSIVE names (name) AS (SELECT min(processor || '') FROM crypto_payments UNION ALL \
     SELECT (SELECT min(m.processor || '') FROM crypto_payments AS m WHERE m.processor || '' > n.name) FROM names AS n WHERE n.name IS NOT NULL) \
     SELECT n.name FROM names AS n WHERE (SELECT p.created_at FROM crypto_payments AS p WHERE p.processor || '' = n.name \
     AND p.created_at >= ? ORDER BY p.created_at LIMIT 1) < ? \
     UNION SELECT w.processor FROM crypto_withdrawals AS w WHERE w.id || '' > ? AND w.id || '' < ? AND w.created_at >= ? AND w.created_at < ?";

#[async_trait]
impl ReconciliationQueries for Persistence {
    async fn list_payments_between(
        &self,
        acquirer: &AcquirerName,
        from: Timestamp,
        until: Timestamp,
        after: Option<(Timestamp, EndToEndId)>,
        limit: u32,
    ) -> Result<Vec<CreditedPayment>, QueryError> {
        let acquirer = acquirer.clone();
        self.pool()
            .read(move |session| {
                let after = after.filter(|(at, _)| *at >= from);
                let (from, behind) = after.as_ref().map_or((from, ""), |(at, pix)| (*at, pix.as_str()));
                let query = Query::new(format!("SELECT {}{PAYMENTS}", payment::columns())).bind(acquirer.as_str());
                let query = query.bind(from).bind(behind).bind(until).bind(limit);
                session.load(&query)?.into_iter().map(payment::read).collect()
            })
            .await
    }

    async fn list_payouts_between(
        &self,
        acquirer: &AcquirerName,
        from: Timestamp,
        until: Timestamp,
        after: Option<PayoutId>,
        limit: u32,
    ) -> Result<Vec<Payout>, QueryError> {
        let acquirer = acquirer.clone();
        self.pool()
            .read(move |session| {
                let reach = reach::<kind::Payout>(from, until);
                let least = after.map_or(reach.least.clone(), |after| after.to_string().max(reach.least.clone()));
                let query = Query::new(payouts_text()).bind(least).bind(reach.below).bind(from).bind(until);
                let query = query.bind(acquirer.as_str()).bind(limit);
                session.load(&query)?.into_iter().map(Payout::read).collect()
            })
            .await
    }

    async fn list_crypto_payments_between(
        &self,
        processor: &AcquirerName,
        from: Timestamp,
        until: Timestamp,
        after: Option<(Timestamp, ProcessorId)>,
        limit: u32,
    ) -> Result<Vec<DepositPayment>, QueryError> {
        let processor = processor.clone();
        self.pool()
            .read(move |session| {
                let after = after.filter(|(at, _)| *at >= from);
                let (from, behind) = after.as_ref().map_or((from, ""), |(at, id)| (*at, id.as_str()));
                let query = Query::new(crypto_payments_text()).bind(processor.as_str());
                let query = query.bind(from).bind(behind).bind(until).bind(limit);
                session.load(&query)?.into_iter().map(DepositPayment::read).collect()
            })
            .await
    }

    async fn list_crypto_withdrawals_between(
        &self,
        processor: &AcquirerName,
        from: Timestamp,
        until: Timestamp,
        after: Option<CryptoWithdrawalId>,
        limit: u32,
    ) -> Result<Vec<Withdrawal>, QueryError> {
        let processor = processor.clone();
        self.pool()
            .read(move |session| {
                let reach = reach::<kind::CryptoWithdrawal>(from, until);
                let least = after.map_or(reach.least.clone(), |after| after.to_string().max(reach.least.clone()));
                let query = Query::new(crypto_withdrawals_text()).bind(least).bind(reach.below).bind(from).bind(until);
                let query = query.bind(processor.as_str()).bind(limit);
                session.load(&query)?.into_iter().map(Withdrawal::read).collect()
            })
            .await
    }

    async fn find_acquirers(&self, from: Timestamp, until: Timestamp) -> Result<Vec<AcquirerName>, QueryError> {
        self.pool()
            .read(move |session| {
                let mut names = Vec::new();
                for (text, reach) in [
                    (ACQUIRERS, reach::<kind::Payout>(from, until)),
                    (PROCESSORS, reach::<kind::CryptoWithdrawal>(from, until)),
                ] {
                    let query = Query::new(text).bind(from).bind(until).bind(reach.least).bind(reach.below);
                    let found: Vec<String> = session.load(&query.bind(from).bind(until))?;
                    for name in &found {
                        names.push(acquirer("payments, payouts or crypto records", name)?);
                    }
                }
                names.sort_unstable();
                names.dedup();
                Ok(names)
            })
            .await
    }
}

fn payouts_text() -> String {
    format!("SELECT {}{PAYOUTS}", names::<PayoutRow<'_>>("p"))
}

fn crypto_payments_text() -> String {
    format!("SELECT {}{CRYPTO_PAYMENTS}", names::<PaymentRow<'_>>("p"))
}

fn crypto_withdrawals_text() -> String {
    format!("SELECT {}{CRYPTO_WITHDRAWALS}", names::<WithdrawalRow<'_>>("w"))
}

/// Returns the range of the ids of records that were created in a span.
fn reach<K: IdKind>(from: Timestamp, until: Timestamp) -> Reach {
    Reach::new::<K>(Span { from: Some(from), until: Some(until) }, None)
}

#[cfg(test)]
pub(super) fn lists() -> Vec<super::walks::List> {
    vec![
        (format!("SELECT {}{PAYMENTS}", payment::columns()), "'main', 5000, 'E05000', 20000, 51"),
        (payouts_text(), "'pay_05000', '~', 0, 100000, 'main', 51"),
        (ACQUIRERS.to_owned(), "5000, 20000, 'pay_09900', '~', 0, 100000"),
        (crypto_payments_text(), "'now', 5000, '', 20000, 51"),
        (crypto_withdrawals_text(), "'cwd_05000', '~', 0, 100000, 'now', 51"),
        (PROCESSORS.to_owned(), "5000, 20000, 'cwd_09900', '~', 0, 100000"),
    ]
}

#[cfg(test)]
mod tests {
    use super::super::plans::Planner;
    use super::*;

    #[test]
    fn pages_are_read_along_an_index_without_a_sort() {
        let mut planner = Planner::new();
        let payments = planner.plan(&format!("SELECT {}{PAYMENTS}", payment::columns()));
        let along = "payments_by_time (acquirer=? AND (paid_at,end_to_end_id)>(?,?)";
        assert!(payments.iter().any(|step| step.contains(along)), "{payments:?}");
        assert!(payments.iter().all(|step| !step.contains("TEMP B-TREE FOR ORDER BY")), "{payments:?}");
        let payouts = planner.plan(&payouts_text());
        assert!(payouts.len() == 1 && payouts.iter().all(|step| step.contains("payouts_by_id")), "{payouts:?}");
        let acquirers = planner.plan(ACQUIRERS);
        for index in ["payments_by_time", "payouts_by_id"] {
            assert!(acquirers.iter().any(|step| step.contains(index)), "{acquirers:?}");
        }
        let payments = planner.plan(&crypto_payments_text());
        let along = "crypto_payments_by_time (<expr>=? AND (created_at,payment_id)>(?,?)";
        assert!(payments.iter().any(|step| step.contains(along)), "{payments:?}");
        assert!(payments.iter().all(|step| !step.contains("TEMP B-TREE FOR ORDER BY")), "{payments:?}");
        let withdrawals = planner.plan(&crypto_withdrawals_text());
        assert!(
            withdrawals.len() == 1 && withdrawals.iter().all(|step| step.contains("crypto_withdrawals_by_id")),
            "{withdrawals:?}"
        );
        let processors = planner.plan(PROCESSORS);
        for index in ["crypto_payments_by_time", "crypto_withdrawals_by_id"] {
            assert!(processors.iter().any(|step| step.contains(index)), "{processors:?}");
        }
    }
}
