//! The JSON form of payments in Woovi's answers and webhooks, before and after their approval.

use cais_domain::{
    money::Money,
    pix_key::{PixKey, PixKeyType},
};
use jiff::Timestamp;
use serde_json::{Value, json};

use crate::{
    recipients,
    state::{
        Books,
        sent::{SendFailure, SendOutcome, Sent},
    },
    wire::instant,
    woovi::state::payment::PaymentRequest,
};

/// The name of the bank of every recipient.
const BANK: &str = "PSP DO RECEBEDOR";

/// A payment: its request through Woovi's API, its sent Pix, or both.
#[derive(Clone, Copy, Debug)]
pub struct Payment<'a> {
    /// The request; `None` for a Pix that was sent through Efí's API.
    pub request: Option<&'a PaymentRequest>,
    /// The sent Pix; `None` before the approval.
    pub sent: Option<&'a Sent>,
}

impl<'a> Payment<'a> {
    /// Returns the payment with this `correlationID`; `None` if it is unknown or removed.
    #[must_use]
    pub fn find(books: &'a Books, id: &str) -> Option<Self> {
        let request = books.woovi().find_payment(id).filter(|request| !request.is_removed);
        let sent = books.sends().find(id);
        (request.is_some() || sent.is_some()).then_some(Self { request, sent })
    }

    /// Returns all payments that were not removed, the newest first.
    #[must_use]
    pub fn all(books: &'a Books) -> Vec<Self> {
        let requests = books.woovi().payments().iter().filter(|request| !request.is_removed);
        let requested =
            requests.map(|request| Self { request: Some(request), sent: books.sends().find(&request.correlation_id) });
        let others = books.sends().all().iter().filter(|sent| books.woovi().find_payment(&sent.send_id).is_none());
        let mut all: Vec<Self> = requested.chain(others.map(|sent| Self { request: None, sent: Some(sent) })).collect();
        all.sort_by_key(|payment| std::cmp::Reverse(payment.created_at()));
        all
    }

    /// Returns the instant of the request.
    #[must_use]
    pub fn created_at(self) -> Timestamp {
        let sent_at = self.sent.map(|sent| sent.requested_at);
        self.request.map(|request| request.created_at).or(sent_at).unwrap_or(Timestamp::MIN)
    }

    /// Returns the payment, after its approval with the fields `transaction` and `destination` (the recipient).
    #[must_use]
    pub fn view(self) -> Value {
        match self.sent {
            None => json!({ "payment": self.payment() }),
            Some(sent) => {
                let transaction = transaction(sent);
                json!({ "payment": self.payment(), "transaction": transaction, "destination": destination(sent) })
            }
        }
    }

    /// Returns the field `payment`.
    #[must_use]
    pub fn payment(self) -> Value {
        let key =
            self.request.map_or_else(|| self.sent.map_or("", |sent| &*sent.recipient.key), |request| &*request.key);
        let amount = self.request.map(|request| request.amount).or(self.sent.map(|sent| sent.amount));
        let id = self.request.map(|request| &request.correlation_id).or(self.sent.map(|sent| &sent.send_id));
        let comment = self.request.map_or_else(
            || self.sent.and_then(|sent| sent.payer_info.as_deref()),
            |request| request.comment.as_deref(),
        );
        json!({
            "type": "PIX_KEY",
            "value": amount.map_or(0, Money::centavos),
            "status": self.status(),
            "destinationAlias": key,
            "destinationAliasType": self.request.map_or_else(|| alias_type(key), |request| &*request.key_type),
            "comment": comment.unwrap_or_default(),
            "correlationID": id,
        })
    }

    fn status(self) -> &'static str {
        match self.sent.map(|sent| sent.outcome) {
            None => "CREATED",
            Some(SendOutcome::Processing) => "APPROVED",
            Some(SendOutcome::Settled { .. }) => "CONFIRMED",
            Some(SendOutcome::Failed(_)) => "FAILED",
        }
    }
}

/// Returns the field `transaction` of an approved payment.
#[must_use]
pub fn transaction(sent: &Sent) -> Value {
    let time = match sent.outcome {
        SendOutcome::Settled { at } => at,
        SendOutcome::Processing | SendOutcome::Failed(_) => sent.requested_at,
    };
    let mut view = json!({
        "value": sent.amount.centavos(),
        "endToEndId": sent.end_to_end_id,
        "time": instant(time),
    });
    if let (SendOutcome::Failed(failure), Some(fields)) = (sent.outcome, view.as_object_mut()) {
        fields.insert("providerRejectedReason".to_owned(), failure.code().into());
    }
    view
}

/// Returns the field `error` of a webhook about a failed payment.
#[must_use]
pub fn error(failure: SendFailure) -> Value {
    let (code, description) = match failure {
        SendFailure::OtherOwner => ("PIX_KEY_INFO_ERROR", "Erro ao consultar informações da chave pix do pagamento"),
        SendFailure::NoSuchAccount => ("PAY_PIX_KEY_ERROR", "Falha ao Pagar Chave Pix"),
    };
    json!({ "code": code, "description": description })
}

fn destination(sent: &Sent) -> Value {
    let recipient = &sent.recipient;
    json!({
        "name": recipient.name,
        "taxID": recipient.document,
        "pixKey": recipient.key,
        "bank": BANK,
        "branch": "0001",
        "account": recipients::account_of(recipient),
    })
}

/// Returns Woovi's name for the type of a Pix key.
#[must_use]
pub fn alias_type(key: &str) -> &'static str {
    PixKey::parse(key).map_or("RANDOM", |key| match key.key_type() {
        PixKeyType::Cpf => "CPF",
        PixKeyType::Cnpj => "CNPJ",
        PixKeyType::Email => "EMAIL",
        PixKeyType::Phone => "PHONE",
        PixKeyType::Evp => "RANDOM",
    })
}
