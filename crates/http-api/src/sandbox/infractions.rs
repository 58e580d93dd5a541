//! `/v1/sandbox/charges/{id}/infraction` and `/v1/sandbox/infractions/{id}/resolve`: simulated disputes and outcomes.

use std::sync::Arc;
use std::time::Duration;

use actix_web::http::StatusCode;
use cais_domain::api_key::Scope;
use cais_domain::infraction::{Infraction, Situation};
use cais_domain::money::Money;
use cais_strict_json::{Complaint, Issues, Node};
use cais_use_cases::charges::fetch;
use cais_use_cases::infractions::{list, poll};
use cais_use_cases::keys::authenticate::Caller;
use tokio::time::Instant;

use super::{MAX_PAYMENT, MIN_PAYMENT, blocking, controls, object};
use crate::call::{Call, run_detached};
use crate::causes;
use crate::error::{ApiError, ErrorCode, STORE_RETRY_AFTER_S};
use crate::infractions::no_such_infraction;
use crate::openapi::{examples, operation};
use crate::reply::Reply;
use crate::routes::Route;
use crate::rules;
use crate::state::AppState;
use crate::{charges, infractions, named};

/// Time limit for the service to process a change at the institution; usually a few milliseconds.
const LEARNED_WITHIN: Duration = Duration::from_secs(5);
/// Pause between two reads.
const LOOK_EVERY: Duration = Duration::from_millis(50);
/// Longest time for a defense, in seconds: one year.
const MAX_DEADLINE_S: i64 = 31_536_000;

/// A simulated dispute of a Pix.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct AskedInfraction {
    /// The kind of situation; the institution's choice by default.
    pub situation: Option<Situation>,
    /// The disputed amount; the whole Pix by default.
    pub amount: Option<Money>,
    /// Seconds until the deadline of the defense; seven days by default.
    pub deadline_s: Option<u32>,
}

/// The outcome of a simulated infraction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Resolution {
    /// For the merchant.
    Won,
    /// For the payer.
    Lost,
    /// The payer's side withdrew it.
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

/// The route of `open`.
pub const OPEN: Route = Route::write(
    "/v1/sandbox/charges/{id}/infraction",
    Scope::ChargesWrite,
    |call, caller| Box::pin(open(call, caller)),
    describe_open,
)
.with_sandbox();

/// Disputes the Pix that paid a charge, and returns the new infraction.
///
/// # Errors
/// `VALIDATION_ERROR`, `not_found`, `invalid_state`; an error of the store.
async fn open(call: &Call<'_>, caller: &Arc<Caller>) -> Result<Reply, ApiError> {
    let issues = Issues::default();
    let name = named::alone(call, &issues);
    let asked = claim(&call.body, &issues);
    let (name, asked) = issues.unless_any(name.zip(asked))?;
    caller.account.permit_write()?;
    let (state, account) = (Arc::clone(call.state), caller.account.id);
    let institution = Arc::clone(&controls(call)?.institution);
    let work = async move {
        let charge = fetch::fetch(&state.ports, &state.syncs, account, &name).await.map_err(charges::fetch_error)?;
        let Some(settlement) = charge.state.settlement() else {
            let what = format!("The charge is {}: only what was paid can be disputed.", charge.state.status().as_str());
            return Err(ApiError::new(ErrorCode::InvalidState).with_message(what));
        };
        let pix = settlement.end_to_end_id.clone();
        let disputed = pix.clone();
        let upstream_id = blocking(move || institution.open_infraction(&disputed, asked)).await?;
        let known = async || {
            let all = state.ports.queries.list_infractions_of_pix(account, &pix).await?;
            Ok(all.into_iter().find(|infraction| infraction.upstream_id == upstream_id))
        };
        learned(&state, known).await
    };
    let infraction = run_detached(work).await??;
    let body = call.state.ports.representation.infraction(&infraction);
    Ok(Reply { status: StatusCode::CREATED, ..Reply::json(body) })
}

fn describe_open() -> operation::Description {
    operation::Description {
        request: Some(("SandboxDispute", examples::literal(r#"{"reason_code":"SCAM","amount":10.50}"#))),
        errors: &[
            ErrorCode::AccountSuspended,
            ErrorCode::NotFound,
            ErrorCode::ExternalIdInProgress,
            ErrorCode::InvalidState,
        ],
        body_is_optional: true,
        ..operation::plain(
            "sandboxOpenInfraction",
            "sandbox",
            "Dispute the Pix that paid a charge",
            "Available only with the built-in sandbox. May be repeated: each is an infraction of its own.",
            vec![operation::json("201", "The new infraction.", "InfractionDetail", examples::open_infraction())],
        )
    }
}

/// The route of `resolve`.
pub const RESOLVE: Route = Route::write(
    "/v1/sandbox/infractions/{id}/resolve",
    Scope::InfractionsWrite,
    |call, caller| Box::pin(resolve(call, caller)),
    describe_resolve,
)
.with_sandbox();

/// Resolves an infraction upstream, and returns its new state.
///
/// # Errors
/// `VALIDATION_ERROR`, `not_found`, `invalid_state`; an error of the store.
async fn resolve(call: &Call<'_>, caller: &Arc<Caller>) -> Result<Reply, ApiError> {
    let issues = Issues::default();
    let id = infractions::named(call, &issues);
    let resolution = object(&call.body, &issues, |fields| fields.required("outcome", outcome));
    let (id, resolution) = issues.unless_any(id.zip(resolution))?;
    caller.account.permit_write()?;
    let (state, account) = (Arc::clone(call.state), caller.account.id);
    let institution = Arc::clone(&controls(call)?.institution);
    let work = async move {
        let find = async || Ok::<_, ApiError>(list::find(&state.ports, account, id).await?);
        let before = find().await?.ok_or_else(no_such_infraction)?;
        let status = before.state.status();
        if !status.is_open() {
            let what = format!("The infraction is {} and cannot be settled again.", status.as_str());
            return Err(ApiError::new(ErrorCode::InvalidState).with_message(what));
        }
        let upstream_id = before.upstream_id;
        blocking(move || institution.resolve_infraction(&upstream_id, resolution)).await?;
        learned(&state, async || Ok(find().await?.filter(|infraction| !infraction.state.status().is_open()))).await
    };
    let infraction: Infraction = run_detached(work).await??;
    Ok(Reply::json(call.state.ports.representation.infraction(&infraction)))
}

fn describe_resolve() -> operation::Description {
    operation::Description {
        request: Some(("SandboxResolution", examples::literal(r#"{"outcome":"won"}"#))),
        errors: &[ErrorCode::AccountSuspended, ErrorCode::NotFound, ErrorCode::InvalidState],
        ..operation::plain(
            "sandboxResolveInfraction",
            "sandbox",
            "Settle an infraction",
            "Available only with the built-in sandbox.",
            vec![operation::json("200", "The infraction after it.", "InfractionDetail", examples::won_infraction())],
        )
    }
}

/// Polls the institution's list until the service has recorded the expected state.
async fn learned(
    state: &AppState,
    known: impl AsyncFn() -> Result<Option<Infraction>, ApiError>,
) -> Result<Infraction, ApiError> {
    let deadline = Instant::now() + LEARNED_WITHIN;
    loop {
        let asked = poll::run_once(&state.ports).await;
        if let Some(infraction) = known().await? {
            return Ok(infraction);
        }
        if Instant::now() >= deadline {
            let cause = asked.err().map_or_else(|| "it is not in the list".to_owned(), |error| causes::chain(&error));
            let what = "The institution did it, but the service has not learned of it yet: see GET /v1/infractions.";
            let error = ApiError::new(ErrorCode::ServiceUnavailable).retry_after(STORE_RETRY_AFTER_S);
            return Err(error.with_message(what).with_cause(cause));
        }
        tokio::time::sleep(LOOK_EVERY).await;
    }
}

fn claim(body: &[u8], issues: &Issues) -> Option<AskedInfraction> {
    if body.is_empty() {
        return Some(AskedInfraction::default());
    }
    object(body, issues, |fields| {
        let situation = fields.optional("reason_code", situation);
        let amount = fields.optional("amount", |node| {
            let amount = rules::money(node, MIN_PAYMENT)?;
            if amount > MAX_PAYMENT { Err(format!("must be at most {MAX_PAYMENT}").into()) } else { Ok(amount) }
        });
        let deadline_s = fields.optional("deadline_s", |node| rules::integer(node, &(1..=MAX_DEADLINE_S)));
        // A value out of bounds is already reported.
        let deadline_s = deadline_s.and_then(|seconds| u32::try_from(seconds).ok());
        Some(AskedInfraction { situation, amount, deadline_s })
    })
}

fn situation(node: &Node<'_>) -> Result<Situation, Complaint> {
    let known = Situation::parse(rules::string(node)?);
    known.ok_or_else(|| format!("must be one of {}", Situation::ALL.map(Situation::as_str).join(", ")).into())
}

fn outcome(node: &Node<'_>) -> Result<Resolution, Complaint> {
    let word = rules::string(node)?;
    let known = Resolution::ALL.into_iter().find(|resolution| resolution.as_str() == word);
    known.ok_or_else(|| format!("must be one of {}", Resolution::ALL.map(Resolution::as_str).join(", ")).into())
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    #[test]
    fn infraction_bodies_are_read_strictly() {
        let read = |body: &str| {
            let issues = Issues::default();
            let asked = claim(body.as_bytes(), &issues);
            issues.unless_any(asked).map_err(|issues| issues.len())
        };
        assert_eq!(read(""), Ok(AskedInfraction::default()));
        assert_eq!(read("{}"), Ok(AskedInfraction::default()));
        let full = read(r#"{"reason_code":"COERCION","amount":3.5,"deadline_s":60}"#).unwrap();
        assert_eq!((full.situation, full.deadline_s), (Some(Situation::Coercion), Some(60)));
        assert_eq!(full.amount, Some(Money::from_centavos(350)));
        assert_eq!(read(r#"{"reason_code":"golpe","amount":0,"deadline_s":0,"x":1}"#), Err(4));
        assert_eq!(read(r#"{"deadline_s":31536001}"#), Err(1));
    }
}
