//! The credit of a payment. Coins that arrived are credited once, at the deposit's rate. No money is ever dropped: a
//! payment that is not credited waits for an operator.

use std::cmp::Ordering;

use jiff::{SignedDuration, Timestamp};

use super::{
    ArrivedCoins, Credited, Deposit, DepositPayment, DepositState, Issued, PaymentReview, PaymentState, Resolution,
};
use crate::crypto::rate::worth_of_coins;
use crate::crypto::{CryptoAmount, CryptoAmountError, ProcessorId};
use crate::event::EventType;
use crate::ledger::{Bucket, EntryKind, LedgerAccount, Overdraft, SystemAccount, Transfer};
use crate::money::{Money, MoneyError};

/// The time after the payment period in which a payment is still credited at the deposit's rate. With a longer time, a
/// payer could wait until coins are cheaper on the market, and then pay at the old rate. So a later payment needs an
/// operator.
pub const LATE_CREDIT_WINDOW: SignedDuration = SignedDuration::from_hours(1);
/// The maximum sum of credited coins, as a multiple of the requested coins. The value allows a payer who pays twice. A
/// larger sum needs an operator, because the account's limit was checked only for the requested amount.
const MAX_TIMES_REQUESTED: u128 = 2;

/// A payment whose coins have arrived at the processor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Arrival {
    /// The processor's identifier of the payment.
    pub id: ProcessorId,
    /// The coins that arrived.
    pub coins: ArrivedCoins,
    /// The hash of the transaction on the chain, if the processor reported it.
    pub tx_hash: Option<String>,
    /// The instant at which the coins count as arrived. This instant decides whether the payment is late.
    pub seen_at: Timestamp,
}

/// The result of receiving a payment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Received {
    /// The payment was credited. If a part was credited before, only the added coins were credited now.
    Credited(Box<Resolved>),
    /// The payment waits for an operator. The deposit is unchanged.
    Review(Box<DepositPayment>),
    /// The payment was processed before. Nothing changes.
    AlreadyTaken,
}

/// A payment and its deposit, after a credit or a dismissal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Resolved {
    /// The deposit.
    pub deposit: Deposit,
    /// The payment.
    pub payment: DepositPayment,
    /// The transfers. A payment that is worth less than a centavo has none.
    pub transfers: Vec<Transfer>,
    /// The events to publish.
    pub events: Vec<EventType>,
}

/// The next credit of a deposit.
#[derive(Debug, Clone, Copy)]
struct NextCredit {
    /// The sum of the credited coins after the credit.
    total_coins: CryptoAmount,
    /// The increase of the credited BRL, before the fee.
    gross: Money,
    /// The increase of the fee.
    fee: Money,
}

/// The reason why a payment cannot be processed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ReceiveError {
    /// The payment has no coins.
    #[error("no coins arrived")]
    NoCoins,
    /// The payment does not wait for an operator.
    #[error("the payment is not in review")]
    NotInReview,
    /// The review is about coins that the processor no longer shows.
    #[error("the processor shows fewer coins than were credited, so no coins are left to credit")]
    NothingLeft,
    /// The coins are of another currency than the deposit, or a part of them was credited before.
    #[error("the deposit's rate does not apply, because the coins are of another currency or were credited in part")]
    NoRate,
    /// The deposit has no address.
    #[error("the deposit was never issued")]
    NotIssued,
    /// The sum of the coins is out of range.
    #[error(transparent)]
    Coins(#[from] CryptoAmountError),
    /// An amount is out of range.
    #[error(transparent)]
    Money(#[from] MoneyError),
}

impl Deposit {
    /// Credits a payment to the deposit's address, or marks the payment for review. Only coins that were not credited
    /// before are credited. `known` is the payment as it is stored, or `None` if it is not stored yet.
    ///
    /// # Errors
    /// [`ReceiveError`].
    pub fn receive(
        self,
        known: Option<DepositPayment>,
        arrival: Arrival,
        at: Timestamp,
    ) -> Result<Received, ReceiveError> {
        if known.as_ref().is_some_and(|known| !known.is_unfinished() && known.coins == arrival.coins) {
            return Ok(Received::AlreadyTaken);
        }
        let before = known.as_ref().and_then(DepositPayment::credited_coins);
        let payment = match known {
            Some(known) if known.state == PaymentState::Review(PaymentReview::NotFinished) => {
                DepositPayment { state: PaymentState::Credited, ..known }
            }
            Some(known) => known,
            None => self.new_payment(&arrival),
        };
        let payment = payment.showing(&arrival);
        let (issued, coins) = match (self.reason_for_review(&payment, before, &arrival), self.state.issued()) {
            (Ok(coins), Some(issued)) => (issued.clone(), coins),
            (Err(reason), _) => return Ok(review(payment, reason)),
            (Ok(_), None) => return Ok(review(payment, PaymentReview::UnexpectedState)),
        };
        if coins.is_zero() {
            return Err(ReceiveError::NoCoins);
        }
        let increase = coins.checked_sub(before.unwrap_or(CryptoAmount::zero(coins.currency())))?;
        let total = self.credited.coins.checked_add(increase)?;
        if total.units() > self.price.coins.units().saturating_mul(MAX_TIMES_REQUESTED) {
            return Ok(review(payment, PaymentReview::TooMany));
        }
        let next = self.next_credit(total)?;
        let is_late = arrival.seen_at > issued.expires_at;
        let tx_hash = arrival.tx_hash.or(self.tx_hash.clone());
        let resolved = Self { tx_hash, ..self }.credit(payment, issued, next, is_late, at)?;
        Ok(Received::Credited(Box::new(resolved)))
    }

    /// Marks a payment for review, because the processor shows coins but reports an error or an expiry. The reason is
    /// [`PaymentReview::NotFinished`].
    ///
    /// Returns `None` if the stored payment, `known`, stays unchanged:
    /// - it is credited;
    /// - it is in review or dismissed for another reason; or
    /// - the processor shows the same coins as before.
    #[must_use]
    pub fn unfinished(&self, known: Option<DepositPayment>, arrival: &Arrival) -> Option<DepositPayment> {
        let payment = match known {
            Some(known) if known.is_unfinished() && known.coins != arrival.coins => known,
            Some(_) => return None,
            None => self.new_payment(arrival),
        };
        let state = PaymentState::Review(PaymentReview::NotFinished);
        Some(DepositPayment { state, ..payment.showing(arrival) })
    }

    /// Credits the amount `gross` for a payment in review, as an operator decided. No fee is subtracted. The credited
    /// coins of the deposit stay unchanged, because no rate was applied.
    ///
    /// # Errors
    /// [`ReceiveError::NotInReview`], [`ReceiveError::NothingLeft`], [`ReceiveError::NotIssued`],
    /// [`ReceiveError::Money`].
    pub fn credit_reviewed(
        self,
        payment: DepositPayment,
        gross: Money,
        at: Timestamp,
    ) -> Result<Resolved, ReceiveError> {
        let issued = self.issued_for_review(&payment)?;
        if !gross.is_positive() {
            return Err(ReceiveError::Money(MoneyError::OutOfRange));
        }
        let next = NextCredit { total_coins: self.credited.coins, gross, fee: Money::ZERO };
        let is_late = payment.created_at > issued.expires_at;
        self.credit(payment, issued, next, is_late, at)
    }

    /// Credits all coins of a payment in review at the deposit's rate, less the fee, as an operator decided.
    ///
    /// # Errors
    /// [`ReceiveError::NotInReview`], [`ReceiveError::NothingLeft`], [`ReceiveError::NotIssued`],
    /// [`ReceiveError::NoRate`], [`ReceiveError::Coins`], [`ReceiveError::Money`].
    pub fn credit_reviewed_at_rate(self, payment: DepositPayment, at: Timestamp) -> Result<Resolved, ReceiveError> {
        let issued = self.issued_for_review(&payment)?;
        let coins = match &payment.coins {
            ArrivedCoins::Supported(coins) if coins.currency() == self.terms.currency => *coins,
            ArrivedCoins::Supported(_) | ArrivedCoins::Unsupported { .. } => return Err(ReceiveError::NoRate),
        };
        if payment.gross.is_positive() {
            return Err(ReceiveError::NoRate);
        }
        let next = self.next_credit(self.credited.coins.checked_add(coins)?)?;
        let is_late = payment.created_at > issued.expires_at;
        self.credit(payment, issued, next, is_late, at)
    }

    /// Returns the processor's data of the deposit, if an operator may credit the payment.
    fn issued_for_review(&self, payment: &DepositPayment) -> Result<Issued, ReceiveError> {
        match payment.state {
            PaymentState::Review(PaymentReview::FewerCoins) => Err(ReceiveError::NothingLeft),
            PaymentState::Review(_) => self.state.issued().cloned().ok_or(ReceiveError::NotIssued),
            PaymentState::Credited | PaymentState::Dismissed(_) => Err(ReceiveError::NotInReview),
        }
    }

    /// Returns the credit after which `total_coins` are credited. The value and the fee are computed from the sum of
    /// all coins. So several payments have the same credit as one payment of all coins.
    fn next_credit(&self, total_coins: CryptoAmount) -> Result<NextCredit, ReceiveError> {
        let (worth_before, worth) = (self.worth_of(self.credited.coins)?, self.worth_of(total_coins)?);
        let (fee_before, fee) = (self.price.fee_rule.fee(worth_before)?, self.price.fee_rule.fee(worth)?);
        Ok(NextCredit { total_coins, gross: worth.checked_sub(worth_before)?, fee: fee.checked_sub(fee_before)? })
    }

    fn new_payment(&self, arrival: &Arrival) -> DepositPayment {
        DepositPayment {
            id: arrival.id.clone(),
            account: self.account,
            deposit: self.id,
            processor: self.processor.clone(),
            coins: arrival.coins.clone(),
            tx_hash: arrival.tx_hash.clone(),
            gross: Money::ZERO,
            fee: Money::ZERO,
            state: PaymentState::Credited,
            created_at: arrival.seen_at,
            version: 0,
        }
    }

    /// Returns all coins of the payment, or the reason why the payment needs a review. `before` is the part of these
    /// coins that was credited before.
    fn reason_for_review(
        &self,
        payment: &DepositPayment,
        before: Option<CryptoAmount>,
        arrival: &Arrival,
    ) -> Result<CryptoAmount, PaymentReview> {
        let coins = match &arrival.coins {
            ArrivedCoins::Supported(coins) if coins.currency() == self.terms.currency => *coins,
            ArrivedCoins::Supported(_) | ArrivedCoins::Unsupported { .. } => return Err(PaymentReview::WrongAsset),
        };
        if before.is_some_and(|before| coins.units() < before.units()) {
            return Err(PaymentReview::FewerCoins);
        }
        match (&self.state, payment.state) {
            (_, PaymentState::Review(reason)) => Err(reason),
            (_, PaymentState::Dismissed(_))
            | (DepositState::Creating | DepositState::Abandoned { .. } | DepositState::Refunded { .. }, _) => {
                Err(PaymentReview::UnexpectedState)
            }
            (
                DepositState::Pending(_)
                | DepositState::Confirming(_)
                | DepositState::Completed { .. }
                | DepositState::Underpaid { .. }
                | DepositState::Expired { .. }
                | DepositState::Failed { .. },
                PaymentState::Credited,
            ) => {
                let in_time = self.accepts_payment_of(arrival.seen_at);
                if in_time { Ok(coins) } else { Err(PaymentReview::TooLate) }
            }
        }
    }

    /// Returns the BRL value of `total`. The requested coins are worth exactly the requested amount, although their
    /// number was rounded up.
    fn worth_of(&self, total: CryptoAmount) -> Result<Money, ReceiveError> {
        match total.compare(self.price.coins)? {
            Ordering::Equal => Ok(self.terms.amount),
            Ordering::Less | Ordering::Greater => Ok(worth_of_coins(total, &self.price.rate)?),
        }
    }

    /// Makes the next credit of the deposit.
    fn credit(
        self,
        payment: DepositPayment,
        issued: Issued,
        next: NextCredit,
        is_late: bool,
        at: Timestamp,
    ) -> Result<Resolved, ReceiveError> {
        let transfers = self.transfers(next.gross.checked_sub(next.fee)?, next.fee);
        let gross = self.credited.gross.checked_add(next.gross)?;
        let credited = Credited { coins: next.total_coins, gross, fee: self.credited.fee.checked_add(next.fee)? };
        // Before the first credit, the stored resolution is ignored, because it can belong to another payment in
        // review. If no coins were credited at the rate, there are no coins to compare. Then the reason of this
        // payment's review decides.
        let resolution = match self.resolution.filter(|_| self.is_credited()) {
            Some(Resolution::Late) => Some(Resolution::Late),
            None if is_late => Some(Resolution::Late),
            before @ (None | Some(Resolution::Exact | Resolution::Underpaid | Resolution::Overpaid)) => {
                if next.total_coins.is_zero() {
                    before.or(payment.resolution_in_review())
                } else {
                    Some(self.by_coins(next.total_coins)?)
                }
            }
        };
        // The state compares BRL, and the resolution compares coins. The two can differ after an operator's decision.
        let state = if let DepositState::Completed { .. } = self.state {
            self.state.clone()
        } else if gross < self.terms.amount {
            DepositState::Underpaid { issued, at }
        } else {
            DepositState::Completed { issued, at }
        };
        let first = self.confirmed_at.is_none().then_some(EventType::CryptoDepositConfirmed);
        let events = first.into_iter().chain([EventType::CryptoDepositCompleted]).collect();
        let payment = DepositPayment {
            gross: payment.gross.checked_add(next.gross)?,
            fee: payment.fee.checked_add(next.fee)?,
            state: PaymentState::Credited,
            ..payment
        };
        let confirmed_at = self.confirmed_at.or(Some(at));
        let deposit = Self { state, credited, resolution, confirmed_at, attempts: 0, ..self };
        let deposit = deposit.schedule_next_poll(at);
        Ok(Resolved { deposit, payment, transfers, events })
    }

    /// Compares coins with the requested coins. Fewer coins are exact if their value is the requested amount.
    pub(super) fn by_coins(&self, coins: CryptoAmount) -> Result<Resolution, ReceiveError> {
        Ok(match coins.compare(self.price.coins)? {
            Ordering::Less if self.worth_of(coins)? < self.terms.amount => Resolution::Underpaid,
            Ordering::Less | Ordering::Equal => Resolution::Exact,
            Ordering::Greater => Resolution::Overpaid,
        })
    }

    fn transfers(&self, net: Money, fee: Money) -> Vec<Transfer> {
        let crypto = LedgerAccount::system(SystemAccount::Crypto(self.processor.clone()), self.account);
        let fees = LedgerAccount::system(SystemAccount::Fees, self.account);
        let available = LedgerAccount::Merchant(self.account, Bucket::Available);
        let transfer = |to, amount, kind| Transfer {
            from: crypto.clone(),
            to,
            amount,
            overdraft: Overdraft::Allowed,
            kind,
            resource: Some(self.id.to_string()),
            end_to_end_id: None,
        };
        let both = [transfer(available, net, EntryKind::CryptoDeposit), transfer(fees, fee, EntryKind::Fee)];
        both.into_iter().filter(|transfer| !transfer.amount.is_zero()).collect()
    }
}

impl DepositPayment {
    /// Returns the payment with the coins and the transaction that the processor shows now.
    fn showing(self, arrival: &Arrival) -> Self {
        Self { coins: arrival.coins.clone(), tx_hash: arrival.tx_hash.clone().or(self.tx_hash), ..self }
    }

    /// Records that an operator decided to credit no further money.
    ///
    /// # Errors
    /// [`ReceiveError::NotInReview`].
    pub fn dismiss(self) -> Result<Self, ReceiveError> {
        let PaymentState::Review(reason) = self.state else { return Err(ReceiveError::NotInReview) };
        Ok(Self { state: PaymentState::Dismissed(reason), ..self })
    }

    /// Returns `true` if the reason of the review is [`PaymentReview::NotFinished`], also after an operator dismissed
    /// the payment.
    #[must_use]
    pub const fn is_unfinished(&self) -> bool {
        matches!(
            self.state,
            PaymentState::Review(PaymentReview::NotFinished) | PaymentState::Dismissed(PaymentReview::NotFinished)
        )
    }

    /// Returns the credited coins. Returns `None` if the payment is not credited or has an unsupported currency.
    const fn credited_coins(&self) -> Option<CryptoAmount> {
        match (&self.coins, self.state) {
            (ArrivedCoins::Supported(coins), PaymentState::Credited) => Some(*coins),
            (ArrivedCoins::Supported(_) | ArrivedCoins::Unsupported { .. }, _) => None,
        }
    }
}

fn review(payment: DepositPayment, reason: PaymentReview) -> Received {
    Received::Review(Box::new(DepositPayment { state: PaymentState::Review(reason), ..payment }))
}
