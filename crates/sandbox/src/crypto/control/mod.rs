//! The tester's control of the crypto processor.

pub mod http;

use serde::Serialize;

use super::{
    amount::Amount,
    coins,
    deposits::Deposit,
    error::CryptoError,
    ipn,
    settings::Settings,
    state::{
        CryptoChange, Ipn,
        payment::{Payment, PaymentStatus},
        payout::{Batch, WithdrawalOutcome},
    },
};
use crate::{
    control::{Control, ControlError},
    psp::Psp,
    state::change::Change,
};

/// A deposit that the tester makes. The default is the exact amount in the payment's coin.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CryptoDeposit {
    /// The amount as a decimal text, by default the amount to pay.
    pub amount: Option<String>,
    /// The code of the deposited coin, if it is not the payment's coin.
    pub currency: Option<String>,
    /// `true`: the deposit stays `confirming` until the tester moves it.
    pub hold: bool,
}

/// New values of a coin, for [`Control::set_crypto_coin`]. Amounts are decimal texts. `None` leaves the coin's value unchanged.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CoinValues {
    /// The price in USDT.
    pub price: Option<String>,
    /// The minimum of a deposit.
    pub min_deposit: Option<String>,
    /// The minimum of a withdrawal.
    pub min_payout: Option<String>,
    /// The network fee of a withdrawal.
    pub payout_fee: Option<String>,
    /// The account's balance.
    pub balance: Option<String>,
    /// `false`: the coin is off, so new payments and withdrawals are refused.
    pub enabled: Option<bool>,
    /// `false`: the processor has no price of the coin, so it refuses estimates and conversions.
    pub priced: Option<bool>,
}

/// The current values of a coin, as decimal texts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CoinState {
    /// The price in USDT, which is not used while `priced` is `false`.
    pub price: String,
    /// The minimum of a deposit.
    pub min_deposit: String,
    /// The minimum of a withdrawal.
    pub min_payout: String,
    /// The network fee of a withdrawal.
    pub payout_fee: String,
    /// The account's balance.
    pub balance: String,
    /// `false`: the coin is off, so new payments and withdrawals are refused.
    pub enabled: bool,
    /// `false`: the processor has no price of the coin, so it refuses estimates and conversions.
    pub priced: bool,
}

impl From<CryptoError> for ControlError {
    fn from(error: CryptoError) -> Self {
        match error.status() {
            404 => Self::NotFound("the payment or withdrawal"),
            500.. => Self::Id,
            _ => Self::InvalidState("the status of the payment or withdrawal excludes this step"),
        }
    }
}

impl Control {
    /// Makes a deposit to a payment's address. Returns the id of the payment that received the deposit.
    ///
    /// Three kinds of deposits become child payments:
    ///
    /// - a further deposit;
    /// - a deposit in another coin;
    /// - a deposit after the expiry, unless [`Settings::late_deposits`] is `Original`.
    ///
    /// # Errors
    /// [`ControlError::NotFound`], [`ControlError::OutOfRange`] for a bad amount or coin, [`ControlError::Id`] if the deposit cannot be
    /// recorded.
    pub fn pay_crypto(&self, payment_id: &str, deposit: &CryptoDeposit) -> Result<String, ControlError> {
        Ok(self.psp.make_deposit(payment_id, deposit)?.id.to_string())
    }

    /// Moves a payment to a status, as the chain or the processor would.
    ///
    /// # Errors
    /// [`ControlError::NotFound`], [`ControlError::InvalidState`] if the current status excludes the step, [`ControlError::Id`] if the step
    /// cannot be recorded.
    pub fn move_crypto_payment(&self, payment_id: &str, to: PaymentStatus) -> Result<(), ControlError> {
        self.psp.move_payment(id_of(payment_id)?, to).map(|_| ()).map_err(Into::into)
    }

    /// Moves a withdrawal to `outcome`. `id` is the id of the withdrawal, or of a batch whose first withdrawal is then moved. A
    /// `FAILED` withdrawal may still be finished or rejected.
    ///
    /// # Errors
    /// - [`ControlError::NotFound`].
    /// - [`ControlError::InvalidState`] if the withdrawal is final, and for [`WithdrawalOutcome::Finish`] also if it is not verified.
    /// - [`ControlError::Id`] if the step cannot be recorded.
    pub fn move_crypto_withdrawal(&self, id: &str, outcome: WithdrawalOutcome) -> Result<(), ControlError> {
        self.psp.move_withdrawal(id_of(id)?, outcome).map(|_| ()).map_err(Into::into)
    }

    /// Sends the notification of a payment's or withdrawal's current status again.
    ///
    /// # Errors
    /// [`ControlError::NotFound`], [`ControlError::InvalidState`] if the client gave no URL, [`ControlError::Store`].
    pub fn repeat_crypto_ipn(&self, id: &str) -> Result<(), ControlError> {
        self.psp.repeat_ipn(id_of(id)?)
    }

    /// Returns the processor's settings.
    #[must_use]
    pub fn crypto_settings(&self) -> Settings {
        self.psp.crypto.settings()
    }

    /// Replaces the processor's settings.
    pub fn set_crypto_settings(&self, settings: Settings) {
        self.psp.crypto.set_settings(settings);
    }

    /// Changes values of a coin. Returns all values of the coin.
    ///
    /// # Errors
    /// [`ControlError::NotFound`] for an unknown coin, [`ControlError::OutOfRange`] for a text that is not an amount and for a price of
    /// zero, [`ControlError::Store`].
    pub fn set_crypto_coin(&self, code: &str, values: &CoinValues) -> Result<CoinState, ControlError> {
        self.psp.set_coin(code, values)
    }

    /// Returns the id of the newest child of a payment, or the payment's own id if it has no child.
    ///
    /// # Errors
    /// [`ControlError::NotFound`].
    pub fn newest_crypto_payment(&self, payment_id: &str) -> Result<String, ControlError> {
        let payment = self.psp.find_crypto_payment(id_of(payment_id)?)?;
        Ok(payment.children.last().copied().unwrap_or(payment.id).to_string())
    }
}

fn id_of(text: &str) -> Result<u64, ControlError> {
    text.parse().map_err(|_| ControlError::NotFound("the payment or withdrawal"))
}

fn amount_of(text: Option<&str>, field: &'static str) -> Result<Option<Amount>, ControlError> {
    text.map(|text| Amount::parse(text).ok_or(ControlError::OutOfRange { field })).transpose()
}

impl Psp {
    fn make_deposit(&self, payment_id: &str, deposit: &CryptoDeposit) -> Result<Payment, ControlError> {
        let amount = amount_of(deposit.amount.as_deref(), "amount")?;
        if amount.as_ref().is_some_and(|amount| !amount.is_positive()) {
            return Err(ControlError::OutOfRange { field: "amount" });
        }
        let coin = deposit.currency.as_deref();
        let coin =
            coin.map(|code| coins::find(code).ok_or(ControlError::OutOfRange { field: "currency" })).transpose()?;
        let id = id_of(payment_id)?;
        let paid = self.find_crypto_payment(id)?;
        let decimals = coin.or_else(|| coins::find(&paid.terms.pay_currency)).map_or(0, |coin| coin.decimals);
        if amount.as_ref().is_some_and(|amount| amount.decimals() > i64::from(decimals)) {
            return Err(ControlError::OutOfRange { field: "amount" });
        }
        Ok(self.deposit(id, Deposit { amount, coin, hold: deposit.hold })?)
    }

    fn repeat_ipn(&self, id: u64) -> Result<(), ControlError> {
        let mut store = self.write();
        let books = store.books().crypto();
        let of_batch = |batch: &Batch| -> Option<Ipn> {
            let withdrawal = batch.withdrawals.iter().find(|one| one.id == id).or(batch.withdrawals.first())?;
            ipn::of_withdrawal(batch, withdrawal)
        };
        let ipn = match (books.payments().get(&id), books.find_batch(id)) {
            (Some(payment), _) => ipn::of_payment(payment),
            (None, Some(batch)) => of_batch(batch),
            (None, None) => return Err(ControlError::NotFound("the payment or withdrawal")),
        };
        let ipn = ipn.ok_or(ControlError::InvalidState("no URL for notifications was given"))?;
        let change = CryptoChange { ipns: vec![ipn], ..CryptoChange::default() };
        store.commit(Change::Crypto(Box::new(change)))?;
        drop(store);
        self.crypto.ipn_wakeup.notify_one();
        Ok(())
    }

    fn set_coin(&self, code: &str, values: &CoinValues) -> Result<CoinState, ControlError> {
        let coin = coins::find(code).ok_or(ControlError::NotFound("the coin"))?;
        let mut terms = self.crypto.market.terms(coin);
        if let Some(price) = amount_of(values.price.as_deref(), "price")? {
            terms.price = Some(price).filter(Amount::is_positive).ok_or(ControlError::OutOfRange { field: "price" })?;
        }
        let fields = [
            (&mut terms.min_deposit, &values.min_deposit, "min_deposit"),
            (&mut terms.min_payout, &values.min_payout, "min_payout"),
            (&mut terms.payout_fee, &values.payout_fee, "payout_fee"),
        ];
        for (field, text, name) in fields {
            if let Some(amount) = amount_of(text.as_deref(), name)? {
                *field = amount;
            }
        }
        terms.is_enabled = values.enabled.unwrap_or(terms.is_enabled);
        terms.is_priced = values.priced.unwrap_or(terms.is_priced);
        if let Some(balance) = amount_of(values.balance.as_deref(), "balance")? {
            let balances = vec![(coin.code.into(), balance)];
            let change = CryptoChange { balances, ..CryptoChange::default() };
            self.write().commit(Change::Crypto(Box::new(change)))?;
        }
        self.crypto.market.set(coin, terms.clone());
        let balance = self.read().books().crypto().balances().get(coin.code).cloned().unwrap_or_default();
        Ok(CoinState {
            price: terms.price.to_string(),
            min_deposit: terms.min_deposit.to_string(),
            min_payout: terms.min_payout.to_string(),
            payout_fee: terms.payout_fee.to_string(),
            balance: balance.to_string(),
            enabled: terms.is_enabled,
            priced: terms.is_priced,
        })
    }
}
