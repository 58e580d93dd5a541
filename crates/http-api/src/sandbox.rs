//! `/v1/sandbox/…`: simulated payers, simulated failures and the clock, for tests against the built-in sandbox.

pub mod crypto;
pub mod infractions;
mod institution;
pub mod money_out;
mod recorded;

use std::sync::Arc;
use std::time::Duration;

use actix_web::http::StatusCode;
use actix_web::web::block;
use actix_web::{HttpResponse, post, put};
use cais_domain::acquirer_name::AcquirerName;
use cais_domain::charge::Charge;
use cais_domain::ids::kind;
use cais_domain::money::Money;
use cais_domain::txid::Txid;
use cais_strict_json::{Fields, Issues, Node, Problem};
use cais_use_cases::charges::{ChargeName, fetch};
use cais_use_cases::sync_gate::SyncGate;
use serde::Serialize;
use utoipa::ToSchema;

use self::crypto::CRYPTO;
use super::charges;
use super::context::{Authorized, ChargesWrite, run_detached};
use super::describe::examples;
use super::describe::failures::{Errors, OfBody};
use super::error::{ApiError, code};
use super::input::{Input, Json, JsonBody, NoFields, NoQuery, OptionalJson, Part, Parts};
use super::named::Named;
use super::reply;
use super::resources::charge::Charge as ChargeBody;
use super::resources::values::{AmountFrom, AnyAmount, closed_list};
use super::rules;
use super::state::AppState;

pub use self::crypto::market::{SandboxCoin, SandboxCoinChange, SandboxDollar, SandboxDollarChange};
pub use self::crypto::notifications::{NotificationSignature, SandboxNotifications, SandboxNotificationsChange};
pub use self::crypto::{PaymentStep, SentCoins, SimulatedProcessor, WithdrawalFailure};
pub use self::infractions::{InfractionRequest, Resolution};
pub use self::institution::{FaultMode, Institution, InstitutionError};

/// Largest amount of a simulated payment: API Pix allows ten integer digits.
const MAX_PAYMENT: Money = Money::from_centavos(999_999_999_999);
/// Largest `latency_ms` in a request.
const MAX_LATENCY_MS: i64 = 60_000;
/// Default `latency_ms` of the failure `slow`.
const DEFAULT_LATENCY_MS: i64 = 5_000;
/// Largest `offset_s` of the clock, forwards or backwards: about ten years.
const MAX_OFFSET_S: i64 = 320_000_000;

/// The simulated failure of a part of the sandbox.
#[derive(Serialize, ToSchema)]
pub struct Faults<'a> {
    /// The name of the sandbox's acquirer, or `crypto` for its crypto processor.
    #[schema(value_type = String)]
    acquirer: &'a str,
    /// The simulated failure; `ok` stands for none.
    #[schema(value_type = FaultModeName)]
    mode: &'static str,
    /// The latency of `slow`, in milliseconds.
    #[schema(value_type = u32)]
    latency_ms: i64,
}

/// The offset of the service's clock and the sandbox's clock from the machine's clock.
#[derive(Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Clock {
    /// The offset in seconds; a negative offset sets the clocks back.
    offset_s: i64,
}

impl JsonBody for Clock {
    fn read(body: &Node<'_>, issues: &Issues) -> Option<Self> {
        let mut fields = Fields::of(body, "", issues)?;
        let bounds = -MAX_OFFSET_S..=MAX_OFFSET_S;
        let offset_s = fields.required("offset_s", |node| rules::integer(node, &bounds));
        fields.finish();
        Some(Self { offset_s: offset_s? })
    }
}

/// A simulated payment of a charge.
#[derive(Debug, Default, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct SandboxPayment {
    /// BRL; default: the charge's amount.
    #[schema(inline)]
    amount: Option<AnyAmount>,
}

impl JsonBody for SandboxPayment {
    fn read(body: &Node<'_>, issues: &Issues) -> Option<Self> {
        let mut fields = Fields::of(body, "", issues)?;
        let amount = fields.optional("amount", payment);
        fields.finish();
        Some(Self { amount })
    }
}

closed_list! {
    /// A simulated failure; `ok` stands for none.
    FaultModeName as FaultMode FaultMode::ALL.map(FaultMode::as_str)
}

/// A part of the sandbox that can simulate failures.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum FaultyPart {
    Acquirer,
    Processor,
}

/// The failure that a part of the sandbox is to simulate.
#[derive(ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewFaults {
    /// The name of the sandbox's acquirer, or `crypto` for its crypto processor. Default: the acquirer.
    #[schema(value_type = Option<String>)]
    acquirer: Option<FaultyPart>,
    /// The simulated failure; `ok` ends the current one.
    #[schema(value_type = FaultModeName)]
    mode: FaultMode,
    /// The delay of each response with `slow`, in milliseconds; default: 5000.
    #[schema(value_type = Option<u32>, minimum = 0, maximum = 60000)]
    latency_ms: Option<i64>,
}

impl NewFaults {
    fn read_for(body: &Node<'_>, known: &AcquirerName, issues: &Issues) -> Option<Self> {
        let mut fields = Fields::of(body, "", issues)?;
        let acquirer = fields.optional("acquirer", |node| {
            let named = rules::string(node)?;
            match named {
                CRYPTO => Ok(FaultyPart::Processor),
                _ if named == known.as_str() => Ok(FaultyPart::Acquirer),
                _ => Err(Problem::from(format!("must be the sandbox's acquirer, `{known}`, or `{CRYPTO}`"))),
            }
        });
        let mode = fields.required("mode", mode);
        let latency_ms = fields.optional("latency_ms", |node| rules::integer(node, &(0..=MAX_LATENCY_MS)));
        fields.finish();
        Some(Self { acquirer, mode: mode?, latency_ms })
    }
}

impl Part for NewFaults {
    const IN_BODY: bool = true;

    fn read(parts: &Parts<'_>, issues: &Issues) -> Option<Self> {
        let sandbox = parts.state.sandbox.as_ref()?;
        Self::read_for(parts.json(issues), &sandbox.acquirer, issues)
    }
}

/// The built-in sandbox and its controls.
#[derive(Clone)]
pub struct SandboxControls {
    /// The simulated institution.
    pub institution: Arc<dyn Institution>,
    /// The simulated crypto processor.
    pub processor: Arc<dyn SimulatedProcessor>,
    /// The configured name of the sandbox's acquirer.
    pub acquirer: AcquirerName,
    /// Sets the offset of the service's own clock from the machine's, in seconds.
    pub move_clock: Arc<dyn Fn(i64) + Send + Sync>,
}

/// Pays a charge as a payer would.
///
/// # Errors
/// `VALIDATION_ERROR`, `account_suspended`, `not_found`, `external_id_in_progress`;
/// `internal_error` if the sandbox fails; an error of the store.
#[utoipa::path(
    operation_id = "sandboxPayCharge",
    tag = "sandbox",
    summary = "Pay a charge",
    description = "Available only with the built-in sandbox. A charge can also be paid after it was paid, expired or cancelled. Scope: `charges:write`.",
    params(Named<kind::Charge>),
    request_body(content = Option<SandboxPayment>, example = json!(examples::literal(r#"{"amount":10.50}"#))),
    responses(
        (status = 200, description = "The charge after the payment.", body = ChargeBody,
            example = json!(examples::paid())),
        Errors<(OfBody, code::AccountSuspended, code::NotFound, code::ExternalIdInProgress)>,
    ),
)]
#[post("/sandbox/charges/{id}/pay")]
pub async fn pay_charge(
    call: Authorized<ChargesWrite>,
    input: Input<(NoQuery, Named<kind::Charge>, OptionalJson<SandboxPayment>)>,
) -> Result<HttpResponse, ApiError> {
    let Input((_, Named(name), OptionalJson(payment))) = input;
    let amount = payment.amount.map(|AmountFrom(amount)| amount);
    move_charge(&call, name, move |institution, txid| institution.pay(txid, amount)).await
}

/// Expires a charge.
///
/// # Errors
/// The errors of [`pay_charge`].
#[utoipa::path(
    operation_id = "sandboxExpireCharge",
    tag = "sandbox",
    summary = "Expire a charge",
    description = "Available only with the built-in sandbox. Scope: `charges:write`.",
    params(Named<kind::Charge>),
    responses(
        (status = 200, description = "The expired charge.", body = ChargeBody,
            example = json!(examples::paid().and_then(|charge| examples::unpaid(charge, "expired")))),
        Errors<(OfBody, code::AccountSuspended, code::NotFound, code::ExternalIdInProgress)>,
    ),
)]
#[post("/sandbox/charges/{id}/expire")]
pub async fn expire_charge(
    call: Authorized<ChargesWrite>,
    input: Input<(NoQuery, Named<kind::Charge>, OptionalJson<NoFields>)>,
) -> Result<HttpResponse, ApiError> {
    let Input((_, Named(name), _)) = input;
    move_charge(&call, name, |institution, txid| institution.expire(txid)).await
}

/// Changes a charge at the sandbox. Returns the response with the charge's new state.
async fn move_charge(
    call: &Authorized<ChargesWrite>,
    name: ChargeName,
    step: impl FnOnce(&dyn Institution, &Txid) -> Result<(), InstitutionError> + Send + 'static,
) -> Result<HttpResponse, ApiError> {
    call.caller.account.permit_write()?;
    let (state, account) = (Arc::clone(&call.state), call.caller.account.id);
    let institution = Arc::clone(&controls(&call.state)?.institution);
    let work = async move {
        let before = fetch::fetch(&state.ports, &state.syncs, account, &name).await.map_err(charges::fetch_error)?;
        let txid = before.txid;
        blocking(move || step(institution.as_ref(), &txid)).await?;
        // The shared gate permits one fetch of a charge per second. A new gate permits the fetch after the step at once.
        let after: Result<Charge, ApiError> =
            fetch::fetch(&state.ports, &SyncGate::new(), account, &name).await.map_err(charges::fetch_error);
        after
    };
    let charge = run_detached(work).await??;
    Ok(reply::rendered(StatusCode::OK, call.state.ports.representation.charge(&charge)))
}

/// Sets or ends the simulated failure of the sandbox's acquirer or crypto processor.
///
/// # Errors
/// `VALIDATION_ERROR`, `account_suspended`; `internal_error` if the sandbox fails.
#[utoipa::path(
    operation_id = "sandboxSetFaults",
    tag = "sandbox",
    summary = "Set the simulated fault of the acquirer",
    description = "Available only with the built-in sandbox. With the acquirer `crypto`, sets the fault of the crypto processor. Scope: `charges:write`.",
    request_body(content = NewFaults, example = json!(examples::literal(r#"{"mode":"slow","latency_ms":2000}"#))),
    responses(
        (status = 200, description = "The current fault.", body = Faults,
            example = json!(examples::literal(r#"{"acquirer":"sandbox","mode":"slow","latency_ms":2000}"#))),
        Errors<(OfBody, code::AccountSuspended, code::NotFound)>,
    ),
)]
#[put("/sandbox/faults")]
pub async fn set_faults(
    call: Authorized<ChargesWrite>,
    input: Input<(NoQuery, NewFaults)>,
) -> Result<HttpResponse, ApiError> {
    let Input((_, new_faults)) = input;
    let controls = controls(&call.state)?;
    call.caller.account.permit_write()?;
    let (mode, latency_ms) = (new_faults.mode, new_faults.latency_ms.unwrap_or(DEFAULT_LATENCY_MS));
    let (institution, processor) = (Arc::clone(&controls.institution), Arc::clone(&controls.processor));
    let latency = Duration::from_millis(latency_ms.unsigned_abs());
    let part = new_faults.acquirer.unwrap_or(FaultyPart::Acquirer);
    blocking(move || match part {
        FaultyPart::Acquirer => institution.set_faults(mode, latency),
        FaultyPart::Processor => processor.set_faults(mode, latency),
    })
    .await?;
    let acquirer = match part {
        FaultyPart::Acquirer => controls.acquirer.as_str(),
        FaultyPart::Processor => CRYPTO,
    };
    let mode = mode.as_str();
    Ok(reply::json(StatusCode::OK, &Faults { acquirer, mode, latency_ms }))
}

/// Sets the service's clock and the sandbox's clock together.
///
/// # Errors
/// `VALIDATION_ERROR`, `account_suspended`; `internal_error` if the sandbox fails.
#[utoipa::path(
    operation_id = "sandboxSetClock",
    tag = "sandbox",
    summary = "Set the clocks of the service and the sandbox",
    description = "Available only with the built-in sandbox. Scope: `charges:write`.",
    request_body(content = Clock, example = json!(examples::literal(r#"{"offset_s":3600}"#))),
    responses(
        (status = 200, description = "The current clock offset.", body = Clock,
            example = json!(examples::literal(r#"{"offset_s":3600}"#))),
        Errors<(OfBody, code::AccountSuspended, code::NotFound)>,
    ),
)]
#[put("/sandbox/clock")]
pub async fn set_clock(
    call: Authorized<ChargesWrite>,
    input: Input<(NoQuery, Json<Clock>)>,
) -> Result<HttpResponse, ApiError> {
    let Input((_, Json(clock))) = input;
    call.caller.account.permit_write()?;
    let controls = controls(&call.state)?.clone();
    let Clock { offset_s } = clock;
    blocking(move || {
        controls.institution.set_clock_offset(offset_s)?;
        (controls.move_clock)(offset_s);
        Ok(())
    })
    .await?;
    call.state.wake.deadlines.notify();
    Ok(reply::json(StatusCode::OK, &Clock { offset_s }))
}

fn controls(state: &AppState) -> Result<&SandboxControls, ApiError> {
    state.sandbox.as_ref().ok_or_else(|| ApiError::internal("a sandbox route is served without a sandbox"))
}

/// Runs `work` of the simulated institution on another thread, because the institution writes its journal to disk. On this thread,
/// the write would delay other requests.
async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, InstitutionError> + Send + 'static,
) -> Result<T, ApiError> {
    Ok(block(work).await.map_err(|error| ApiError::internal(error.to_string()))??)
}

/// Reads the amount of a payment.
fn payment(node: &Node<'_>) -> Result<AnyAmount, Problem> {
    let amount = AmountFrom::read(node)?;
    if amount.0 > MAX_PAYMENT { Err(format!("must be at most {MAX_PAYMENT}").into()) } else { Ok(amount) }
}

fn mode(node: &Node<'_>) -> Result<FaultMode, Problem> {
    let name = rules::string(node)?;
    let known = FaultMode::ALL.into_iter().find(|mode| mode.as_str() == name);
    known.ok_or_else(|| format!("must be one of {}", FaultMode::ALL.map(FaultMode::as_str).join(", ")).into())
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use cais_strict_json::read as read_json;

    use super::*;

    #[test]
    fn sandbox_bodies_are_read_strictly() {
        let main = AcquirerName::parse("main").unwrap();
        let pay = |body: &str| {
            let issues = Issues::default();
            let payment = SandboxPayment::read(&read_json(body.as_bytes(), &issues), &issues);
            let amount = issues.unless_any(payment).map_err(|issues| issues.len())?.amount;
            Ok::<_, usize>(amount.map(|AmountFrom(amount)| amount.centavos()))
        };
        assert_eq!(pay(r#"{"amount":0.01}"#), Ok(Some(1)));
        assert_eq!(pay(r#"{"amount":null}"#), Ok(None));
        assert_eq!(pay(r#"{"amount":0}"#), Err(1));
        assert_eq!(pay(r#"{"valor":1}"#), Err(1));
        let faults = |body: &str| {
            let issues = Issues::default();
            let faults = NewFaults::read_for(&read_json(body.as_bytes(), &issues), &main, &issues);
            let faults = issues.unless_any(faults).map_err(|issues| issues.len())?;
            Ok::<_, usize>((faults.mode, faults.latency_ms))
        };
        assert_eq!(faults(r#"{"mode":"slow"}"#), Ok((FaultMode::Slow, None)));
        assert_eq!(faults(r#"{"mode":"ok","acquirer":"main","latency_ms":0}"#), Ok((FaultMode::Ok, Some(0))));
        assert_eq!(faults(r#"{"mode":"ok","acquirer":"other"}"#), Err(1));
        assert_eq!(faults(r#"{"mode":"broken","acquirer":1}"#), Err(2));
    }
}
