//! Rows of payments to the addresses of deposits.

use cais_domain::crypto::deposit::{ArrivedCoins, DepositPayment, PaymentReview, PaymentState};
use cais_domain::crypto::{Currency, ProcessorId};
use cais_domain::money::Money;

use super::coins;
use crate::error::Fault;
use crate::rows::{Record, acquirer, corrupt, id, instant, parse_enum, parsed};
use crate::sql::table::table;

const TABLE: &str = "crypto_payments";

table! {
    /// The row of a payment. The currency may be one that the service does not support.
    PaymentRow of crypto_payments
    key { account_id: Text, processor: Text, payment_id: Text }
    fixed { deposit_id: Text, created_at: BigInt }
    changing {
        version: BigInt, currency: Text, coins: Text, gross: BigInt, fee: BigInt, state: Text,
        review_reason: Nullable<Text>, tx_hash: Nullable<Text>,
    }
}

impl Record for DepositPayment {
    type Row<'a> = PaymentRow<'a>;

    fn row(&self, version: i64) -> PaymentRow<'_> {
        let (currency, coins) = match &self.coins {
            ArrivedCoins::Supported(coins) => (coins.currency().code().into(), coins.to_string().into()),
            ArrivedCoins::Unsupported { currency, amount } => (currency.as_str().into(), amount.as_str().into()),
        };
        let review_reason = match self.state {
            PaymentState::Review(reason) | PaymentState::Dismissed(reason) => Some(reason.as_str().into()),
            PaymentState::Credited => None,
        };
        PaymentRow {
            account_id: self.account.to_string().into(),
            processor: self.processor.as_str().into(),
            payment_id: self.id.as_str().into(),
            deposit_id: self.deposit.to_string().into(),
            created_at: self.created_at.as_microsecond(),
            version,
            currency,
            coins,
            gross: self.gross.centavos(),
            fee: self.fee.centavos(),
            state: self.state.as_str().into(),
            review_reason,
            tx_hash: self.tx_hash.as_deref().map(Into::into),
        }
    }

    fn read(row: PaymentRow<'_>) -> Result<Self, Fault> {
        let coins = match Currency::parse(&row.currency) {
            Ok(currency) => ArrivedCoins::Supported(coins(TABLE, currency, &row.coins)?),
            Err(_) => ArrivedCoins::Unsupported { currency: row.currency.into(), amount: row.coins.into() },
        };
        let reason = row.review_reason.as_deref().map(|reason| parse_enum(TABLE, reason, PaymentReview::parse));
        let state = match (&*row.state, reason.transpose()?) {
            ("credited", None) => PaymentState::Credited,
            ("review", Some(reason)) => PaymentState::Review(reason),
            ("dismissed", Some(reason)) => PaymentState::Dismissed(reason),
            (state, _) => {
                return Err(corrupt(
                    TABLE,
                    format_args!("the state `{state}` is unknown or contradicts the review reason"),
                ));
            }
        };
        Ok(Self {
            id: parsed(TABLE, ProcessorId::parse(&row.payment_id))?,
            account: id(TABLE, &row.account_id)?,
            deposit: id(TABLE, &row.deposit_id)?,
            processor: acquirer(TABLE, &row.processor)?,
            coins,
            gross: Money::from_centavos(row.gross),
            fee: Money::from_centavos(row.fee),
            state,
            tx_hash: row.tx_hash.map(Into::into),
            created_at: instant(TABLE, row.created_at)?,
            version: row.version,
        })
    }
}
