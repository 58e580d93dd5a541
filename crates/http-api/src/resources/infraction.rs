//! The bodies of infractions. In lists, an infraction is shown without the text and the evidence of its defense.

use cais_domain::external_id::ExternalId;
use cais_domain::infraction::{InfractionStatus as Status, Situation};
use cais_domain::text::Text;
use serde::Serialize;
use utoipa::ToSchema;

use super::values::{Amount, Instant, Page, closed_list};

closed_list! {
    /// The status of an infraction. `under_review`: the acquirer has the defense, and has not decided yet. `won`, `lost`: as seen by the
    /// merchant. `cancelled`: the payer's side withdrew the infraction.
    InfractionStatus Status::ALL.map(Status::as_str)
}

closed_list! {
    /// The kind of situation that a payer reports, as DICT names it.
    ReasonCode Situation::ALL.map(Situation::as_str)
}

/// A disputed Pix (MED).
#[derive(Serialize, ToSchema)]
pub struct Infraction<'a> {
    /// Public id, prefix `inf_`.
    pub id: String,
    /// The caller's own identifier of the disputed charge.
    #[schema(required)]
    pub external_id: Option<&'a str>,
    /// The end-to-end id of the disputed Pix.
    #[schema(required)]
    pub end_to_end_id: Option<&'a str>,
    /// The reason that the payer's institution reported.
    #[schema(required)]
    pub reason: Option<&'a str>,
    /// The kind of situation that the payer reports.
    #[schema(value_type = Option<ReasonCode>, required)]
    pub reason_code: &'static str,
    /// The disputed amount, in BRL.
    #[schema(value_type = Option<Amount>, inline, required)]
    pub amount: Amount,
    /// The status.
    #[schema(value_type = InfractionStatus)]
    pub status: &'static str,
    /// Time of the dispute's start.
    #[schema(value_type = Option<String>, required, format = DateTime)]
    pub opened_at: Instant,
    /// Deadline of the defense.
    #[schema(value_type = Option<String>, required, format = DateTime)]
    pub deadline_at: Option<Instant>,
    /// Time of the resolution.
    #[schema(value_type = Option<String>, required, format = DateTime)]
    pub resolved_at: Option<Instant>,
    /// Time at which the acquirer received the defense.
    #[schema(value_type = Option<String>, required, format = DateTime)]
    pub defense_submitted_at: Option<Instant>,
}

/// A disputed Pix (MED) with its defense.
#[derive(Serialize, ToSchema)]
pub struct InfractionDetail<'a> {
    #[serde(flatten)]
    #[schema(inline)]
    infraction: Infraction<'a>,
    /// The text of the merchant's defense.
    #[schema(required)]
    pub defense_text: Option<&'a str>,
    /// The address of further evidence for the defense.
    #[schema(required)]
    pub defense_evidence_url: Option<&'a str>,
}

/// A page of infractions, each without the text and the evidence of its defense.
pub type InfractionPage = Page<Infraction<'static>>;

impl<'a> From<&'a cais_domain::infraction::Infraction> for Infraction<'a> {
    fn from(infraction: &'a cais_domain::infraction::Infraction) -> Self {
        let submitted_at = infraction.defense.as_ref().and_then(|defense| defense.submitted_at);
        Self {
            id: infraction.id.to_string(),
            external_id: infraction.external_id.as_ref().map(ExternalId::as_str),
            end_to_end_id: Some(infraction.end_to_end_id.as_str()),
            reason: infraction.reason.as_deref(),
            reason_code: infraction.situation.as_str(),
            amount: Amount(infraction.amount),
            status: infraction.state.status().as_str(),
            opened_at: Instant(infraction.opened_at),
            deadline_at: infraction.deadline_at.map(Instant),
            resolved_at: infraction.state.resolved_at().map(Instant),
            defense_submitted_at: submitted_at.map(Instant),
        }
    }
}

impl<'a> From<&'a cais_domain::infraction::Infraction> for InfractionDetail<'a> {
    fn from(infraction: &'a cais_domain::infraction::Infraction) -> Self {
        let defense = infraction.defense.as_ref();
        Self {
            infraction: infraction.into(),
            defense_text: defense.and_then(|defense| defense.text.as_ref()).map(Text::as_str),
            defense_evidence_url: defense.and_then(|defense| defense.evidence_url.as_ref()).map(Text::as_str),
        }
    }
}
