//! The tester's control of infractions: open, resolve, count.

use actix_web::{HttpResponse, http::StatusCode, web};
use cais_domain::{end_to_end_id::EndToEndId, infraction::Situation, money::Money};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{
    Control, ControlError,
    http::{amount, control, read},
};
use crate::{
    efi::infraction_views,
    infractions::{InfractionError, InfractionOutcome, NewDispute},
    pix::{
        Shared, json as answer,
        problem::{Kind, Problem},
    },
    state::{
        Books,
        infraction::{Infraction, InfractionStatus},
        payment::RefundOutcome,
    },
    wire,
};

/// An infraction with counts, so that a test can prove that no step happened twice.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct InfractionItem {
    /// `idInfracao`.
    #[serde(rename = "idInfracao")]
    pub id: String,
    /// The end-to-end id of the disputed Pix.
    #[serde(rename = "endToEndId")]
    pub end_to_end_id: String,
    /// `valor`: the disputed amount.
    #[serde(rename = "valor", with = "wire::amount")]
    pub amount: Money,
    /// The status.
    pub status: InfractionStatus,
    /// `abertura`: the instant of the last opening.
    #[serde(rename = "abertura", serialize_with = "wire::serialize_instant")]
    pub opened_at: Timestamp,
    /// `prazoFinalizacao`: the last instant for a defense.
    #[serde(rename = "prazoFinalizacao", serialize_with = "wire::serialize_instant")]
    pub deadline_at: Timestamp,
    /// `defesa`: the text of the defense; `None` without a defense since the last opening.
    #[serde(rename = "defesa")]
    pub defense: Option<String>,
    /// `defesas`: the number of defenses, without refused ones. Reopenings do not reset the number.
    #[serde(rename = "defesas")]
    pub defenses: u64,
    /// The number of requests that submitted a defense, including refused ones. The number survives restarts. A request that a fault
    /// stopped before it was processed is not counted.
    #[serde(rename = "requests")]
    pub defense_requests: u64,
    /// `devolucoes`: the number of returns made for the infraction.
    #[serde(rename = "devolucoes")]
    pub returns: usize,
    /// `devolvido`: the sum of these returns, without failed ones.
    #[serde(rename = "devolvido", with = "wire::amount")]
    pub returned: Money,
}

impl Control {
    /// Opens an infraction for a received Pix. Every call opens another infraction, even for the same Pix.
    ///
    /// # Errors
    /// [`ControlError::NotFound`]; [`ControlError::OutOfRange`] for an amount that is not positive or exceeds that of the Pix, and for a
    /// deadline below a second or above a year; [`ControlError::Store`].
    pub fn open_infraction(
        &self,
        end_to_end_id: &EndToEndId,
        dispute: NewDispute,
    ) -> Result<InfractionItem, ControlError> {
        let infraction = self.psp.open_infraction(end_to_end_id.as_str(), dispute)?;
        Ok(item(self.psp.read().books(), &infraction))
    }

    /// Resolves, withdraws or reopens an infraction. A resolved infraction can only be reopened or withdrawn.
    ///
    /// With [`InfractionOutcome::Lost`] the institution returns money of the Pix. The returned amount is the smallest of three: the
    /// disputed amount, the part of the Pix that is not returned yet, and the account's balance.
    ///
    /// # Errors
    /// - [`ControlError::NotFound`].
    /// - [`ControlError::InvalidState`] for `Won` or `Lost` if the infraction is not open, for `Reopened` if it is open, and for
    ///   `Cancelled` if it was withdrawn before.
    /// - [`ControlError::Store`].
    pub fn resolve_infraction(&self, id: &str, outcome: InfractionOutcome) -> Result<InfractionItem, ControlError> {
        let infraction = self.psp.resolve_infraction(id, outcome)?;
        Ok(item(self.psp.read().books(), &infraction))
    }
}

impl From<InfractionError> for ControlError {
    fn from(error: InfractionError) -> Self {
        match error {
            InfractionError::PaymentNotFound => Self::NotFound("the Pix"),
            InfractionError::NotFound => Self::NotFound("the infraction"),
            InfractionError::InvalidAmount => Self::OutOfRange { field: "valor" },
            InfractionError::InvalidDeadline => Self::OutOfRange { field: "prazo_s" },
            InfractionError::Resolved => Self::InvalidState("the infraction is resolved"),
            InfractionError::Cancelled => Self::InvalidState("the infraction is cancelled"),
            InfractionError::Open => Self::InvalidState("the infraction is open"),
            InfractionError::Store(error) => error.into(),
            InfractionError::Id(_) => Self::Id,
        }
    }
}

/// Returns all infractions in the order of their creation.
pub(super) fn items(books: &Books) -> Vec<InfractionItem> {
    books.infractions().all().iter().map(|infraction| item(books, infraction)).collect()
}

fn item(books: &Books, infraction: &Infraction) -> InfractionItem {
    let payment = books.find_payment(&infraction.end_to_end_id);
    let refunds = infraction.refunds.iter().filter_map(|id| payment?.find_refund(id));
    let made = refunds.filter(|refund| !matches!(refund.outcome, RefundOutcome::Failed { .. }));
    InfractionItem {
        id: infraction.id.to_string(),
        end_to_end_id: infraction.end_to_end_id.to_string(),
        amount: infraction.amount,
        status: infraction.status,
        opened_at: infraction.opened_at,
        deadline_at: infraction.deadline_at(),
        defense: infraction.defense.as_ref().map(|defense| defense.text.to_string()),
        defenses: infraction.defenses,
        defense_requests: infraction.requests,
        returns: infraction.refunds.len(),
        // The sum cannot overflow, because it is at most the amount of the Pix.
        returned: Money::sum(made.map(|refund| refund.amount)).unwrap_or(Money::ZERO),
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct NewDisputeBody {
    #[serde(rename = "tipoSituacao")]
    situation: Option<String>,
    valor: Option<Value>,
    prazo_s: Option<u32>,
    natureza: Option<String>,
}

/// `POST /sandbox/pix/{e2eid}/infraction` `{tipoSituacao?, valor?, prazo_s?, natureza?}`: 200 with the infraction.
///
/// # Errors
/// 404 for an unknown Pix, 400 for an invalid situation, nature, amount or deadline.
pub async fn open(path: web::Path<String>, payload: web::Payload, psp: Shared) -> Result<HttpResponse, Problem> {
    let body: NewDisputeBody = read(payload).await?;
    let unknown =
        |field, value: &str| Problem::violation(Kind::InvalidRequest, field, "is not an allowed value", value);
    let situation = body.situation.as_deref();
    let situation =
        situation.map(|word| situation_of(word).ok_or_else(|| unknown("tipoSituacao", word))).transpose()?;
    let is_operational = match body.natureza.as_deref() {
        None | Some("MED_FRAUDE") => false,
        Some("MED_OPERACIONAL") => true,
        Some(other) => return Err(unknown("natureza", other)),
    };
    let amount = body.valor.as_ref().map(|value| amount("valor", value)).transpose()?;
    let dispute = NewDispute { situation, amount, deadline_s: body.prazo_s, is_operational };
    let e2eid = EndToEndId::parse(&path).map_err(|_| Problem::new(Kind::NotFound, "the Pix does not exist"))?;
    answer(StatusCode::OK, &control(&psp).open_infraction(&e2eid, dispute)?)
}

/// Parses the name of a situation: the name in the Central Bank's directory (DICT), such as `SCAM`, or Efí's name, such as `golpe`.
fn situation_of(word: &str) -> Option<Situation> {
    Situation::ALL
        .into_iter()
        .find(|situation| situation.as_str() == word || infraction_views::situation(*situation) == word)
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct OutcomeBody {
    outcome: String,
}

/// `POST /sandbox/infractions/{id}/resolve` `{outcome}`: 200 with the infraction. `outcome` is `won`, `lost`, `cancelled` or `reopened`.
///
/// # Errors
/// 404 for an unknown id, 409 if the infraction's status excludes the outcome, 400 for any other `outcome`.
pub async fn resolve(id: web::Path<String>, payload: web::Payload, psp: Shared) -> Result<HttpResponse, Problem> {
    let body: OutcomeBody = read(payload).await?;
    let outcome = InfractionOutcome::parse(&body.outcome).ok_or_else(|| {
        let reason = "must be won, lost, cancelled or reopened";
        Problem::violation(Kind::InvalidRequest, "outcome", reason, &body.outcome)
    })?;
    answer(StatusCode::OK, &control(&psp).resolve_infraction(&id, outcome)?)
}
