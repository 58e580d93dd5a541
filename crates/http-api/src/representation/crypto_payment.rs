//! The bodies of payments to crypto deposits.

use cais_domain::crypto::Deposit;
use cais_domain::crypto::deposit::{ArrivedCoins, DepositPayment, PaymentResolution, PaymentReview, PaymentState};
use serde::Serialize;
use utoipa::ToSchema;

use super::values::{Amount, Instant, closed_list};

closed_list! {
    /// The status of a payment. `in_review`: an operator of the service must decide, and not all coins that arrived are credited.
    CryptoPaymentStatus ["credited", "in_review", "dismissed"]
}

closed_list! {
    /// The relation of a payment to its deposit. `late`: after `expires_at`. `repeated`: a further payment to the address before
    /// `expires_at`. The other values compare the coins of the payment with the requested coins.
    CryptoPaymentResolution PaymentResolution::ALL.map(PaymentResolution::as_str)
}

closed_list! {
    /// The reason for which an operator must decide.
    CryptoPaymentReview PaymentReview::ALL.map(PaymentReview::as_str)
}

/// A payment to the address of a crypto deposit.
#[derive(Serialize, ToSchema)]
pub struct CryptoDepositPayment {
    /// The currency of the coins. Coins of a currency that the service does not support have the processor's code.
    pub currency: String,
    /// The coins that arrived, a decimal.
    pub received_amount: String,
    /// The BRL credited for the payment, before the fee; 0.00 while nothing is credited.
    #[schema(inline)]
    pub credited_amount: Amount,
    /// The part of the service's fee for the payment, in BRL.
    #[schema(inline)]
    pub fee: Amount,
    /// The status.
    #[schema(value_type = CryptoPaymentStatus)]
    pub status: &'static str,
    /// The relation of the payment to its deposit.
    #[schema(value_type = CryptoPaymentResolution)]
    pub resolution: &'static str,
    /// The reason for which an operator must decide; null unless `in_review`. `too_late`: more than an hour after `expires_at`.
    /// `too_many_coins`: more than twice the requested coins. `unexpected_state`: the deposit or the payment had already ended.
    /// `fewer_coins`: the processor now shows fewer coins than were credited. `not_finished`: the processor may not have the coins.
    #[schema(value_type = Option<CryptoPaymentReview>, required)]
    pub review_reason: Option<&'static str>,
    /// The hash of the transaction on the chain, once reported.
    #[schema(required)]
    pub tx_hash: Option<String>,
    /// Time at which the service first saw the payment.
    #[schema(value_type = String, format = DateTime)]
    pub received_at: Instant,
}

/// The payments of a deposit.
#[derive(Serialize, ToSchema)]
pub struct CryptoDepositPaymentList {
    /// The rows.
    pub data: Vec<CryptoDepositPayment>,
}

impl CryptoDepositPaymentList {
    /// Returns the payments of the deposit.
    #[must_use]
    pub fn of(deposit: &Deposit, payments: &[DepositPayment]) -> Self {
        Self { data: payments.iter().map(|payment| row(deposit, payment)).collect() }
    }
}

fn row(deposit: &Deposit, payment: &DepositPayment) -> CryptoDepositPayment {
    let (currency, received_amount) = match &payment.coins {
        ArrivedCoins::Supported(coins) => (coins.currency().code().to_owned(), coins.to_string()),
        ArrivedCoins::Unsupported { currency, amount } => (currency.clone(), amount.clone()),
    };
    let (status, review_reason) = match payment.state {
        PaymentState::Credited => ("credited", None),
        PaymentState::Review(reason) => ("in_review", Some(reason.as_str())),
        PaymentState::Dismissed(_) => ("dismissed", None),
    };
    CryptoDepositPayment {
        currency,
        received_amount,
        credited_amount: Amount(payment.gross),
        fee: Amount(payment.fee),
        status,
        resolution: deposit.resolution_of(payment).as_str(),
        review_reason,
        tx_hash: payment.tx_hash.clone(),
        received_at: Instant(payment.created_at),
    }
}
