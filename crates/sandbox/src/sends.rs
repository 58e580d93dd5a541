//! Sends: Pix that the account makes, at most one for each `idEnvio`, paid for when they are accepted.

use std::sync::Arc;

use cais_domain::{
    document::Document,
    end_to_end_id::{EndToEndId, EndToEndIdError, ReturnId},
    money::Money,
    pix_key::PixKey,
};
use jiff::Timestamp;

use crate::{
    dice,
    psp::{Psp, Store, StoreError},
    recipients,
    state::{
        change::Change,
        sent::{GivenBack, SendFailure, SendOutcome, Sent},
    },
};

/// What a client asks for.
#[derive(Clone, Debug)]
pub struct SendRequest {
    /// `idEnvio`.
    pub id: Box<str>,
    /// How much, above zero.
    pub amount: Money,
    /// To whom.
    pub key: PixKey,
    /// Whose key that must be, when told.
    pub document: Option<Document>,
    /// Text for the recipient.
    pub payer_info: Option<Box<str>>,
}

/// Why a send was refused. Nothing was sent then.
#[derive(Debug, thiserror::Error)]
pub enum SendError {
    /// The `idEnvio` was used before, whatever became of that send.
    #[error("the idEnvio was already used for another payment")]
    IdTaken,
    /// The account has not that much.
    #[error("the balance of the account is not sufficient")]
    NotCovered,
    /// The system cannot serve.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The id could not be composed; only a year beyond 9999 does that.
    #[error(transparent)]
    Id(#[from] EndToEndIdError),
}

/// Why nothing came back.
#[derive(Debug, thiserror::Error)]
pub enum GiveBackError {
    /// No send has this `idEnvio`.
    #[error("no send has this idEnvio")]
    NotFound,
    /// The recipient does not have the money.
    #[error("only a Pix that is REALIZADO can come back")]
    NotSettled,
    /// All of it came back before.
    #[error("all of the Pix has come back")]
    NothingLeft,
    /// Not positive, or more than is left.
    #[error("the amount must be above 0.00 and at most what is left of the Pix")]
    InvalidAmount,
    /// The system cannot serve.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The id could not be composed; only a year beyond 9999 does that.
    #[error(transparent)]
    Id(#[from] EndToEndIdError),
}

impl Psp {
    /// Accepts a send and takes its amount from the balance; it is `EM_PROCESSAMENTO` afterwards.
    ///
    /// # Errors
    /// [`SendError`].
    pub fn request_send(&self, request: SendRequest) -> Result<Sent, SendError> {
        // What fell due gives its money back first.
        self.settle_due()?;
        let now = self.clock.now();
        let end_to_end_id = EndToEndId::compose(dice::ISPB, now, &dice::tail().map_err(StoreError::from)?)?;
        let recipient = recipients::owner_of(&request.key);
        let manner = recipients::manner_of(&request.key);
        let is_expected =
            request.document.as_ref().is_none_or(|document| recipients::is_owned_by(&recipient, document));
        let settles_after = manner.settles_after.unwrap_or(self.payout_settles_after);
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
            doom: if is_expected { manner.failure } else { Some(SendFailure::OtherOwner) },
            outcome: SendOutcome::Processing,
            returns: Vec::new(),
            requests: 1,
        };
        store.commit(Change::SendAccepted(sent.clone()))?;
        drop(store);
        self.settlement_bell.notify_one();
        Ok(sent)
    }

    /// Makes every send final that was due by `now`, with the time at which it was.
    ///
    /// # Errors
    /// [`StoreError`].
    pub(crate) fn settle_sends(&self, store: &mut Store, now: Timestamp) -> Result<(), StoreError> {
        while let Some(sent) = store.books().sends().find_due(now) {
            let (send_id, outcome) = (sent.send_id.clone(), sent.destiny());
            let notify = self.webhook_url(store);
            store.commit(Change::SendEnded { send_id, outcome, notify })?;
            self.callback_bell.notify_one();
        }
        Ok(())
    }

    /// The recipient gives back `amount`, or all that is left.
    ///
    /// # Errors
    /// [`GiveBackError`].
    pub fn give_back(&self, send_id: &str, amount: Option<Money>) -> Result<GivenBack, GiveBackError> {
        self.settle_due()?;
        let now = self.clock.now();
        let tail = dice::tail().map_err(StoreError::from)?;
        let return_id = ReturnId::compose(dice::OTHER_ISPB, now, &tail)?;
        let mut store = self.write();
        let sent = store.books().sends().find(send_id).ok_or(GiveBackError::NotFound)?;
        match sent.outcome {
            SendOutcome::Settled { .. } => {}
            SendOutcome::Processing | SendOutcome::Failed(_) => return Err(GiveBackError::NotSettled),
        }
        let left = sent.returnable().filter(|left| left.is_positive()).ok_or(GiveBackError::NothingLeft)?;
        let amount = amount.unwrap_or(left);
        if !amount.is_positive() || amount > left {
            return Err(GiveBackError::InvalidAmount);
        }
        let back = GivenBack { return_id: Arc::from(return_id.as_str()), amount, at: now };
        let (send_id, notify) = (sent.send_id.clone(), self.webhook_url(&store));
        store.commit(Change::SendReturned { send_id, back: back.clone(), notify })?;
        drop(store);
        self.callback_bell.notify_one();
        Ok(back)
    }
}
