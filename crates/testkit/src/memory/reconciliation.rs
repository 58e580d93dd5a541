//! The reads of reconciliation from the store in memory.

use std::collections::BTreeSet;

use async_trait::async_trait;
use cais_domain::acquirer_name::AcquirerName;
use cais_domain::crypto::deposit::DepositPayment;
use cais_domain::crypto::{ProcessorId, Withdrawal};
use cais_domain::end_to_end_id::EndToEndId;
use cais_domain::ids::{CryptoWithdrawalId, PayoutId};
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
        acquirer: &AcquirerName,
        from: Timestamp,
        until: Timestamp,
        after: Option<(Timestamp, EndToEndId)>,
        limit: u32,
    ) -> Result<Vec<CreditedPayment>, QueryError> {
        let state = self.read_span(from, until)?;
        let span = Span { from: Some(from), until: Some(until) };
        let place = |paid: &CreditedPayment| (paid.payment.paid_at, paid.payment.end_to_end_id.clone());
        let received = state.tables.payments.values().filter(|paid| {
            paid.payment.acquirer == *acquirer
                && span.contains(paid.payment.paid_at)
                && after.as_ref().is_none_or(|after| place(paid) > *after)
        });
        let mut received: Vec<&CreditedPayment> = received.collect();
        received.sort_by_cached_key(|paid| place(paid));
        Ok(received.into_iter().take(count(limit)).cloned().collect())
    }

    async fn list_payouts_between(
        &self,
        acquirer: &AcquirerName,
        from: Timestamp,
        until: Timestamp,
        after: Option<PayoutId>,
        limit: u32,
    ) -> Result<Vec<Payout>, QueryError> {
        let state = self.read_span(from, until)?;
        let span = Span { from: Some(from), until: Some(until) };
        let requested = state.tables.payouts.values().filter(|payout| {
            payout.state.acquirer() == acquirer
                && span.contains(payout.created_at)
                && after.is_none_or(|after| payout.id > after)
        });
        let mut requested: Vec<&Payout> = requested.collect();
        requested.sort_by_key(|payout| payout.id);
        Ok(requested.into_iter().take(count(limit)).cloned().collect())
    }

    async fn list_crypto_payments_between(
        &self,
        processor: &AcquirerName,
        from: Timestamp,
        until: Timestamp,
        after: Option<(Timestamp, ProcessorId)>,
        limit: u32,
    ) -> Result<Vec<DepositPayment>, QueryError> {
        let state = self.read_span(from, until)?;
        let span = Span { from: Some(from), until: Some(until) };
        let place = |payment: &DepositPayment| (payment.created_at, payment.id.clone());
        let seen = state.tables.crypto_payments.values().filter(|payment| {
            payment.processor == *processor
                && span.contains(payment.created_at)
                && after.as_ref().is_none_or(|after| place(payment) > *after)
        });
        let mut seen: Vec<&DepositPayment> = seen.collect();
        seen.sort_by_cached_key(|payment| place(payment));
        Ok(seen.into_iter().take(count(limit)).cloned().collect())
    }

    async fn list_crypto_withdrawals_between(
        &self,
        processor: &AcquirerName,
        from: Timestamp,
        until: Timestamp,
        after: Option<CryptoWithdrawalId>,
        limit: u32,
    ) -> Result<Vec<Withdrawal>, QueryError> {
        let state = self.read_span(from, until)?;
        let span = Span { from: Some(from), until: Some(until) };
        let requested = state.tables.crypto_withdrawals.values().filter(|withdrawal| {
            withdrawal.processor == *processor
                && span.contains(withdrawal.created_at)
                && after.is_none_or(|after| withdrawal.id > after)
        });
        let mut requested: Vec<&Withdrawal> = requested.collect();
        requested.sort_by_key(|withdrawal| withdrawal.id);
        Ok(requested.into_iter().take(count(limit)).cloned().collect())
    }

    async fn find_acquirers(&self, from: Timestamp, until: Timestamp) -> Result<Vec<AcquirerName>, QueryError> {
        let state = self.read_span(from, until)?;
        let span = Span { from: Some(from), until: Some(until) };
        let received = state.tables.payments.values().filter(|paid| span.contains(paid.payment.paid_at));
        let sent = state.tables.payouts.values().filter(|payout| span.contains(payout.created_at));
        let seen = state.tables.crypto_payments.values().filter(|payment| span.contains(payment.created_at));
        let withdrawn = state.tables.crypto_withdrawals.values().filter(|one| span.contains(one.created_at));
        let pix = received.map(|paid| &paid.payment.acquirer).chain(sent.map(|payout| payout.state.acquirer()));
        let coins = seen.map(|payment| &payment.processor).chain(withdrawn.map(|withdrawal| &withdrawal.processor));
        let names = pix.chain(coins);
        Ok(names.collect::<BTreeSet<_>>().into_iter().cloned().collect())
    }
}
