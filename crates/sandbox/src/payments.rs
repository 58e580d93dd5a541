//! Payments of charges: the payer's side of the simulation.

use std::sync::Arc;

use cais_domain::{
    end_to_end_id::{EndToEndId, EndToEndIdError},
    money::Money,
    txid::Txid,
};
use jiff::Timestamp;

use crate::{
    psp::{Psp, StoreError},
    random_ids,
    state::{change::Change, cob::CobStatus, payment::Payment},
};

/// The received Pix that a payment created.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PaidPix {
    /// The end-to-end id.
    pub end_to_end_id: EndToEndId,
    /// The charge's txid.
    pub txid: Txid,
    /// The received amount.
    pub amount: Money,
    /// The instant of the payment, by the simulator's clock.
    pub paid_at: Timestamp,
}

/// The reason a payment was not made.
#[derive(Debug, thiserror::Error)]
pub enum PayError {
    /// No charge has this txid.
    #[error("no charge has this txid")]
    CobNotFound,
    /// The amount is zero, negative, or beyond ten integer digits.
    #[error("the amount must be above 0.00 and below 10000000000.00")]
    InvalidAmount,
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The end-to-end id cannot be composed: the year of the simulated clock is beyond 9999.
    #[error(transparent)]
    Id(#[from] EndToEndIdError),
}

/// R$ 10,000,000,000.00: the smallest amount with more than ten integer digits, which the API cannot express.
pub const AMOUNT_LIMIT: Money = Money::from_centavos(1_000_000_000_000);

impl Psp {
    /// Pays `amount` for a charge; `None` pays the amount due. `txid` may also be the charge's `correlationID` of Woovi's API.
    ///
    /// The charge may have any status: late, second and insufficient payments are recorded too. Only a sufficient payment of an `ATIVA`
    /// charge concludes the charge.
    ///
    /// # Errors
    /// [`PayError`].
    pub fn pay(&self, txid: &Txid, amount: Option<Money>) -> Result<PaidPix, PayError> {
        let now = self.clock.now();
        let end_to_end_id =
            EndToEndId::compose(random_ids::OTHER_ISPB, now, &random_ids::tail().map_err(StoreError::from)?)?;
        let mut store = self.write();
        let (_, cob) = store.books().find_named_cob(txid.as_str()).ok_or(PayError::CobNotFound)?;
        let amount = amount.or_else(|| cob.amount_due()).ok_or(PayError::InvalidAmount)?;
        if !amount.is_positive() || amount >= AMOUNT_LIMIT {
            return Err(PayError::InvalidAmount);
        }
        let cash = cob.terms.value.withdrawal.as_ref().map_or(Money::ZERO, |w| w.terms().amount);
        let status = match cob.terms.status {
            CobStatus::Active if cob.is_settled_by(amount) => CobStatus::Concluded,
            unchanged @ (CobStatus::Active
            | CobStatus::Concluded
            | CobStatus::RemovedByReceiver
            | CobStatus::RemovedByPsp) => unchanged,
        };
        let payment = Payment {
            end_to_end_id: Arc::from(end_to_end_id.as_str()),
            txid: cob.txid.clone(),
            amount,
            withdrawn: cash.min(amount),
            paid_at: now,
            refunds: Vec::new(),
        };
        let txid = Txid::parse(&payment.txid).unwrap_or_else(|_| txid.clone());
        let notify = self.webhook_url(&store);
        store.commit(Change::Paid { payment, status, notify })?;
        drop(store);
        self.wake_callbacks();
        Ok(PaidPix { end_to_end_id, txid, amount, paid_at: now })
    }
}
