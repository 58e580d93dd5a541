//! Every served path. A new operation needs a handler with its description, and one line in this file.

use actix_web::body::BoxBody;
use actix_web::dev::{ServiceFactory, ServiceRequest, ServiceResponse};
use actix_web::middleware::from_fn;
use actix_web::{Error, HttpResponse, web};
use utoipa_actix_web::scope::{self, Scope};
use utoipa_actix_web::service_config::ServiceConfig;

use super::error::{ApiError, ErrorCode};
use super::fallback::{not_found, not_served, only_get};
use super::middleware::authenticate;
use super::{
    balance, callbacks, charges, crypto, docs, events, health, infractions, payouts, refunds, sandbox, statement,
    transactions, webhooks,
};

/// Returns the paths below `/v1`, which need a key. The most used paths come first, because the router compares them one by one.
#[must_use]
pub fn api(
    with_sandbox: bool,
) -> Scope<
    impl ServiceFactory<ServiceRequest, Config = (), Response = ServiceResponse<BoxBody>, Error = Error, InitError = ()>,
> {
    scope::scope("/v1")
        .configure(resources)
        .configure(|config| {
            if with_sandbox {
                sandbox_resources(config);
            }
        })
        .default_service(web::to(not_served))
        .map(|scope| {
            ["/boletos", "/boletos/{path:.*}", "/cards", "/cards/{path:.*}"]
                .into_iter()
                .fold(scope, |scope, path| scope.service(web::resource(path).to(reserved)))
                .wrap(from_fn(authenticate))
        })
}

/// Returns `/v1` without any path below it, for the admin address. A request below `/v1` without a valid key is then answered 401 on the
/// admin address, as on the public address. So its caller cannot find out which paths exist.
#[must_use]
pub fn without_paths() -> actix_web::Scope<
    impl ServiceFactory<ServiceRequest, Config = (), Response = ServiceResponse<BoxBody>, Error = Error, InitError = ()>,
> {
    web::scope("/v1").wrap(from_fn(authenticate))
}

fn resources(config: &mut ServiceConfig<'_>) {
    config
        .service(charges::get::get_charge)
        .service(charges::create::create_charge)
        .service(charges::list::list_charges)
        .service(charges::cancel::cancel_charge)
        .service(charges::payment_page::get_payment_page)
        .service(payouts::get::get_payout)
        .service(payouts::create::create_payout)
        .service(payouts::list::list_payouts)
        .service(refunds::create::create_refund)
        .service(refunds::list::list_refunds)
        .service(refunds::get::get_refund)
        .service(balance::get_balance)
        .service(statement::list_entries)
        .service(transactions::get::get_transaction)
        .service(transactions::list::list_transactions)
        .service(infractions::get::get_infraction)
        .service(infractions::list::list_infractions)
        .service(infractions::defend::defend_infraction)
        .service(crypto::currencies::list_currencies)
        .service(crypto::quotes::create::create_quote)
        .service(crypto::quotes::get::get_quote)
        .service(crypto::deposits::get::get_deposit)
        .service(crypto::deposits::create::create_deposit)
        .service(crypto::deposits::list::list_deposits)
        .service(crypto::deposits::payments::list_payments)
        .service(crypto::deposits::qr::get_qr_code)
        .service(crypto::withdrawals::get::get_withdrawal)
        .service(crypto::withdrawals::create::create_withdrawal)
        .service(crypto::withdrawals::list::list_withdrawals)
        .service(webhooks::get::get_endpoint)
        .service(webhooks::change::change_endpoint)
        .service(webhooks::delete::delete_endpoint)
        .service(webhooks::create::create_endpoint)
        .service(webhooks::list::list_endpoints)
        .service(webhooks::rotate::rotate_secret)
        .service(webhooks::test::test_endpoint)
        .service(webhooks::deliveries::list_deliveries)
        .service(webhooks::resend::resend_delivery)
        .service(events::get::get_event)
        .service(events::list::list_events)
        .service(events::resend::resend_event);
}

fn sandbox_resources(config: &mut ServiceConfig<'_>) {
    config
        .service(sandbox::pay_charge)
        .service(sandbox::expire_charge)
        .service(sandbox::money_out::reverse_payout)
        .service(sandbox::money_out::fail_refund)
        .service(sandbox::infractions::open_infraction)
        .service(sandbox::infractions::resolve_infraction)
        .service(sandbox::crypto::deposits::pay_deposit)
        .service(sandbox::crypto::deposits::expire_deposit)
        .service(sandbox::crypto::deposits::move_payment)
        .service(sandbox::crypto::market::set_coin)
        .service(sandbox::crypto::market::set_dollar)
        .service(sandbox::crypto::notifications::set_notifications)
        .service(sandbox::crypto::withdrawals::fail_withdrawal)
        .service(sandbox::set_faults)
        .service(sandbox::set_clock);
}

/// Returns `not_implemented` for every method on the paths of boletos and cards, which are reserved.
async fn reserved() -> Result<HttpResponse, ApiError> {
    Err(ApiError::new(ErrorCode::NotImplemented))
}

/// Adds the paths of the public address that need no key.
pub fn open(config: &mut web::ServiceConfig) {
    probes(config);
    config
        .service(only("/v1/openapi.json", web::get().to(docs::document)))
        .service(only("/docs", web::get().to(docs::redirect)))
        .service(only("/docs/{file:.*}", web::get().to(docs::page)));
    // There are two paths: the path that is configured at acquirers, and the same path with the suffix that the API Pix appends. Methods
    // other than POST, and a POST with a wrong token, are answered 404, because the path is a secret.
    for path in ["/callbacks/{acquirer}/{token}", "/callbacks/{acquirer}/{token}/pix"] {
        let callback = web::resource(path).route(web::post().to(callbacks::receive));
        config.service(callback.default_service(web::to(not_found)));
    }
}

/// Adds the paths of the admin address.
pub fn admin(config: &mut web::ServiceConfig) {
    probes(config);
    config.service(only("/metrics", web::get().to(health::metrics)));
}

fn probes(config: &mut web::ServiceConfig) {
    config
        .service(only("/healthz", web::get().to(health::live)))
        .service(only("/readyz", web::get().to(health::ready)));
}

/// Returns a path that `get` serves. Methods other than GET and HEAD are answered 405.
fn only(path: &str, get: actix_web::Route) -> actix_web::Resource {
    web::resource(path).route(get).default_service(web::to(only_get))
}
