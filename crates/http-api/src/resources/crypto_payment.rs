//! The bodies of payments to crypto deposits.

use cais_domain::crypto::Deposit;
use cais_domain::crypto::deposit::{ArrivedCoins, DepositPayment, PaymentResolution, PaymentReview, PaymentState};
use serde::Serialize;
use utoipa::ToSchema;

use super::values::{Amount, Instant, closed_list};

closed_list! {
    /// The status of a payment. `in_review`: an operator of the service must decide. `dismissed`: an operator decided to credit no
    /// further coins of the payment.
    CryptoPaymentStatus ["credited", "in_review", "dismissed"]
}

closed_list! {
    /// The comparison of a payment with its deposit. `late`: the payment arrived after `expires_at`. `repeated`: the payment is a
    /// further one to the same address, before `expires_at`. The other values compare the coins with the requested coins.
    CryptoPaymentResolution PaymentResolution::ALL.map(PaymentResolution::as_str)
}

closed_list! {
    /// The reason why an operator must decide about a payment.
    CryptoPaymentReview PaymentReview::ALL.map(PaymentReview::as_str)
}

/// A payment to the address of a crypto deposit.
#[derive(Serialize, ToSchema)]
pub struct CryptoDepositPayment {
    /// The code of the coins' currency. For a currency that the service does not support, the processor's code.
    pub currency: String,
    /// The coins that arrived, a decimal.
    pub received_amount: String,
    /// The BRL credited for the payment, before the fee; 0.00 while nothing is credited.
    #[schema(inline)]
    pub credited_amount: Amount,
    /// The service's fee for this payment, in BRL.
    #[schema(inline)]
    pub fee: Amount,
    /// The status.
    #[schema(value_type = CryptoPaymentStatus)]
    pub status: &'static str,
    /// The comparison of the payment with its deposit.
    #[schema(value_type = CryptoPaymentResolution)]
    pub resolution: &'static str,
    /// The reason why an operator must decide; null unless `status` is `in_review`.
    ///
    /// - `wrong_asset`: the coins are of another currency than the deposit.
    /// - `too_late`: the coins arrived more than an hour after `expires_at`.
    /// - `too_many_coins`: with this payment, more than twice the requested coins would be credited.
    /// - `unexpected_state`: the deposit was refunded, or the payment was dismissed before.
    /// - `fewer_coins`: the processor now shows fewer coins than were credited.
    /// - `not_finished`: the processor reports an error or an expiry, so it may not have the coins.
    #[schema(value_type = Option<CryptoPaymentReview>, required)]
    pub review_reason: Option<&'static str>,
    /// The hash of the transaction on the chain, once reported.
    #[schema(required)]
    pub tx_hash: Option<String>,
    /// Time at which the coins count as arrived. If this time is after `expires_at`, the payment is `late`.
    #[schema(value_type = String, format = DateTime)]
    pub received_at: Instant,
}

/// The payments of a deposit.
#[derive(Serialize, ToSchema)]
pub struct CryptoDepositPaymentList {
    /// The payments.
    pub data: Vec<CryptoDepositPayment>,
}

impl CryptoDepositPaymentList {
    /// Returns the body for the payments of `deposit`.
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
