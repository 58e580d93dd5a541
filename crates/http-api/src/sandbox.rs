//! `/v1/sandbox/…`: the payer's side and the clock, for tests against the built-in sandbox.

pub mod infractions;
mod institution;
pub mod money_out;

use std::sync::Arc;
use std::time::Duration;

use actix_web::web::block;
use cais_domain::acquirer_name::AcquirerName;
use cais_domain::api_key::Scope;
use cais_domain::charge::Charge;
use cais_domain::money::Money;
use cais_domain::txid::Txid;
use cais_use_cases::charges::{ChargeName, fetch};
use cais_use_cases::keys::authenticate::Caller;
use cais_use_cases::sync_gate::SyncGate;

use crate::openapi::{examples, operation};
use crate::routes::{Route, Verb};

pub use self::infractions::{AskedInfraction, Resolution};
pub use self::institution::{FaultMode, Institution, InstitutionError};
use serde::Serialize;
use utoipa::ToSchema;

use super::call::{Call, run_detached};
use super::charges;
use super::error::{ApiError, ErrorCode};
use super::reply::Reply;
use super::rules;
use super::{named, query};
use crate::openapi::requests;
use crate::representation::values::to_json;
use cais_strict_json::Issues;
use cais_strict_json::Node;
use cais_strict_json::read;
use cais_strict_json::{Complaint, Fields};

/// Largest amount in API Pix: ten integer digits.
const MAX_PAYMENT: Money = Money::from_centavos(999_999_999_999);
/// The smallest payment: one centavo.
const MIN_PAYMENT: Money = Money::from_centavos(1);
/// Largest latency, in milliseconds.
const MAX_LATENCY_MS: i64 = 60_000;
/// Default latency of `slow`, in milliseconds.
const DEFAULT_LATENCY_MS: i64 = 5_000;
/// Largest offset of the clock either way, in seconds: about ten years.
const MAX_OFFSET_S: i64 = 320_000_000;

/// The simulated failures of the sandbox.
#[derive(Serialize, ToSchema)]
pub struct Faults<'a> {
    /// The sandbox's acquirer.
    #[schema(value_type = String)]
    acquirer: &'a str,
    /// The simulated failure.
    #[schema(value_type = requests::FaultMode)]
    mode: &'static str,
    /// The latency of `slow`, in milliseconds.
    #[schema(value_type = u32)]
    latency_ms: i64,
}

/// The offset of the clocks of service and sandbox from the machine's clock.
#[derive(Serialize, ToSchema)]
pub struct Clock {
    /// Seconds; negative is behind.
    offset_s: i64,
}

/// The built-in sandbox and its controls.
#[derive(Clone)]
pub struct SandboxControls {
    /// The simulated institution.
    pub institution: Arc<dyn Institution>,
    /// The acquirer's configured name.
    pub acquirer: AcquirerName,
    /// Sets the offset of the service's own clock from the machine's, in seconds.
    pub move_clock: Arc<dyn Fn(i64) + Send + Sync>,
}

/// The route of `pay`.
pub const PAY: Route = Route::write(
    "/v1/sandbox/charges/{id}/pay",
    Scope::ChargesWrite,
    |call, caller| Box::pin(pay(call, caller)),
    describe_pay,
)
.with_sandbox();

/// Pays a charge as a payer would.
///
/// # Errors
/// `VALIDATION_ERROR`, `not_found`; an error of the store.
async fn pay(call: &Call<'_>, caller: &Arc<Caller>) -> Result<Reply, ApiError> {
    let issues = Issues::default();
    let name = named::alone(call, &issues);
    let amount = payment(&call.body, &issues);
    let name = issues.unless_any(name)?;
    move_charge(call, caller, name, move |institution, txid| institution.pay(txid, amount)).await
}

fn describe_pay() -> operation::Description {
    operation::Description {
        request: Some(("SandboxPayment", examples::literal(r#"{"amount":10.50}"#))),
        errors: &[ErrorCode::AccountSuspended, ErrorCode::NotFound, ErrorCode::ExternalIdInProgress],
        body_is_optional: true,
        ..operation::plain(
            "sandboxPayCharge",
            "sandbox",
            "Pay a charge",
            "Available only with the built-in sandbox. A charge that is paid, expired or cancelled gets a further payment.",
            vec![operation::json("200", "The charge after the payment.", "Charge", examples::paid())],
        )
    }
}

/// The route of `expire`.
pub const EXPIRE: Route = Route::write(
    "/v1/sandbox/charges/{id}/expire",
    Scope::ChargesWrite,
    |call, caller| Box::pin(expire(call, caller)),
    describe_expire,
)
.with_sandbox();

/// Expires a charge.
///
/// # Errors
/// As [`pay`].
async fn expire(call: &Call<'_>, caller: &Arc<Caller>) -> Result<Reply, ApiError> {
    let issues = Issues::default();
    let name = named::alone(call, &issues);
    charges::cancel::no_fields(&call.body, &issues);
    let name = issues.unless_any(name)?;
    move_charge(call, caller, name, |institution, txid| institution.expire(txid)).await
}

fn describe_expire() -> operation::Description {
    operation::Description {
        errors: &[ErrorCode::AccountSuspended, ErrorCode::NotFound, ErrorCode::ExternalIdInProgress],
        ..operation::plain(
            "sandboxExpireCharge",
            "sandbox",
            "Expire a charge",
            "Available only with the built-in sandbox.",
            vec![operation::json(
                "200",
                "The expired charge.",
                "Charge",
                examples::paid().and_then(|charge| examples::unpaid(charge, "expired")),
            )],
        )
    }
}

/// Changes a charge upstream, then returns its new state.
async fn move_charge(
    call: &Call<'_>,
    caller: &Arc<Caller>,
    name: ChargeName,
    step: impl FnOnce(&dyn Institution, &Txid) -> Result<(), InstitutionError> + Send + 'static,
) -> Result<Reply, ApiError> {
    caller.account.permit_write()?;
    let (state, account) = (Arc::clone(call.state), caller.account.id);
    let institution = Arc::clone(&controls(call)?.institution);
    let work = async move {
        let before = fetch::fetch(&state.ports, &state.syncs, account, &name).await.map_err(charges::fetch_error)?;
        let txid = before.txid;
        blocking(move || step(institution.as_ref(), &txid)).await?;
        // A new gate, because an upstream state of a moment ago is outdated now.
        let after: Result<Charge, ApiError> =
            fetch::fetch(&state.ports, &SyncGate::new(), account, &name).await.map_err(charges::fetch_error);
        after
    };
    let charge = run_detached(work).await??;
    Ok(Reply::json(call.state.ports.representation.charge(&charge)))
}

/// The route of `faults`.
pub const FAULTS: Route = Route {
    verb: Verb::Put,
    ..Route::write(
        "/v1/sandbox/faults",
        Scope::ChargesWrite,
        |call, caller| Box::pin(faults(call, caller)),
        describe_faults,
    )
    .with_sandbox()
};

/// Starts or ends simulated failures.
///
/// # Errors
/// `VALIDATION_ERROR`; a missing permission to write.
async fn faults(call: &Call<'_>, caller: &Caller) -> Result<Reply, ApiError> {
    let controls = controls(call)?;
    let issues = Issues::default();
    query::none(call.query(), &issues);
    let asked = faults_body(&call.body, &controls.acquirer, &issues);
    let (mode, latency_ms) = issues.unless_any(asked)?;
    caller.account.permit_write()?;
    let institution = Arc::clone(&controls.institution);
    let latency = Duration::from_millis(latency_ms.unsigned_abs());
    blocking(move || institution.set_faults(mode, latency)).await?;
    let (acquirer, mode) = (controls.acquirer.as_str(), mode.as_str());
    Ok(Reply::json(to_json(&Faults { acquirer, mode, latency_ms })))
}

fn describe_faults() -> operation::Description {
    operation::Description {
        errors: &[ErrorCode::NotFound],
        request: Some(("NewFaults", examples::literal(r#"{"mode":"slow","latency_ms":2000}"#))),
        ..operation::plain(
            "sandboxSetFaults",
            "sandbox",
            "Set the simulated fault of the acquirer",
            "Available only with the built-in sandbox.",
            vec![operation::json(
                "200",
                "The current fault.",
                "Faults",
                examples::literal(r#"{"acquirer":"sandbox","mode":"slow","latency_ms":2000}"#),
            )],
        )
    }
}

/// The route of `clock`.
pub const CLOCK: Route = Route {
    verb: Verb::Put,
    ..Route::write(
        "/v1/sandbox/clock",
        Scope::ChargesWrite,
        |call, caller| Box::pin(clock(call, caller)),
        describe_clock,
    )
    .with_sandbox()
};

/// Sets the clocks of service and sandbox together.
///
/// # Errors
/// `VALIDATION_ERROR`; a missing permission to write.
async fn clock(call: &Call<'_>, caller: &Caller) -> Result<Reply, ApiError> {
    let issues = Issues::default();
    query::none(call.query(), &issues);
    let offset_s = object(&call.body, &issues, |fields| {
        fields.required("offset_s", |node| rules::integer(node, &(-MAX_OFFSET_S..=MAX_OFFSET_S)))
    });
    let offset_s = issues.unless_any(offset_s)?;
    caller.account.permit_write()?;
    let controls = controls(call)?.clone();
    blocking(move || {
        controls.institution.set_clock_offset(offset_s)?;
        (controls.move_clock)(offset_s);
        Ok(())
    })
    .await?;
    call.state.wake.deadlines.notify();
    Ok(Reply::json(to_json(&Clock { offset_s })))
}

fn describe_clock() -> operation::Description {
    operation::Description {
        errors: &[ErrorCode::NotFound],
        request: Some(("Clock", examples::literal(r#"{"offset_s":3600}"#))),
        ..operation::plain(
            "sandboxSetClock",
            "sandbox",
            "Move the clocks of service and sandbox",
            "Available only with the built-in sandbox.",
            vec![operation::json(
                "200",
                "The current clock offset.",
                "Clock",
                examples::literal(r#"{"offset_s":3600}"#),
            )],
        )
    }
}

fn controls<'c>(call: &'c Call<'_>) -> Result<&'c SandboxControls, ApiError> {
    call.state.sandbox.as_ref().ok_or_else(|| ApiError::internal("a sandbox route is served without a sandbox"))
}

/// Runs work of the institution on another thread, because its journal on disk would block the shared thread.
async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, InstitutionError> + Send + 'static,
) -> Result<T, ApiError> {
    Ok(block(work).await.map_err(|error| ApiError::internal(error.to_string()))??)
}

/// Reads the amount, if present.
fn payment(body: &[u8], issues: &Issues) -> Option<Money> {
    if body.is_empty() {
        return None;
    }
    object(body, issues, |fields| {
        fields.optional("amount", |node| {
            let amount = rules::money(node, MIN_PAYMENT)?;
            if amount > MAX_PAYMENT { Err(format!("must be at most {MAX_PAYMENT}").into()) } else { Ok(amount) }
        })
    })
}

fn faults_body(body: &[u8], known: &AcquirerName, issues: &Issues) -> Option<(FaultMode, i64)> {
    object(body, issues, |fields| {
        let _named: Option<()> = fields.optional("acquirer", |node| {
            let named = rules::string(node)?;
            if named == known.as_str() {
                Ok(())
            } else {
                Err(format!("must be the sandbox's acquirer, `{known}`").into())
            }
        });
        let mode = fields.required("mode", mode);
        let latency_ms = fields.optional("latency_ms", |node| rules::integer(node, &(0..=MAX_LATENCY_MS)));
        Some((mode?, latency_ms.unwrap_or(DEFAULT_LATENCY_MS)))
    })
}

fn mode(node: &Node<'_>) -> Result<FaultMode, Complaint> {
    let word = rules::string(node)?;
    let known = FaultMode::ALL.into_iter().find(|mode| mode.as_str() == word);
    known.ok_or_else(|| format!("must be one of {}", FaultMode::ALL.map(FaultMode::as_str).join(", ")).into())
}

/// Reads an object's fields and rejects all others.
fn object<T>(body: &[u8], issues: &Issues, take: impl FnOnce(&mut Fields<'_, '_>) -> Option<T>) -> Option<T> {
    let node = read(body, issues);
    let mut fields = Fields::of(&node, "", issues)?;
    let taken = take(&mut fields);
    fields.finish();
    taken
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    #[test]
    fn sandbox_bodies_are_read_strictly() {
        let main = AcquirerName::parse("main").unwrap();
        let pay = |body: &str| {
            let issues = Issues::default();
            let amount = payment(body.as_bytes(), &issues);
            issues.unless_any(Some(amount)).map_err(|issues| issues.len())
        };
        assert_eq!(pay(""), Ok(None));
        assert_eq!(pay(r#"{"amount":0.01}"#), Ok(Some(MIN_PAYMENT)));
        assert_eq!(pay(r#"{"amount":null}"#), Ok(None));
        assert_eq!(pay(r#"{"amount":0}"#), Err(1));
        assert_eq!(pay(r#"{"valor":1}"#), Err(1));
        let faults = |body: &str| {
            let issues = Issues::default();
            let faults = faults_body(body.as_bytes(), &main, &issues);
            issues.unless_any(faults).map_err(|issues| issues.len())
        };
        assert_eq!(faults(r#"{"mode":"slow"}"#), Ok((FaultMode::Slow, 5_000)));
        assert_eq!(faults(r#"{"mode":"ok","acquirer":"main","latency_ms":0}"#), Ok((FaultMode::Ok, 0)));
        assert_eq!(faults(r#"{"mode":"ok","acquirer":"other"}"#), Err(1));
        assert_eq!(faults(r#"{"mode":"broken","acquirer":1}"#), Err(2));
    }
}
