//! Withdrawals: payout batches, their verification and their outcomes.

use std::sync::PoisonError;

use jiff::{SignedDuration, Timestamp};

use super::{
    amount::Amount,
    coins::Coin,
    error::CryptoError,
    ipn,
    state::{
        CryptoChange,
        payout::{Batch, MAX_VERIFICATIONS, Withdrawal, WithdrawalOutcome, WithdrawalStatus},
    },
    totp,
};
use crate::{
    psp::{Psp, Store, StoreError},
    random_ids,
    state::change::Change,
};

/// The largest number of decimals of a withdrawal's amount.
pub const PAYOUT_DECIMALS: u32 = 6;

/// The largest number of remembered TOTP codes. More are not needed, because only three codes are valid at any instant.
const MAX_USED_CODES: usize = 16;

/// A client's request for one withdrawal.
#[derive(Clone, Debug)]
pub struct WithdrawalOrder {
    /// The coin.
    pub coin: &'static Coin,
    /// The address.
    pub address: String,
    /// The amount.
    pub amount: Amount,
    /// `extra_id`.
    pub extra_id: Option<String>,
    /// `ipn_callback_url` of the withdrawal, otherwise of the batch.
    pub ipn_callback_url: Option<String>,
    /// `payout_description` of the withdrawal, otherwise of the batch.
    pub description: Option<String>,
    /// `unique_external_id`.
    pub external_id: Option<String>,
}

impl Psp {
    /// Creates a payout batch, and debits the amounts and network fees from the balances.
    ///
    /// # Errors
    /// 400 if a coin is off, an amount is below the minimum, or a balance does not cover the amounts and fees. No batch is created then.
    pub fn create_batch(&self, orders: Vec<WithdrawalOrder>) -> Result<Batch, CryptoError> {
        self.settle_due()?;
        let now = self.clock.now();
        let mut store = self.write();
        let id = self.next_id(&store);
        let mut change = CryptoChange::default();
        let mut withdrawals: Vec<Withdrawal> = Vec::new();
        for (order, number) in orders.into_iter().zip(id + 1..) {
            let terms = self.crypto.market.terms(order.coin);
            if !terms.is_enabled {
                return Err(CryptoError::currency(order.coin.code));
            }
            if order.amount < terms.min_payout {
                let (amount, minimum) = (order.amount, terms.min_payout);
                let message = format!("Withdrawal amount {amount} is less than minimal {minimum}");
                return Err(CryptoError::withdrawal(message));
            }
            let coin: Box<str> = order.coin.code.into();
            let debit = &order.amount + &terms.payout_fee;
            let others = change.debits.iter().filter(|(other, _)| *other == coin).map(|(_, amount)| amount);
            let needed = others.fold(debit.clone(), |sum, amount| &sum + amount);
            let balance = store.books().crypto().balance(&coin);
            if needed > balance {
                return Err(CryptoError::not_covered(&coin, &needed.to_string(), &balance.to_string()));
            }
            change.debits.push((coin.clone(), debit));
            withdrawals.push(Withdrawal {
                id: number,
                address: order.address.into(),
                currency: coin,
                amount: order.amount,
                fee: terms.payout_fee,
                extra_id: order.extra_id.map(Into::into),
                ipn_callback_url: order.ipn_callback_url.map(Into::into),
                description: order.description.map(Into::into),
                external_id: order.external_id.map(Into::into),
                status: WithdrawalStatus::Creating,
                hash: None,
                error: None,
                requested_at: None,
                updated_at: None,
                outcome: WithdrawalOutcome::default(),
                settles_at: None,
            });
        }
        let batch = Batch { id, created_at: now, verified_at: None, verifications: 0, codes: Vec::new(), withdrawals };
        change.ipns.extend(batch.withdrawals.iter().filter_map(|withdrawal| ipn::of_withdrawal(&batch, withdrawal)));
        change.batches.push(batch.clone());
        store.commit(Change::Crypto(Box::new(change)))?;
        drop(store);
        self.settlement_wakeup.notify_one();
        self.crypto.ipn_wakeup.notify_one();
        Ok(batch)
    }

    /// Verifies a batch by a TOTP code. Its withdrawals are then `PROCESSING`.
    ///
    /// # Errors
    /// - 404 for an unknown batch.
    /// - 400 for a wrong code, and for a code that was already tried for this batch. With the setting `totp_once`, also for a code that was
    ///   accepted for another batch.
    /// - 400 after ten attempts, and for a batch that does not wait for its verification.
    pub fn verify_batch(&self, id: u64, code: &str) -> Result<(), CryptoError> {
        self.settle_due()?;
        let now = self.clock.now();
        let settings = self.crypto.settings();
        let mut store = self.write();
        let found = store.books().crypto().batches().get(&id);
        let mut batch = found.ok_or_else(|| CryptoError::not_found("Payout"))?.clone();
        let is_open = batch.withdrawals.iter().any(|withdrawal| withdrawal.status == WithdrawalStatus::Creating);
        if !is_open {
            return Err(CryptoError::bad_request("Payout is already verified or rejected"));
        }
        if batch.verifications >= MAX_VERIFICATIONS {
            return Err(CryptoError::bad_request("The attempts at verification are used up"));
        }
        batch.verifications += 1;
        let is_repeated = batch.codes.iter().any(|used| **used == *code);
        batch.codes.push(code.into());
        let is_valid = totp::is_valid(&self.crypto.keys.totp, now, code) && !is_repeated;
        if !is_valid || !self.use_code(code, settings.totp_once) {
            let change = CryptoChange { batches: vec![batch], ..CryptoChange::default() };
            store.commit(Change::Crypto(Box::new(change)))?;
            return Err(CryptoError::bad_request("Invalid verification code"));
        }
        batch.verified_at = Some(now);
        let mut change = CryptoChange::default();
        let delay = settings.withdrawal_takes_ms.map(|ms| SignedDuration::from_millis(ms.into()));
        let settles_at = now.saturating_add(delay.unwrap_or(self.payout_settles_after)).unwrap_or(Timestamp::MAX);
        for position in 0..batch.withdrawals.len() {
            let withdrawal = batch.withdrawals.get_mut(position);
            let Some(withdrawal) = withdrawal.filter(|one| one.status == WithdrawalStatus::Creating) else { continue };
            withdrawal.outcome = settings.withdrawal_outcome;
            withdrawal.settles_at = Some(settles_at);
            withdrawal.requested_at = Some(now);
            for status in [WithdrawalStatus::Waiting, WithdrawalStatus::Processing] {
                enter(&mut change, &mut batch, position, status, now)?;
            }
        }
        change.batches.push(batch);
        store.commit(Change::Crypto(Box::new(change)))?;
        drop(store);
        self.settlement_wakeup.notify_one();
        self.crypto.ipn_wakeup.notify_one();
        Ok(())
    }

    /// Records an accepted code. Returns `false` if `once` is set and the code was used before.
    fn use_code(&self, code: &str, once: bool) -> bool {
        let mut used = self.crypto.used_codes.lock().unwrap_or_else(PoisonError::into_inner);
        if once && used.iter().any(|other| other == code) {
            return false;
        }
        if used.len() >= MAX_USED_CODES {
            used.remove(0);
        }
        used.push(code.to_owned());
        true
    }

    /// Moves a withdrawal to `outcome` at the tester's request, and returns its batch. With [`WithdrawalOutcome::Stay`], a verified
    /// withdrawal keeps its status until the tester moves it. A `FAILED` withdrawal may still be finished or rejected. If `id` is the id of
    /// a batch, its first withdrawal is moved.
    ///
    /// # Errors
    /// - 404 for an unknown id.
    /// - 400 for a withdrawal that is finished or rejected, and for [`WithdrawalOutcome::Finish`] before the verification.
    pub fn move_withdrawal(&self, id: u64, outcome: WithdrawalOutcome) -> Result<Batch, CryptoError> {
        self.settle_due()?;
        let now = self.clock.now();
        let mut store = self.write();
        let found = store.books().crypto().find_batch(id);
        let mut batch = found.ok_or_else(|| CryptoError::not_found("Payout"))?.clone();
        let position = batch.withdrawals.iter().position(|withdrawal| withdrawal.id == id).unwrap_or(0);
        let withdrawal = batch.withdrawals.get_mut(position).ok_or_else(|| CryptoError::not_found("Payout"))?;
        let status = withdrawal.status;
        withdrawal.outcome = outcome;
        let steps: &[WithdrawalStatus] = match (outcome, status) {
            (_, WithdrawalStatus::Finished | WithdrawalStatus::Rejected | WithdrawalStatus::Cancelled) => {
                return Err(CryptoError::bad_request("the withdrawal is final"));
            }
            (WithdrawalOutcome::Stay, _) => &[],
            (WithdrawalOutcome::Finish, WithdrawalStatus::Creating) => {
                return Err(CryptoError::bad_request("the withdrawal is not verified"));
            }
            (WithdrawalOutcome::Finish, WithdrawalStatus::Sending) => &[WithdrawalStatus::Finished],
            (WithdrawalOutcome::Finish, _) => &[WithdrawalStatus::Sending, WithdrawalStatus::Finished],
            (WithdrawalOutcome::Reject, _) => &[WithdrawalStatus::Rejected],
            (WithdrawalOutcome::Fail, _) => &[WithdrawalStatus::Failed],
        };
        let mut change = CryptoChange::default();
        for status in steps {
            enter(&mut change, &mut batch, position, *status, now)?;
        }
        change.batches.push(batch.clone());
        store.commit(Change::Crypto(Box::new(change)))?;
        drop(store);
        self.crypto.ipn_wakeup.notify_one();
        Ok(batch)
    }
}

/// Moves the first due withdrawal of a batch by one status.
pub(crate) fn settle_batch(store: &mut Store, id: u64, now: Timestamp) -> Result<(), StoreError> {
    let Some(mut batch) = store.books().crypto().batches().get(&id).cloned() else { return Ok(()) };
    let at = batch.due_at().unwrap_or(now).min(now);
    let Some(position) = batch.find_due(now) else { return Ok(()) };
    let Some(next) = batch.withdrawals.get(position).map(Withdrawal::next_status) else { return Ok(()) };
    let mut change = CryptoChange::default();
    enter(&mut change, &mut batch, position, next, at)?;
    change.batches.push(batch);
    store.commit(Change::Crypto(Box::new(change)))
}

/// Sets the status of the withdrawal at `position`, and adds its notification to `change`. For a rejected withdrawal also adds the credit
/// of its amount and fee. The caller adds the batch to `change`.
fn enter(
    change: &mut CryptoChange,
    batch: &mut Batch,
    position: usize,
    status: WithdrawalStatus,
    at: Timestamp,
) -> Result<(), StoreError> {
    let Some(withdrawal) = batch.withdrawals.get_mut(position) else { return Ok(()) };
    withdrawal.status = status;
    withdrawal.updated_at = Some(at);
    match status {
        WithdrawalStatus::Sending => {
            withdrawal.error = None;
            withdrawal.hash = Some(format!("{}{}", random_ids::hex()?, random_ids::hex()?).into());
        }
        WithdrawalStatus::Rejected | WithdrawalStatus::Cancelled => {
            withdrawal.error = Some("Rejected by the processor".into());
            change.credits.push((withdrawal.currency.clone(), &withdrawal.amount + &withdrawal.fee));
        }
        WithdrawalStatus::Failed => withdrawal.error = Some("Transaction failed".into()),
        WithdrawalStatus::Creating
        | WithdrawalStatus::Waiting
        | WithdrawalStatus::Processing
        | WithdrawalStatus::Finished => {}
    }
    let batch = &*batch;
    change.ipns.extend(batch.withdrawals.get(position).and_then(|withdrawal| ipn::of_withdrawal(batch, withdrawal)));
    Ok(())
}
