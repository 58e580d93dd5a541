//! Reads crypto quotes, deposits, payments and withdrawals. Both engines execute the same queries.

use async_trait::async_trait;
use cais_domain::acquirer_name::AcquirerName;
use cais_domain::crypto::deposit::DepositPayment;
use cais_domain::crypto::{Currency, Deposit, ProcessorId, Quote, Withdrawal};
use cais_domain::ids::{AccountId, CryptoDepositId, CryptoWithdrawalId};
use cais_ports::{
    CryptoDepositQueries, CryptoQuoteQueries, CryptoWithdrawalQueries, Page, PageRequest, QueryError, ReservationKey,
};
use jiff::Timestamp;

use diesel::prelude::*;

use super::page::{after, one_more, with_spare};
use crate::Persistence;
use crate::rows::Record as _;
use crate::rows::crypto::deposit::{DepositRow, crypto_deposits};
use crate::rows::crypto::payment::{PaymentRow, crypto_payments};
use crate::rows::crypto::quote::{QuoteRow, crypto_quotes};
use crate::rows::crypto::withdrawal::{WithdrawalRow, crypto_withdrawals};
use crate::rows::reservation::global_reservations;
use crate::sql::select::{ExpressionIndex, Select, is_none_of, is_one_of};

diesel::allow_tables_to_appear_in_same_query!(global_reservations, crypto_deposits);

fn newest_quote(currency: Currency) -> impl Select<QuoteRow<'static>> {
    crypto_quotes::table.filter(crypto_quotes::currency.eq(currency.code())).order(crypto_quotes::id.desc()).limit(1)
}

fn deposits_of(account: AccountId, page: PageRequest<CryptoDepositId>) -> impl Select<DepositRow<'static>> {
    crypto_deposits::table
        .filter(crypto_deposits::account_id.eq(account.to_string()))
        .filter(crypto_deposits::id.lt(after(page)))
        .filter(is_none_of(crypto_deposits::status, ["creating", "abandoned"]))
        .order(crypto_deposits::id.desc())
        .limit(one_more(page))
}

fn due_deposits(from: i64, until: i64, most: i64) -> impl Select<DepositRow<'static>> {
    crypto_deposits::table
        .filter(crypto_deposits::due_at.is_not_null())
        .filter(crypto_deposits::due_at.between(from, until))
        .order((crypto_deposits::due_at, crypto_deposits::id))
        .limit(most)
}

fn payments_of(account: AccountId, deposit: CryptoDepositId, limit: u32) -> impl Select<PaymentRow<'static>> {
    crypto_payments::table
        .filter(crypto_payments::account_id.eq(account.to_string()))
        .filter(crypto_payments::deposit_id.eq(deposit.to_string()))
        .order(crypto_payments::payment_id)
        .limit(i64::from(limit))
}

fn payments_for_review(limit: u32) -> impl Select<PaymentRow<'static>> {
    crypto_payments::table
        .filter(is_one_of(crypto_payments::state, ["review"]))
        .order((crypto_payments::created_at, crypto_payments::payment_id))
        .limit(with_spare(limit))
}

fn withdrawals_of(account: AccountId, page: PageRequest<CryptoWithdrawalId>) -> impl Select<WithdrawalRow<'static>> {
    crypto_withdrawals::table
        .filter(crypto_withdrawals::account_id.eq(account.to_string()))
        .filter(crypto_withdrawals::id.lt(after(page)))
        .filter(is_none_of(crypto_withdrawals::status, ["pending", "abandoned"]))
        .order(crypto_withdrawals::id.desc())
        .limit(one_more(page))
}

fn due_withdrawals(from: i64, until: i64, most: i64) -> impl Select<WithdrawalRow<'static>> {
    crypto_withdrawals::table
        .filter(crypto_withdrawals::due_at.is_not_null())
        .filter(crypto_withdrawals::due_at.between(from, until))
        .order((crypto_withdrawals::due_at, crypto_withdrawals::id))
        .limit(most)
}

fn withdrawals_for_review(limit: u32) -> impl Select<WithdrawalRow<'static>> {
    crypto_withdrawals::table
        .filter(crypto_withdrawals::review_since.is_not_null())
        .order((crypto_withdrawals::review_since, crypto_withdrawals::id))
        .limit(with_spare(limit))
}

#[async_trait]
impl CryptoQuoteQueries for Persistence {
    async fn find_newest_crypto_quote(&self, currency: Currency) -> Result<Option<Quote>, QueryError> {
        self.find(newest_quote(currency), Quote::read).await
    }
}

#[async_trait]
impl CryptoDepositQueries for Persistence {
    async fn find_crypto_deposit_of_payment(
        &self,
        processor: &AcquirerName,
        payment: &ProcessorId,
    ) -> Result<Option<Deposit>, QueryError> {
        let key = ReservationKey::crypto_payment(processor, payment);
        let owner = crypto_deposits::account_id
            .eq(global_reservations::account_id)
            .and(crypto_deposits::id.eq(global_reservations::owner));
        let query = global_reservations::table
            .inner_join(crypto_deposits::table.on(owner))
            .filter(is_one_of(global_reservations::space, ["crypto_payment"]))
            .filter(global_reservations::value.eq(key.value().to_owned()))
            .select(crypto_deposits::all_columns);
        self.find(query, Deposit::read).await
    }

    async fn list_crypto_deposits(
        &self,
        account: AccountId,
        page: PageRequest<CryptoDepositId>,
    ) -> Result<Page<Deposit>, QueryError> {
        self.page(deposits_of(account, page), Deposit::read, page).await
    }

    async fn list_due_crypto_deposits(&self, now: Timestamp, limit: u32) -> Result<Vec<Deposit>, QueryError> {
        self.due(due_deposits, Deposit::read, now, limit).await
    }

    async fn list_deposit_payments(
        &self,
        account: AccountId,
        deposit: CryptoDepositId,
        limit: u32,
    ) -> Result<Vec<DepositPayment>, QueryError> {
        self.list(payments_of(account, deposit, limit), DepositPayment::read).await
    }

    async fn list_payments_for_review(&self, limit: u32) -> Result<Vec<DepositPayment>, QueryError> {
        self.work(payments_for_review(limit), DepositPayment::read, limit).await
    }
}

#[async_trait]
impl CryptoWithdrawalQueries for Persistence {
    async fn find_crypto_withdrawal_of_any(&self, id: CryptoWithdrawalId) -> Result<Option<Withdrawal>, QueryError> {
        let query = crypto_withdrawals::table.filter(ExpressionIndex::new(crypto_withdrawals::id).eq(id.to_string()));
        self.find(query, Withdrawal::read).await
    }

    async fn find_crypto_withdrawal_of_batch(
        &self,
        processor: &AcquirerName,
        batch: &ProcessorId,
    ) -> Result<Option<Withdrawal>, QueryError> {
        let query = crypto_withdrawals::table
            .filter(crypto_withdrawals::batch_id.eq(batch.as_str().to_owned()))
            .filter(crypto_withdrawals::processor.eq(processor.as_str().to_owned()));
        self.find(query, Withdrawal::read).await
    }

    async fn list_crypto_withdrawals(
        &self,
        account: AccountId,
        page: PageRequest<CryptoWithdrawalId>,
    ) -> Result<Page<Withdrawal>, QueryError> {
        self.page(withdrawals_of(account, page), Withdrawal::read, page).await
    }

    async fn list_due_crypto_withdrawals(&self, now: Timestamp, limit: u32) -> Result<Vec<Withdrawal>, QueryError> {
        self.due(due_withdrawals, Withdrawal::read, now, limit).await
    }

    async fn list_withdrawals_for_review(&self, limit: u32) -> Result<Vec<Withdrawal>, QueryError> {
        self.work(withdrawals_for_review(limit), Withdrawal::read, limit).await
    }
}

#[cfg(test)]
pub(super) fn lists() -> Vec<super::walks::List> {
    use cais_domain::ids::AccountId;

    use super::page::first;
    use super::walks::list;

    let account = AccountId::new(uuid::Uuid::nil());
    vec![
        list(&newest_quote(Currency::Btc), "'btc', 1"),
        list(&deposits_of(account, first()), "'acc_a', '~', 51"),
        list(&due_deposits(0, 0, 0), "0, 100000, 82"),
        list(&payments_of(account, CryptoDepositId::new(uuid::Uuid::nil()), 50), "'acc_a', 'cdp_00001', 50"),
        list(&payments_for_review(50), "82"),
        list(&withdrawals_of(account, first()), "'acc_a', '~', 51"),
        list(&due_withdrawals(0, 0, 0), "0, 100000, 82"),
        list(&withdrawals_for_review(50), "82"),
    ]
}
