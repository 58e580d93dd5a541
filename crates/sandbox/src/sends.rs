//! Sent Pix (Efí's payouts). An `idEnvio` belongs to at most one sent Pix. The account is debited when the request is accepted.

use std::sync::Arc;

use cais_domain::{
    document::Document,
    end_to_end_id::{EndToEndId, EndToEndIdError, ReturnId},
    money::Money,
    pix_key::PixKey,
};
use jiff::Timestamp;

use crate::{
    psp::{Psp, Store, StoreError},
    random_ids, recipients,
    state::{
        change::Change,
        sent::{SendFailure, SendOutcome, Sent, SentReturn},
    },
};

/// A client's request to send a Pix.
#[derive(Clone, Debug)]
pub struct SendRequest {
    /// `idEnvio`.
    pub id: Box<str>,
    /// The amount, above zero.
    pub amount: Money,
    /// The recipient's key.
    pub key: PixKey,
    /// The CPF or CNPJ that the client expects of the key's owner, if any. If the owner has another one, the Pix is accepted but fails
    /// when it is due.
    pub document: Option<Document>,
    /// `infoPagador`, text for the recipient.
    pub payer_info: Option<Box<str>>,
}

/// The reason why a request to send a Pix was refused. The request sent no Pix.
#[derive(Debug, thiserror::Error)]
pub enum SendError {
    /// An earlier sent Pix has this `idEnvio`, even if that Pix failed.
    #[error("the idEnvio was already used for another payment")]
    IdTaken,
    /// The balance does not cover the amount.
    #[error("the balance of the account is not sufficient")]
    NotCovered,
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The end-to-end id cannot be composed, because the simulator's clock is beyond the year 9999.
    #[error(transparent)]
    Id(#[from] EndToEndIdError),
}

/// The reason why the recipient of a sent Pix returned no money.
#[derive(Debug, thiserror::Error)]
pub enum ReturnSentError {
    /// No sent Pix has this `idEnvio`.
    #[error("no sent Pix has this idEnvio")]
    NotFound,
    /// The sent Pix is not `REALIZADO`, so the recipient does not have the money.
    #[error("only a Pix with the status REALIZADO can be returned")]
    NotSettled,
    /// The whole amount was returned before.
    #[error("the whole Pix was returned already")]
    NothingLeft,
    /// The amount is not positive, or exceeds the part of the Pix that is not returned yet.
    #[error("the amount must be above 0.00 and at most the part of the Pix that is not returned yet")]
    InvalidAmount,
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The id of the return cannot be composed, because the simulator's clock is beyond the year 9999.
    #[error(transparent)]
    Id(#[from] EndToEndIdError),
}

impl Psp {
    /// Accepts a Pix to send in the status `EM_PROCESSAMENTO`, and debits the account.
    ///
    /// # Errors
    /// [`SendError`].
    pub fn request_send(&self, request: SendRequest) -> Result<Sent, SendError> {
        // A sent Pix that is due to fail ends first, so that its money is in the balance again.
        self.settle_due()?;
        let now = self.clock.now();
        let end_to_end_id = EndToEndId::compose(random_ids::ISPB, now, &random_ids::tail().map_err(StoreError::from)?)?;
        let recipient = recipients::owner_of(&request.key);
        let behavior = recipients::behavior_of(&request.key);
        let is_expected =
            request.document.as_ref().is_none_or(|document| recipients::is_owned_by(&recipient, document));
        let settles_after = behavior.settles_after.unwrap_or(self.payout_settles_after);
        let mut store = self.write();
        if let Some(first) = store.books().sends().find(&request.id) {
            let send_id = first.send_id.clone();
            store.commit(Change::SendRepeated { send_id })?;
            return Err(SendError::IdTaken);
        }
        if !store.books().funds().covers(request.amount) {
            return Err(SendError::NotCovered);
        }
        let sent = Sent {
            send_id: Arc::from(request.id),
            end_to_end_id: Arc::from(end_to_end_id.as_str()),
            amount: request.amount,
            payer_info: request.payer_info,
            recipient,
            requested_at: now,
            settles_at: now.saturating_add(settles_after).unwrap_or(Timestamp::MAX),
            planned_failure: if is_expected { behavior.failure } else { Some(SendFailure::OtherOwner) },
            outcome: SendOutcome::Processing,
            returns: Vec::new(),
            requests: 1,
        };
        store.commit(Change::SendAccepted(sent.clone()))?;
        drop(store);
        self.settlement_wakeup.notify_one();
        Ok(sent)
    }

    /// Ends every sent Pix that is due by `now`. A completed one has the instant at which it was due, not `now`.
    ///
    /// # Errors
    /// [`StoreError`].
    pub(crate) fn settle_sends(&self, store: &mut Store, now: Timestamp) -> Result<(), StoreError> {
        while let Some(sent) = store.books().sends().find_due(now) {
            let (send_id, outcome) = (sent.send_id.clone(), sent.final_outcome());
            let notify = self.webhook_url(store);
            store.commit(Change::SendEnded { send_id, outcome, notify })?;
            self.wake_callbacks();
        }
        Ok(())
    }

    /// Credits `amount` to the account, as if the recipient of a sent Pix returned it. The default of `amount` is the whole part of the
    /// Pix that is not returned yet.
    ///
    /// # Errors
    /// [`ReturnSentError`].
    pub fn return_sent(&self, send_id: &str, amount: Option<Money>) -> Result<SentReturn, ReturnSentError> {
        self.settle_due()?;
        let now = self.clock.now();
        let tail = random_ids::tail().map_err(StoreError::from)?;
        let return_id = ReturnId::compose(random_ids::OTHER_ISPB, now, &tail)?;
        let mut store = self.write();
        let sent = store.books().sends().find(send_id).ok_or(ReturnSentError::NotFound)?;
        match sent.outcome {
            SendOutcome::Settled { .. } => {}
            SendOutcome::Processing | SendOutcome::Failed(_) => return Err(ReturnSentError::NotSettled),
        }
        let left = sent.returnable().filter(|left| left.is_positive()).ok_or(ReturnSentError::NothingLeft)?;
        let amount = amount.unwrap_or(left);
        if !amount.is_positive() || amount > left {
            return Err(ReturnSentError::InvalidAmount);
        }
        let back = SentReturn { return_id: Arc::from(return_id.as_str()), amount, at: now };
        let (send_id, notify) = (sent.send_id.clone(), self.webhook_url(&store));
        store.commit(Change::SendReturned { send_id, back: back.clone(), notify })?;
        drop(store);
        self.wake_callbacks();
        Ok(back)
    }
}
