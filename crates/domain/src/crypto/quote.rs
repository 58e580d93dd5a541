//! A quote: a price that is valid for one minute and for one operation.

use jiff::{SignedDuration, Timestamp};

use super::rate::{coins_paid_out, coins_to_pay_in};
use super::{CryptoAmount, CryptoAmountError, Currency, Rate, RateError, RateInputs, Side};
use crate::fee::FeeRule;
use crate::ids::{AccountId, CryptoQuoteId};
use crate::money::{Money, MoneyError};

/// The time for which a quote can be used: one minute.
pub const LIFETIME: SignedDuration = SignedDuration::from_secs(60);

/// The terms that a quote prices. The quote can be used only for these terms.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct QuotedTerms {
    /// The side of the operation.
    pub side: Side,
    /// The currency of the coins.
    pub currency: Currency,
    /// The amount in BRL. The fee of a deposit is subtracted from this amount. The fee of a withdrawal is added.
    pub amount: Money,
}

/// The prices of a quote. The operation that uses the quote copies them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Prices {
    /// The BRL for one coin.
    pub rate: Rate,
    /// The coins that the payer must send (deposit), or that the recipient receives (withdrawal).
    pub coins: CryptoAmount,
    /// The rule of the fee.
    pub fee_rule: FeeRule,
}

/// A quote.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Quote {
    /// The public identifier.
    pub id: CryptoQuoteId,
    /// The owning account.
    pub account: AccountId,
    /// The priced terms.
    pub terms: QuotedTerms,
    /// The prices for these terms.
    pub prices: Prices,
    /// The inputs of the rate.
    pub inputs: RateInputs,
    /// The operation that used the quote: the public id of a deposit or a withdrawal.
    pub used_by: Option<String>,
    /// The instant at which the quote expires.
    pub expires_at: Timestamp,
    /// The instant of the request.
    pub created_at: Timestamp,
    /// The number of changes. An update requires the version that was read.
    pub version: i64,
}

/// The reason why no quote is given.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum QuoteError {
    /// No rate can be computed from the inputs.
    #[error(transparent)]
    Rate(#[from] RateError),
    /// The number of coins is out of range.
    #[error(transparent)]
    Coins(#[from] CryptoAmountError),
    /// The BRL amount is out of range.
    #[error(transparent)]
    Money(#[from] MoneyError),
    /// The amount is worth less than the smallest unit of coins that can be sent.
    #[error("the amount is less than the smallest unit of the currency")]
    NoCoins,
}

/// The reason why a quote cannot be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum UseQuoteError {
    /// The quote was used or has expired.
    #[error("the quote has expired or was used: request another")]
    Expired,
    /// The quote has other terms than the operation.
    #[error("the quote has another amount, currency or side")]
    OtherTerms,
}

impl Quote {
    /// Creates a quote from current inputs.
    ///
    /// # Errors
    /// [`QuoteError`].
    pub fn open(
        (id, account): (CryptoQuoteId, AccountId),
        terms: QuotedTerms,
        fee_rule: FeeRule,
        inputs: RateInputs,
        at: Timestamp,
    ) -> Result<Self, QuoteError> {
        let QuotedTerms { side, currency, amount } = terms;
        let rate = inputs.rate(side, at)?;
        let coins = match side {
            Side::Deposit => coins_to_pay_in(amount, &rate, currency)?,
            Side::Withdrawal => coins_paid_out(amount, &rate, currency)?,
        };
        if coins.is_zero() {
            return Err(QuoteError::NoCoins);
        }
        let prices = Prices { rate, coins, fee_rule };
        let expires_at = at.saturating_add(LIFETIME).unwrap_or(Timestamp::MAX);
        let quote = Self { id, account, terms, prices, inputs, used_by: None, expires_at, created_at: at, version: 0 };
        // An amount that is out of range fails here, so that later calls of these functions cannot fail.
        quote.net_amount()?;
        quote.gross_amount()?;
        Ok(quote)
    }

    /// Returns the fee in BRL.
    ///
    /// # Errors
    /// [`MoneyError::OutOfRange`].
    pub fn fee(&self) -> Result<Money, MoneyError> {
        self.prices.fee_rule.fee(self.terms.amount)
    }

    /// Returns the BRL that a deposit credits after the fee, or the BRL that a withdrawal converts into coins.
    ///
    /// # Errors
    /// [`MoneyError::OutOfRange`].
    pub fn net_amount(&self) -> Result<Money, MoneyError> {
        match self.terms.side {
            Side::Deposit => self.terms.amount.checked_sub(self.fee()?),
            Side::Withdrawal => Ok(self.terms.amount),
        }
    }

    /// Returns the BRL value of a deposit's coins before the fee, or the BRL that a withdrawal debits with the fee.
    ///
    /// # Errors
    /// [`MoneyError::OutOfRange`].
    pub fn gross_amount(&self) -> Result<Money, MoneyError> {
        match self.terms.side {
            Side::Deposit => Ok(self.terms.amount),
            Side::Withdrawal => self.terms.amount.checked_add(self.fee()?),
        }
    }

    /// Marks the quote as used by the operation `resource`. The commit checks the version, so a second use fails.
    ///
    /// # Errors
    /// [`UseQuoteError`]. The terms are checked first.
    pub fn used(self, terms: QuotedTerms, resource: String, at: Timestamp) -> Result<Self, UseQuoteError> {
        if self.terms != terms {
            return Err(UseQuoteError::OtherTerms);
        }
        if self.used_by.is_some() || at >= self.expires_at {
            return Err(UseQuoteError::Expired);
        }
        Ok(Self { used_by: Some(resource), ..self })
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use jiff::ToSpan as _;
    use uuid::Uuid;

    use super::*;
    use crate::rate::Percentage;

    fn now() -> Timestamp {
        "2026-01-02T03:04:05Z".parse().unwrap()
    }

    fn terms(side: Side, amount: &str) -> QuotedTerms {
        QuotedTerms { side, currency: Currency::Btc, amount: Money::parse(amount).unwrap() }
    }

    fn open(terms: QuotedTerms) -> Result<Quote, QuoteError> {
        let fixed = Money::from_centavos(50);
        let fee_rule = FeeRule::try_new(fixed, Percentage::parse("1").unwrap(), None, None).unwrap();
        let inputs = RateInputs {
            usdt_per_coin: Rate::parse("100000").unwrap(),
            coin_priced_at: now(),
            brl_per_usd: Rate::parse("5").unwrap(),
            usd_priced_at: now(),
            spread: Percentage::zero(),
        };
        Quote::open((CryptoQuoteId::new(Uuid::nil()), AccountId::new(Uuid::nil())), terms, fee_rule, inputs, now())
    }

    #[test]
    fn fee_reduces_deposits_and_is_added_to_withdrawals() {
        let texts = |side| {
            let quote = open(terms(side, "100.00")).unwrap();
            let money = [quote.fee(), quote.net_amount(), quote.gross_amount()].map(|money| money.unwrap().to_string());
            (money, quote.prices.coins.to_string())
        };
        let text = str::to_owned;
        assert_eq!(texts(Side::Deposit), (["1.50", "98.50", "100.00"].map(text), text("0.0002")));
        assert_eq!(texts(Side::Withdrawal), (["1.50", "100.00", "101.50"].map(text), text("0.0002")));
    }

    #[test]
    fn quote_is_used_once_within_a_minute_for_its_terms() {
        let requested = terms(Side::Deposit, "100.00");
        let quote = open(requested).unwrap();
        let id = || "cdp_1".to_owned();
        let used = quote.clone().used(requested, id(), now() + 59.seconds()).unwrap();
        assert_eq!(used.used_by, Some(id()));
        assert_eq!(used.used(requested, id(), now()), Err(UseQuoteError::Expired));
        assert_eq!(quote.clone().used(requested, id(), now() + 60.seconds()), Err(UseQuoteError::Expired));
        for other in [
            terms(Side::Withdrawal, "100.00"),
            terms(Side::Deposit, "100.01"),
            QuotedTerms { currency: Currency::Ltc, ..requested },
        ] {
            assert_eq!(quote.clone().used(other, id(), now()), Err(UseQuoteError::OtherTerms), "{other:?}");
        }
    }

    #[test]
    fn withdrawal_below_one_unit_has_no_quote() {
        assert_eq!(open(terms(Side::Withdrawal, "0.49")), Err(QuoteError::NoCoins));
        assert!(open(terms(Side::Withdrawal, "0.50")).is_ok());
    }
}
