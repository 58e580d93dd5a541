//! `/v1/sandbox/crypto/deposits/…`: payments of coins, their status at the processor, and the end of the payment period.

use std::sync::Arc;

use actix_web::http::StatusCode;
use actix_web::{HttpResponse, post};
use cais_domain::crypto::deposit::{Deposit, DepositStatus};
use cais_domain::crypto::{Currency, ProcessorId};
use cais_domain::ids::{AccountId, kind};
use cais_strict_json::{Fields, Issues, Node, Problem};
use cais_use_cases::crypto::deposits::DepositName;
use cais_use_cases::crypto::deposits::fetch::fetch;
use cais_use_cases::sync_gate::SyncGate;
use tokio::time::Instant;
use utoipa::ToSchema;

use super::market::{currency, positive};
use super::{APPLIED_WITHIN, PaymentStep, READ_EVERY, SentCoins, SimulatedProcessor, processor, simulate};
use crate::context::{Authorized, CryptoWrite, run_detached};
use crate::crypto::deposits::fetch_error;
use crate::describe::examples;
use crate::describe::failures::{Errors, OfBody};
use crate::error::{ApiError, ErrorCode, code};
use crate::input::{Input, Json, JsonBody, NoFields, NoQuery, OptionalJson};
use crate::named::Named;
use crate::resources::crypto::CryptoDeposit;
use crate::resources::values::closed_list;
use crate::sandbox::InstitutionError;
use crate::state::AppState;
use crate::{reply, rules};

/// A payment of coins in the sandbox.
#[derive(Debug, Default, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct SandboxCryptoPayment {
    /// The coins, a decimal; default: the requested coins.
    #[schema(max_length = 40)]
    amount: Option<String>,
    /// The code of the sent currency, to simulate a payment in the wrong currency. Default: the currency of the deposit.
    #[schema(value_type = Option<String>)]
    currency: Option<Currency>,
    /// `true`: the payment stays `confirming` until `…/move` moves it.
    hold: Option<bool>,
}

impl JsonBody for SandboxCryptoPayment {
    fn read(body: &Node<'_>, issues: &Issues) -> Option<Self> {
        let mut fields = Fields::of(body, "", issues)?;
        let amount = fields.optional("amount", positive);
        let currency = fields.optional("currency", currency);
        let hold = fields.optional("hold", rules::flag);
        fields.finish();
        Some(Self { amount, currency, hold })
    }
}

closed_list! {
    /// A status of a payment at the processor.
    PaymentStepName as SandboxPaymentStep PaymentStep::ALL.map(PaymentStep::as_str)
}

/// The next status of a payment in the sandbox.
#[derive(ToSchema)]
#[serde(deny_unknown_fields)]
pub struct SandboxCryptoMove {
    /// The new status at the processor. A payment moves from `confirming` to `confirmed`, and then to `sending`. From each of these three
    /// it can move to `finished`, `partially_paid` or `failed`, and from there to `refunded`. From `partially_paid`, it can also move to
    /// `finished`.
    #[schema(value_type = PaymentStepName)]
    status: PaymentStep,
}

impl JsonBody for SandboxCryptoMove {
    fn read(body: &Node<'_>, issues: &Issues) -> Option<Self> {
        let mut fields = Fields::of(body, "", issues)?;
        let status = fields.required("status", step);
        fields.finish();
        Some(Self { status: status? })
    }
}

fn step(node: &Node<'_>) -> Result<PaymentStep, Problem> {
    let name = rules::string(node)?;
    let known = PaymentStep::ALL.into_iter().find(|step| step.as_str() == name);
    known.ok_or_else(|| format!("must be one of {}", PaymentStep::ALL.map(PaymentStep::as_str).join(", ")).into())
}

/// Sends coins to the address of a deposit as a payer would.
///
/// # Errors
/// `VALIDATION_ERROR`, `account_suspended`, `not_found`, `external_id_in_progress`, `invalid_state`;
/// `internal_error` if the sandbox fails; an error of the store.
#[utoipa::path(
    operation_id = "sandboxPayCryptoDeposit",
    tag = "sandbox",
    summary = "Pay a crypto deposit",
    description = "Available only with the built-in sandbox. A deposit that was paid before, or has expired, can be paid too. The response is sent when the coins are credited or wait for an operator, at the latest after five seconds. With `hold` or another `currency`, nothing is credited, so the response is sent at once. Scope: `crypto:write`.",
    params(Named<kind::CryptoDeposit>),
    request_body(content = Option<SandboxCryptoPayment>, example = json!(examples::literal(r#"{"amount":"0.00047"}"#))),
    responses(
        (status = 200, description = "The deposit after the payment.", body = CryptoDeposit,
            example = json!(examples::completed_crypto_deposit())),
        Errors<(OfBody, code::AccountSuspended, code::NotFound, code::ExternalIdInProgress, code::InvalidState)>,
    ),
)]
#[post("/sandbox/crypto/deposits/{id}/pay")]
pub async fn pay_deposit(
    call: Authorized<CryptoWrite>,
    input: Input<(NoQuery, Named<kind::CryptoDeposit>, OptionalJson<SandboxCryptoPayment>)>,
) -> Result<HttpResponse, ApiError> {
    let Input((_, Named(name), OptionalJson(SandboxCryptoPayment { amount, currency, hold }))) = input;
    let hold = hold.unwrap_or(false);
    let coins = SentCoins { amount, currency: currency.map(|currency| currency.code().to_owned()), hold };
    // Coins with `hold` and coins of another currency are not credited, so the operation does not wait for a credit. Coins that wait for an
    // operator change the resolution.
    let is_applied = move |before: &Deposit, after: &Deposit| {
        let is_other = currency.is_some_and(|currency| currency != before.terms.currency);
        hold || is_other || (&after.credited, after.resolution) != (&before.credited, before.resolution)
    };
    move_deposit(&call, name, is_applied, move |processor, payment| processor.pay(payment, &coins)).await
}

/// Moves the newest payment of a deposit to another status.
///
/// # Errors
/// The errors of [`pay_deposit`].
#[utoipa::path(
    operation_id = "sandboxMoveCryptoDeposit",
    tag = "sandbox",
    summary = "Move the payment of a crypto deposit to its next status",
    description = "Available only with the built-in sandbox, for a payment with `hold`. If the address received several payments, the newest one is moved. Scope: `crypto:write`.",
    params(Named<kind::CryptoDeposit>),
    request_body(content = SandboxCryptoMove, example = json!(examples::literal(r#"{"status":"finished"}"#))),
    responses(
        (status = 200, description = "The deposit after the step.", body = CryptoDeposit,
            example = json!(examples::completed_crypto_deposit())),
        Errors<(OfBody, code::AccountSuspended, code::NotFound, code::ExternalIdInProgress, code::InvalidState)>,
    ),
)]
#[post("/sandbox/crypto/deposits/{id}/move")]
pub async fn move_payment(
    call: Authorized<CryptoWrite>,
    input: Input<(NoQuery, Named<kind::CryptoDeposit>, Json<SandboxCryptoMove>)>,
) -> Result<HttpResponse, ApiError> {
    let Input((_, Named(name), Json(SandboxCryptoMove { status }))) = input;
    // `is_applied` is always true, because `move_deposit` reads the processor after the step. This read already applies the new status.
    move_deposit(&call, name, |_, _| true, move |processor, payment| processor.move_payment(payment, status)).await
}

/// Ends the payment period of a deposit.
///
/// # Errors
/// The errors of [`pay_deposit`].
#[utoipa::path(
    operation_id = "sandboxExpireCryptoDeposit",
    tag = "sandbox",
    summary = "Expire a crypto deposit",
    description = "Available only with the built-in sandbox. Scope: `crypto:write`.",
    params(Named<kind::CryptoDeposit>),
    responses(
        (status = 200, description = "The expired deposit.", body = CryptoDeposit,
            example = json!(examples::expired_crypto_deposit())),
        Errors<(OfBody, code::AccountSuspended, code::NotFound, code::ExternalIdInProgress, code::InvalidState)>,
    ),
)]
#[post("/sandbox/crypto/deposits/{id}/expire")]
pub async fn expire_deposit(
    call: Authorized<CryptoWrite>,
    input: Input<(NoQuery, Named<kind::CryptoDeposit>, OptionalJson<NoFields>)>,
) -> Result<HttpResponse, ApiError> {
    let Input((_, Named(name), _)) = input;
    let is_applied = |_: &Deposit, after: &Deposit| after.state.status() != DepositStatus::Pending;
    move_deposit(&call, name, is_applied, |processor, payment| processor.expire(payment)).await
}

/// Changes a deposit at the sandbox, then reads the deposit repeatedly. Returns it once `is_applied` is true for the deposit before the
/// change and the deposit now, at the latest after [`APPLIED_WITHIN`].
async fn move_deposit(
    call: &Authorized<CryptoWrite>,
    name: DepositName,
    is_applied: impl Fn(&Deposit, &Deposit) -> bool + 'static,
    step: impl FnOnce(&dyn SimulatedProcessor, &ProcessorId) -> Result<(), InstitutionError> + Send + 'static,
) -> Result<HttpResponse, ApiError> {
    call.caller.account.permit_write()?;
    let (state, account) = (Arc::clone(&call.state), call.caller.account.id);
    let processor = Arc::clone(processor(&call.state)?);
    let work = async move {
        let before = current(&state, account, &name).await?;
        let Some(issued) = before.state.issued() else {
            return Err(ApiError::new(ErrorCode::InvalidState).with_message("The deposit has no address yet."));
        };
        let payment = issued.payment.clone();
        simulate(move || step(processor.as_ref(), &payment)).await?;
        let deadline = Instant::now() + APPLIED_WITHIN;
        loop {
            let deposit = current(&state, account, &name).await?;
            if is_applied(&before, &deposit) || Instant::now() >= deadline {
                return Ok(deposit);
            }
            tokio::time::sleep(READ_EVERY).await;
        }
    };
    let deposit: Deposit = run_detached(work).await??;
    Ok(reply::rendered(StatusCode::OK, call.state.ports.representation.crypto_deposit(&deposit)))
}

/// Returns the deposit after a read of the processor. The gate is new at every call, because the shared gate permits only one read per
/// second.
async fn current(state: &AppState, account: AccountId, name: &DepositName) -> Result<Deposit, ApiError> {
    fetch(&state.ports, &SyncGate::new(), account, name).await.map_err(fetch_error)
}
