//! Payments of Woovi's API. A request for a payment moves no money. The approval of the payment sends a Pix. Before the approval, a
//! person may remove the payment on the institution's website; the tester simulates this person.

use std::sync::Arc;

use cais_domain::{money::Money, pix_key::PixKey};

use super::{
    error::WooviError,
    state::{WooviChange, payment::PaymentRequest},
    views::payment::alias_type,
};
use crate::{
    psp::Psp,
    recipients,
    sends::{SendError, SendRequest},
    state::sent::Sent,
};

/// The refusal of a used `correlationID`, in the words that Woovi documents.
const REPEATED: &str = "Já existe um pagamento com o correlationID fornecido";

/// The refusal of an approval above the balance, in the words that Woovi documents.
const NOT_COVERED: &str = "Você não possui saldo o suficiente para realizar esse pagamento";

/// A client's request for a payment.
#[derive(Clone, Debug)]
pub struct PaymentOrder {
    /// `correlationID`; after the approval also the `idEnvio` of the sent Pix.
    pub correlation_id: Box<str>,
    /// The amount.
    pub amount: Money,
    /// The recipient's key.
    pub key: PixKey,
    /// `comment`.
    pub comment: Option<Box<str>>,
}

impl Psp {
    /// Accepts a payment, which then waits for its approval. No money moves.
    ///
    /// # Errors
    /// [`WooviError`] for a used `correlationID`, and for the account's own key.
    pub fn request_payment(&self, order: PaymentOrder) -> Result<(), WooviError> {
        if order.key.as_str() == self.identity.pix_key {
            return Err(WooviError::refused("Chave pix inválida"));
        }
        let created_at = self.clock.now();
        let mut store = self.write();
        let books = store.books();
        if let Some(first) = books.woovi().find_payment(&order.correlation_id) {
            let id = first.correlation_id.clone();
            self.commit_woovi(&mut store, WooviChange::PaymentRepeated { id })?;
            return Err(WooviError::refused(REPEATED));
        }
        if books.sends().find(&order.correlation_id).is_some() {
            return Err(WooviError::refused(REPEATED));
        }
        let payment = PaymentRequest {
            correlation_id: Arc::from(order.correlation_id),
            amount: order.amount,
            key_type: alias_type(order.key.as_str()).into(),
            key: order.key.as_str().into(),
            comment: order.comment,
            created_at,
            is_removed: false,
            requests: 1,
        };
        Ok(self.commit_woovi(&mut store, WooviChange::Payment(payment))?)
    }

    /// Approves a payment. Returns the sent Pix, and `true` if the answer to the request must be lost (`lost@sandbox.cais`).
    ///
    /// # Errors
    /// [`WooviError`] for an unknown, removed or already approved payment, and for an amount above the balance. In the last case the
    /// payment stays `CREATED`.
    pub fn approve_payment(&self, id: &str) -> Result<(Sent, bool), WooviError> {
        let request = self.read().books().woovi().find_payment(id).filter(|request| !request.is_removed).cloned();
        let request = request.ok_or_else(|| WooviError::not_found("Payment"))?;
        let key = PixKey::parse(&request.key).map_err(|error| WooviError::internal(error.to_string()))?;
        let loses_reply = recipients::behavior_of(&key).loses_reply;
        let send = SendRequest {
            id: request.correlation_id.as_ref().into(),
            amount: request.amount,
            key,
            document: None,
            payer_info: request.comment,
        };
        let sent = self.request_send(send).map_err(|error| match error {
            SendError::IdTaken => WooviError::refused("Payment is already approved"),
            SendError::NotCovered => WooviError::refused(NOT_COVERED),
            SendError::Store(error) => error.into(),
            SendError::Id(error) => WooviError::internal(error.to_string()),
        })?;
        Ok((sent, loses_reply))
    }

    /// Removes a payment before its approval, as a person can do on the institution's website.
    ///
    /// # Errors
    /// [`WooviError`] for an unknown, removed or approved payment.
    pub fn remove_payment(&self, id: &str) -> Result<(), WooviError> {
        let mut store = self.write();
        let books = store.books();
        let request = books.woovi().find_payment(id).filter(|request| !request.is_removed);
        let id = request.ok_or_else(|| WooviError::not_found("Payment"))?.correlation_id.clone();
        if books.sends().find(&id).is_some() {
            return Err(WooviError::refused("Payment is already approved"));
        }
        Ok(self.commit_woovi(&mut store, WooviChange::PaymentRemoved { id })?)
    }
}
