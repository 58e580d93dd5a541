//! The payments that clients create, the deposits to their addresses, and the credit of the balance.

use jiff::{SignedDuration, Timestamp};

use super::{
    address,
    amount::Amount,
    coins::{self, Coin},
    error::CryptoError,
    ipn,
    market::{PRICE_DECIMALS, RateFlags},
    settings::LateDeposits,
    state::{
        CryptoChange,
        payment::{Payment, PaymentStatus, PaymentTerms},
    },
};
use crate::{
    psp::{Psp, Store, StoreError},
    random_ids,
    state::change::Change,
};

/// The validity of a rate, and the life of a payment with a fixed rate.
const RATE_TIME: SignedDuration = SignedDuration::from_mins(20);

/// The life of a payment with a floating rate.
const FLOATING_TIME: SignedDuration = SignedDuration::from_hours(7 * 24);

/// The processor's fee (`serviceFee`): half a percent of the coins that arrived.
const SERVICE_FEE: &str = "0.005";

/// A client's request for a payment.
#[derive(Clone, Debug)]
pub struct PaymentOrder {
    /// The price, in `price_currency`.
    pub price_amount: Amount,
    /// The currency of the price: `usd`, `eur` or a coin.
    pub price_currency: String,
    /// The coin in which the payer pays.
    pub coin: &'static Coin,
    /// The amount to pay, in `coin`. By default the amount follows from the price.
    pub pay_amount: Option<Amount>,
    /// The coin of the balance to credit, by default the coin paid.
    pub outcome: Option<&'static Coin>,
    /// `order_id`.
    pub order_id: Option<String>,
    /// `order_description`.
    pub order_description: Option<String>,
    /// `ipn_callback_url`.
    pub ipn_callback_url: Option<String>,
    /// The flags of the rate.
    pub flags: RateFlags,
    /// The simulated deposit that the field `case` requests.
    pub case: Option<Case>,
}

/// The deposit that follows the creation of a payment at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Case {
    /// The exact amount.
    Success,
    /// The exact amount, and the payment fails.
    Failed,
    /// Half the amount.
    PartiallyPaid,
}

/// A deposit that the tester makes.
#[derive(Clone, Debug, Default)]
pub struct Deposit {
    /// The amount, by default the amount to pay.
    pub amount: Option<Amount>,
    /// The deposited coin, by default the payment's coin. A deposit in another coin becomes a child payment.
    pub coin: Option<&'static Coin>,
    /// `true`: the deposit stays `confirming` until the tester moves it.
    pub hold: bool,
}

impl Psp {
    /// Creates a payment with an address for its deposits, and makes the deposit that `case` requests.
    ///
    /// # Errors
    /// 400 for an unknown currency, for a coin that is off, and for an amount below the minimum. 500 if the change cannot be recorded.
    pub fn create_payment(&self, order: PaymentOrder) -> Result<Payment, CryptoError> {
        self.settle_due()?;
        let now = self.clock.now();
        let (coin, market) = (order.coin, &self.crypto.market);
        let outcome = order.outcome.unwrap_or(coin);
        if !market.terms(coin).is_enabled {
            return Err(CryptoError::currency(coin.code));
        }
        let converted = market
            .convert(&order.price_amount, &order.price_currency, coin.code)
            .ok_or_else(|| CryptoError::currency(&order.price_currency))?;
        let pay_amount = order.pay_amount.unwrap_or_else(|| converted.round_up(PRICE_DECIMALS.min(coin.decimals)));
        if pay_amount < market.min_deposit(coin, true, order.flags) {
            return Err(CryptoError::below_minimum(format!("Crypto amount {pay_amount} is less than minimal")));
        }
        let is_fixed = order.flags.is_fixed_rate || order.flags.is_fee_paid_by_user;
        let life = if is_fixed { RATE_TIME } else { FLOATING_TIME };
        let later = |time| now.saturating_add(time).unwrap_or(Timestamp::MAX);
        let mut store = self.write();
        let id = self.next_id(&store);
        let payment = Payment {
            id,
            purchase_id: id + 1,
            parent: None,
            children: Vec::new(),
            terms: PaymentTerms {
                price_amount: order.price_amount,
                price_currency: order.price_currency.to_lowercase().into(),
                pay_amount,
                pay_currency: coin.code.into(),
                outcome_currency: outcome.code.into(),
                order_id: order.order_id.map(Into::into),
                order_description: order.order_description.map(Into::into),
                ipn_callback_url: order.ipn_callback_url.map(Into::into),
                is_fixed_rate: is_fixed,
                is_fee_paid_by_user: order.flags.is_fee_paid_by_user,
            },
            pay_address: address::deposit_address(&self.crypto.keys.addresses, coin, id).into(),
            status: PaymentStatus::Waiting,
            actually_paid: Amount::default(),
            outcome: None,
            payin_hash: None,
            created_at: now,
            updated_at: now,
            estimate_until: later(RATE_TIME),
            valid_until: later(life),
            settles_at: None,
            forced_status: None,
        };
        let created = CryptoChange { payments: vec![payment.clone()], ..CryptoChange::default() };
        store.commit(Change::Crypto(Box::new(created)))?;
        drop(store);
        self.settlement_wakeup.notify_one();
        if let Some(case) = order.case {
            self.make_requested_deposit(&payment, case)?;
        }
        Ok(payment)
    }

    /// Makes the deposit that the creation of a payment requested.
    fn make_requested_deposit(&self, payment: &Payment, case: Case) -> Result<(), CryptoError> {
        let half = &payment.terms.pay_amount * &Amount::constant("0.5");
        let amount = (case == Case::PartiallyPaid).then_some(half);
        let forced_status = (case == Case::Failed).then_some(PaymentStatus::Failed);
        self.record_deposit(payment.id, Deposit { amount, ..Deposit::default() }, forced_status).map(|_| ())
    }

    /// Makes a deposit to a payment's address. The first deposit in the payment's coin belongs to the payment if it arrives before the
    /// expiry, or later with [`LateDeposits::Original`]. Every other deposit becomes a child payment. Returns the payment that received the
    /// deposit.
    ///
    /// # Errors
    /// 404 for an unknown payment, 500 if the change cannot be recorded.
    pub fn deposit(&self, payment_id: u64, deposit: Deposit) -> Result<Payment, CryptoError> {
        self.settle_due()?;
        self.record_deposit(payment_id, deposit, None)
    }

    /// Records a deposit and its transaction on the chain. With `forced_status`, the deposit ends with that status, regardless of its
    /// amount.
    fn record_deposit(
        &self,
        payment_id: u64,
        deposit: Deposit,
        forced_status: Option<PaymentStatus>,
    ) -> Result<Payment, CryptoError> {
        let now = self.clock.now();
        let hash = || random_ids::hex().map_err(StoreError::from);
        let payin_hash = format!("{}{}", hash()?, hash()?);
        let settings = self.crypto.settings();
        let mut store = self.write();
        let paid = store.books().crypto().payments().get(&payment_id);
        let mut paid = paid.ok_or_else(|| CryptoError::not_found("Payment"))?.clone();
        let other_coin = deposit.coin.filter(|coin| *coin.code != *paid.terms.pay_currency);
        let accepts_deposit = match paid.status {
            PaymentStatus::Waiting => true,
            PaymentStatus::Expired => settings.late_deposits == LateDeposits::Original,
            PaymentStatus::Confirming
            | PaymentStatus::Confirmed
            | PaymentStatus::Sending
            | PaymentStatus::PartiallyPaid
            | PaymentStatus::Finished
            | PaymentStatus::Failed
            | PaymentStatus::Refunded => false,
        };
        let mut change = CryptoChange::default();
        let mut target = if accepts_deposit && other_coin.is_none() {
            paid
        } else {
            let child = self.new_child(&paid, other_coin, self.next_id(&store), now);
            paid.children.push(child.id);
            change.payments.push(paid);
            child
        };
        target.actually_paid = deposit.amount.unwrap_or_else(|| target.terms.pay_amount.clone());
        target.payin_hash = Some(payin_hash.into());
        target.forced_status = forced_status.or(target.forced_status);
        let is_held = deposit.hold || settings.hold_deposits;
        let settles_at = now.saturating_add(self.payout_settles_after).unwrap_or(Timestamp::MAX);
        target.settles_at = (!is_held).then_some(settles_at);
        self.enter(&mut change, target.clone(), PaymentStatus::Confirming, now);
        store.commit(Change::Crypto(Box::new(change)))?;
        drop(store);
        self.settlement_wakeup.notify_one();
        self.crypto.ipn_wakeup.notify_one();
        self.find_crypto_payment(target.id)
    }

    /// Returns a new child of `paid`, for a deposit that does not belong to `paid` itself. With `other_coin`, the child's amount to pay is
    /// computed at the current rate.
    fn new_child(&self, paid: &Payment, other_coin: Option<&'static Coin>, id: u64, now: Timestamp) -> Payment {
        let mut terms = paid.terms.clone();
        if let Some(coin) = other_coin {
            let price = self.crypto.market.convert(&terms.price_amount, &terms.price_currency, coin.code);
            let decimals = PRICE_DECIMALS.min(coin.decimals);
            terms.pay_amount = price.map_or_else(|| terms.pay_amount.clone(), |price| price.round_up(decimals));
            terms.pay_currency = coin.code.into();
            terms.outcome_currency = coin.code.into();
        }
        Payment {
            id,
            parent: Some(paid.id),
            children: Vec::new(),
            terms,
            status: PaymentStatus::Waiting,
            actually_paid: Amount::default(),
            outcome: None,
            payin_hash: None,
            created_at: now,
            updated_at: now,
            settles_at: None,
            // A deposit of the wrong asset ends as `finished`, regardless of its amount.
            forced_status: other_coin.map(|_| PaymentStatus::Finished),
            ..paid.clone()
        }
    }

    /// Moves a payment to a status that the tester chooses. Returns the payment.
    ///
    /// # Errors
    /// 404 for an unknown payment, 400 for a step that the current status excludes, 500 if the change cannot be recorded.
    pub fn move_payment(&self, payment_id: u64, to: PaymentStatus) -> Result<Payment, CryptoError> {
        self.settle_due()?;
        let now = self.clock.now();
        let mut store = self.write();
        let found = store.books().crypto().payments().get(&payment_id);
        let mut payment = found.ok_or_else(|| CryptoError::not_found("Payment"))?.clone();
        if !may_move(payment.status, to) {
            return Err(CryptoError::bad_request(format!("a payment in status {:?} cannot be {to:?}", payment.status)));
        }
        // Further steps follow only at the tester's request.
        payment.settles_at = None;
        if to == PaymentStatus::Expired {
            payment.valid_until = now;
        }
        let mut change = CryptoChange::default();
        self.enter(&mut change, payment, to, now);
        store.commit(Change::Crypto(Box::new(change)))?;
        drop(store);
        self.crypto.ipn_wakeup.notify_one();
        self.find_crypto_payment(payment_id)
    }

    /// Returns a payment.
    ///
    /// # Errors
    /// 404 for an unknown payment.
    pub fn find_crypto_payment(&self, id: u64) -> Result<Payment, CryptoError> {
        self.read().books().crypto().payments().get(&id).cloned().ok_or_else(|| CryptoError::not_found("Payment"))
    }

    /// Returns a payment with its current estimate. A waiting payment whose rate has ended receives a new rate.
    ///
    /// # Errors
    /// 404 for an unknown payment, 500 if the change cannot be recorded.
    pub fn renew_estimate(&self, id: u64) -> Result<Payment, CryptoError> {
        self.settle_due()?;
        let now = self.clock.now();
        let mut store = self.write();
        let found = store.books().crypto().payments().get(&id);
        let mut payment = found.ok_or_else(|| CryptoError::not_found("Payment"))?.clone();
        if payment.status != PaymentStatus::Waiting || now < payment.estimate_until {
            return Ok(payment);
        }
        let terms = &mut payment.terms;
        let price = self.crypto.market.convert(&terms.price_amount, &terms.price_currency, &terms.pay_currency);
        if let (Some(price), Some(coin)) = (price, coins::find(&terms.pay_currency)) {
            terms.pay_amount = price.round_up(PRICE_DECIMALS.min(coin.decimals));
        }
        payment.estimate_until = now.saturating_add(RATE_TIME).unwrap_or(Timestamp::MAX);
        payment.updated_at = now;
        let change = CryptoChange { payments: vec![payment.clone()], ..CryptoChange::default() };
        store.commit(Change::Crypto(Box::new(change)))?;
        Ok(payment)
    }

    /// Moves a due payment to its next status.
    pub(crate) fn settle_payment(&self, store: &mut Store, id: u64, now: Timestamp) -> Result<(), StoreError> {
        let Some(payment) = store.books().crypto().payments().get(&id).cloned() else { return Ok(()) };
        let at = payment.due_at().unwrap_or(now).min(now);
        let next = payment.next_status();
        let mut change = CryptoChange::default();
        self.enter(&mut change, payment, next, at);
        store.commit(Change::Crypto(Box::new(change)))
    }

    /// Moves `payment` to `status`. Adds the payment, the credit or debit of the balance, and the notification to `change`.
    fn enter(&self, change: &mut CryptoChange, mut payment: Payment, status: PaymentStatus, at: Timestamp) {
        payment.status = status;
        payment.updated_at = at;
        let coin = payment.terms.outcome_currency.clone();
        match status {
            PaymentStatus::Finished | PaymentStatus::PartiallyPaid if payment.outcome.is_none() => {
                let outcome = self.outcome(&payment);
                change.credits.push((coin, outcome.0.clone()));
                payment.outcome = Some(outcome);
            }
            PaymentStatus::Refunded => {
                if let Some((outcome, _)) = payment.outcome.take() {
                    change.debits.push((coin, outcome));
                }
            }
            PaymentStatus::Waiting
            | PaymentStatus::Confirming
            | PaymentStatus::Confirmed
            | PaymentStatus::Sending
            | PaymentStatus::PartiallyPaid
            | PaymentStatus::Finished
            | PaymentStatus::Failed
            | PaymentStatus::Expired => {}
        }
        change.ipns.extend(ipn::of_payment(&payment));
        change.payments.push(payment);
    }

    /// Returns `(credit, fee)` in the outcome coin: the amount that the balance gains, and the processor's fee.
    fn outcome(&self, payment: &Payment) -> (Amount, Amount) {
        let terms = &payment.terms;
        let decimals = coins::find(&terms.outcome_currency).map_or(PRICE_DECIMALS, |coin| coin.decimals);
        let whole = self.crypto.market.convert(&payment.actually_paid, &terms.pay_currency, &terms.outcome_currency);
        let whole = whole.unwrap_or_default().round_down(decimals);
        let fee = (&whole * &Amount::constant(SERVICE_FEE)).round_up(decimals);
        (&whole - &fee, fee)
    }

    /// Returns an unused id.
    pub(super) fn next_id(&self, store: &Store) -> u64 {
        self.crypto.keys.id_base + store.books().crypto().ids_in_use() + 1
    }
}

/// Returns whether the tester may move a payment from one status to the other.
fn may_move(from: PaymentStatus, to: PaymentStatus) -> bool {
    match to {
        PaymentStatus::Confirmed => from == PaymentStatus::Confirming,
        PaymentStatus::Sending => from == PaymentStatus::Confirmed,
        PaymentStatus::Finished => from.is_in_progress() || from == PaymentStatus::PartiallyPaid,
        PaymentStatus::PartiallyPaid => from.is_in_progress(),
        PaymentStatus::Failed => from.is_in_progress() || from == PaymentStatus::Waiting,
        PaymentStatus::Refunded => {
            matches!(from, PaymentStatus::Failed | PaymentStatus::PartiallyPaid | PaymentStatus::Finished)
        }
        PaymentStatus::Expired => from == PaymentStatus::Waiting,
        PaymentStatus::Waiting | PaymentStatus::Confirming => false,
    }
}
