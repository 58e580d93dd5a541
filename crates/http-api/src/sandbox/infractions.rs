//! `/v1/sandbox/charges/{id}/infraction` and `/v1/sandbox/infractions/{id}/resolve`: simulated disputes and outcomes.

use std::sync::Arc;

use actix_web::http::StatusCode;
use actix_web::{HttpResponse, post};
use cais_domain::ids::kind;
use cais_domain::infraction::{Infraction, Situation};
use cais_domain::money::Money;
use cais_strict_json::{Fields, Issues, Node, Problem};
use cais_use_cases::charges::fetch;
use cais_use_cases::infractions::{list, poll};
use utoipa::ToSchema;

use super::recorded::recorded;
use super::{blocking, controls, payment};
use crate::context::{Authorized, ChargesWrite, InfractionsWrite, run_detached};
use crate::describe::examples;
use crate::describe::failures::{Errors, OfBody};
use crate::error::{ApiError, ErrorCode, code};
use crate::infractions::no_such_infraction;
use crate::input::{Input, Json, JsonBody, NoQuery, OptionalJson};
use crate::named::{ById, Named};
use crate::resources::infraction::{InfractionDetail, ReasonCode};
use crate::resources::values::{AmountFrom, AnyAmount, closed_list};
use crate::{charges, reply, rules};

/// Longest time for a defense, in seconds: one year.
const MAX_DEADLINE_S: i64 = 31_536_000;

/// A simulated dispute.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ToSchema)]
#[schema(as = SandboxDispute)]
#[serde(deny_unknown_fields)]
pub struct InfractionRequest {
    /// The kind of situation that the payer reports; default: `SCAM`.
    #[schema(rename = "reason_code", value_type = Option<ReasonCode>)]
    pub situation: Option<Situation>,
    /// BRL; default: the whole paid amount.
    #[schema(value_type = Option<AnyAmount>, inline)]
    pub amount: Option<Money>,
    /// Seconds until the deadline of the defense; default: seven days.
    #[schema(minimum = 1, maximum = 31_536_000)]
    pub deadline_s: Option<u32>,
}

impl JsonBody for InfractionRequest {
    fn read(body: &Node<'_>, issues: &Issues) -> Option<Self> {
        let mut fields = Fields::of(body, "", issues)?;
        let situation = fields.optional("reason_code", situation);
        let amount = fields.optional("amount", payment).map(|AmountFrom(amount)| amount);
        let deadline_s = fields.optional("deadline_s", |node| rules::integer(node, &(1..=MAX_DEADLINE_S)));
        fields.finish();
        // The conversion cannot fail, because `rules::integer` has checked the bounds.
        let deadline_s = deadline_s.and_then(|seconds| u32::try_from(seconds).ok());
        Some(Self { situation, amount, deadline_s })
    }
}

closed_list! {
    /// The outcome of an infraction: `won` or `lost` for the merchant, or `cancelled` by the payer's institution.
    ResolutionName as Resolution Resolution::ALL.map(Resolution::as_str)
}

/// The outcome of an infraction in the sandbox.
#[derive(ToSchema)]
#[serde(deny_unknown_fields)]
pub struct SandboxResolution {
    /// The outcome.
    #[schema(value_type = ResolutionName)]
    outcome: Resolution,
}

impl JsonBody for SandboxResolution {
    fn read(body: &Node<'_>, issues: &Issues) -> Option<Self> {
        let mut fields = Fields::of(body, "", issues)?;
        let outcome = fields.required("outcome", outcome);
        fields.finish();
        Some(Self { outcome: outcome? })
    }
}

/// The outcome of a simulated infraction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Resolution {
    /// The infraction is decided for the merchant.
    Won,
    /// The infraction is decided for the payer.
    Lost,
    /// The payer's institution withdrew the infraction.
    Cancelled,
}

impl Resolution {
    /// All outcomes.
    pub const ALL: [Self; 3] = [Self::Won, Self::Lost, Self::Cancelled];

    /// Returns the name in requests.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Won => "won",
            Self::Lost => "lost",
            Self::Cancelled => "cancelled",
        }
    }
}

/// Disputes the Pix that paid a charge, and returns the new infraction.
///
/// # Errors
/// `VALIDATION_ERROR`, `account_suspended`, `not_found`, `external_id_in_progress`, `invalid_state`;
/// `internal_error` if the sandbox fails; an error of the store.
#[utoipa::path(
    operation_id = "sandboxOpenInfraction",
    tag = "sandbox",
    summary = "Dispute the Pix that paid a charge",
    description = "Available only with the built-in sandbox. Each request opens a new infraction. Scope: `charges:write`.",
    params(Named<kind::Charge>),
    request_body(content = Option<InfractionRequest>,
        example = json!(examples::literal(r#"{"reason_code":"SCAM","amount":10.50}"#))),
    responses(
        (status = 201, description = "The new infraction.", body = InfractionDetail,
            example = json!(examples::open_infraction())),
        Errors<(OfBody, code::AccountSuspended, code::NotFound, code::ExternalIdInProgress, code::InvalidState)>,
    ),
)]
#[post("/sandbox/charges/{id}/infraction")]
pub async fn open_infraction(
    call: Authorized<ChargesWrite>,
    input: Input<(NoQuery, Named<kind::Charge>, OptionalJson<InfractionRequest>)>,
) -> Result<HttpResponse, ApiError> {
    let Input((_, Named(name), OptionalJson(dispute))) = input;
    call.caller.account.permit_write()?;
    let (state, account) = (Arc::clone(&call.state), call.caller.account.id);
    let institution = Arc::clone(&controls(&call.state)?.institution);
    let work = async move {
        let charge = fetch::fetch(&state.ports, &state.syncs, account, &name).await.map_err(charges::fetch_error)?;
        let Some(settlement) = charge.state.settlement() else {
            let message =
                format!("The charge is {}: only a paid charge can be disputed.", charge.state.status().as_str());
            return Err(ApiError::new(ErrorCode::InvalidState).with_message(message));
        };
        let pix = settlement.end_to_end_id.clone();
        let disputed = pix.clone();
        let upstream_id = blocking(move || institution.open_infraction(&disputed, dispute)).await?;
        let read = async || {
            // An error of the pass is ignored: the pass has logged it, and the next `read` runs another pass.
            let _polled = poll::run_once(&state.ports).await;
            let all = state.ports.queries.list_infractions_of_pix(account, &pix).await?;
            Ok(all.into_iter().find(|infraction| infraction.upstream_id == upstream_id))
        };
        recorded(read, Option::is_some).await?.ok_or_else(no_such_infraction)
    };
    let infraction = run_detached(work).await??;
    let body = call.state.ports.representation.infraction(&infraction);
    Ok(reply::rendered(StatusCode::CREATED, body))
}

/// Resolves an infraction at the sandbox, and returns the infraction in its new state.
///
/// # Errors
/// `VALIDATION_ERROR`, `account_suspended`, `not_found`, `invalid_state`; `internal_error` if the sandbox fails; an error of the store.
#[utoipa::path(
    operation_id = "sandboxResolveInfraction",
    tag = "sandbox",
    summary = "Resolve an infraction",
    description = "Available only with the built-in sandbox. Scope: `infractions:write`.",
    params(ById<kind::Infraction>),
    request_body(content = SandboxResolution, example = json!(examples::literal(r#"{"outcome":"won"}"#))),
    responses(
        (status = 200, description = "The resolved infraction.", body = InfractionDetail,
            example = json!(examples::won_infraction())),
        Errors<(OfBody, code::AccountSuspended, code::NotFound, code::InvalidState)>,
    ),
)]
#[post("/sandbox/infractions/{id}/resolve")]
pub async fn resolve_infraction(
    call: Authorized<InfractionsWrite>,
    input: Input<(NoQuery, ById<kind::Infraction>, Json<SandboxResolution>)>,
) -> Result<HttpResponse, ApiError> {
    let Input((_, ById(id), Json(resolution))) = input;
    call.caller.account.permit_write()?;
    let (state, account) = (Arc::clone(&call.state), call.caller.account.id);
    let institution = Arc::clone(&controls(&call.state)?.institution);
    let work = async move {
        let find = async || Ok::<_, ApiError>(list::find(&state.ports, account, id).await?);
        let before = find().await?.ok_or_else(no_such_infraction)?;
        let status = before.state.status();
        if !status.is_open() {
            let message = format!("The infraction is {} and cannot be resolved again.", status.as_str());
            return Err(ApiError::new(ErrorCode::InvalidState).with_message(message));
        }
        let upstream_id = before.upstream_id;
        blocking(move || institution.resolve_infraction(&upstream_id, resolution.outcome)).await?;
        let read = async || {
            // An error of the pass is ignored: the pass has logged it, and the next `read` runs another pass.
            let _polled = poll::run_once(&state.ports).await;
            find().await?.ok_or_else(no_such_infraction)
        };
        recorded(read, |infraction| !infraction.state.status().is_open()).await
    };
    let infraction: Infraction = run_detached(work).await??;
    Ok(reply::rendered(StatusCode::OK, call.state.ports.representation.infraction(&infraction)))
}

fn situation(node: &Node<'_>) -> Result<Situation, Problem> {
    let known = Situation::parse(rules::string(node)?);
    known.ok_or_else(|| format!("must be one of {}", Situation::ALL.map(Situation::as_str).join(", ")).into())
}

fn outcome(node: &Node<'_>) -> Result<Resolution, Problem> {
    let name = rules::string(node)?;
    let known = Resolution::ALL.into_iter().find(|resolution| resolution.as_str() == name);
    known.ok_or_else(|| format!("must be one of {}", Resolution::ALL.map(Resolution::as_str).join(", ")).into())
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use cais_strict_json::read as read_json;

    use super::*;

    #[test]
    fn infraction_bodies_are_read_strictly() {
        let read = |body: &str| {
            let issues = Issues::default();
            let dispute = InfractionRequest::read(&read_json(body.as_bytes(), &issues), &issues);
            issues.unless_any(dispute).map_err(|issues| issues.len())
        };
        assert_eq!(read("{}"), Ok(InfractionRequest::default()));
        let full = read(r#"{"reason_code":"COERCION","amount":3.5,"deadline_s":60}"#).unwrap();
        assert_eq!((full.situation, full.deadline_s), (Some(Situation::Coercion), Some(60)));
        assert_eq!(full.amount, Some(Money::from_centavos(350)));
        assert_eq!(read(r#"{"reason_code":"golpe","amount":0,"deadline_s":0,"x":1}"#), Err(4));
        assert_eq!(read(r#"{"deadline_s":31536001}"#), Err(1));
    }
}
