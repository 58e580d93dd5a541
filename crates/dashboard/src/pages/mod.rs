//! The pages: one file per page, with its handlers and the struct of its template.

mod api_log;
mod charges;
mod confirm;
mod crypto;
mod events;
mod home;
mod infractions;
mod keys;
mod language;
mod logins;
pub(crate) mod operator;
mod pay;
mod payouts;
mod settings;
mod statement;
mod transactions;
mod webhooks;

use actix_web::web::{ServiceConfig, get, post};

use crate::page;

/// Adds all pages.
pub(crate) fn configure(config: &mut ServiceConfig) {
    logins(config);
    payments(config);
    orders(config);
    programs(config);
    operators(config);
}

/// Adds the home page, the pages of logins, and the choice of the language.
fn logins(config: &mut ServiceConfig) {
    use logins::{code, enrol, log_in, log_out, password, recovery_codes, sessions, sign_up, welcome};
    for page in [
        page("/", vec![get().to(home::show)]),
        page("/login", vec![get().to(log_in::show), post().to(log_in::submit)]),
        page("/login/code", vec![get().to(code::show), post().to(code::submit)]),
        page("/login/enrol", vec![get().to(enrol::show), post().to(enrol::submit)]),
        page("/signup", vec![get().to(sign_up::show), post().to(sign_up::submit)]),
        page("/welcome/{token}", vec![get().to(welcome::show), post().to(welcome::submit)]),
        page("/logout", vec![post().to(log_out::submit)]),
        page("/language", vec![post().to(language::submit)]),
        page("/password", vec![get().to(password::show), post().to(password::submit)]),
        page("/recovery-codes", vec![get().to(recovery_codes::show), post().to(recovery_codes::submit)]),
        page("/sessions", vec![get().to(sessions::show)]),
        page("/sessions/{id}/end", vec![post().to(sessions::end)]),
    ] {
        config.service(page);
    }
}

/// Adds the pages of transactions, charges and refunds, and the public payment page.
fn payments(config: &mut ServiceConfig) {
    for page in [
        page("/transactions", vec![get().to(transactions::show)]),
        page("/transactions.csv", vec![get().to(transactions::download)]),
        page("/charges/new", vec![get().to(charges::form), post().to(charges::submit)]),
        page("/charges/{id}", vec![get().to(charges::show)]),
        page("/charges/{id}/refunds", vec![post().to(charges::refund)]),
        page("/refunds/confirm/{id}", vec![get().to(charges::confirm_refund), post().to(charges::send_refund)]),
        page("/charges/{id}/pay", vec![post().to(charges::pay)]),
        page("/pay/{token}", vec![get().to(pay::show)]),
        page("/pay/{token}/live", vec![get().to(pay::live)]),
        page("/pay/{token}/pay", vec![post().to(pay::pay)]),
        page("/pay/{token}/qr.png", vec![get().to(pay::png)]),
        page("/pay/{token}/qr.svg", vec![get().to(pay::svg)]),
    ] {
        config.service(page);
    }
}

/// Adds the pages of payouts, infractions and crypto, the statement and the settings.
fn orders(config: &mut ServiceConfig) {
    use crypto::{deposits, list, withdrawals};
    for page in [
        page("/payouts", vec![get().to(payouts::list::show)]),
        page("/payouts/new", vec![get().to(payouts::new::show), post().to(payouts::new::submit)]),
        page("/payouts/confirm/{id}", vec![get().to(payouts::confirm::show), post().to(payouts::confirm::submit)]),
        page("/payouts/{id}", vec![get().to(payouts::show::show)]),
        page("/payouts/{id}/live", vec![get().to(payouts::show::live)]),
        page("/infractions", vec![get().to(infractions::list::show)]),
        page("/infractions/{id}", vec![get().to(infractions::show::show), post().to(infractions::defend::submit)]),
        page("/settings", vec![get().to(settings::show)]),
        page("/statement", vec![get().to(statement::show)]),
        page("/statement.csv", vec![get().to(statement::download)]),
    ] {
        config.service(page);
    }
    for page in [
        page("/crypto", vec![get().to(crypto::currencies::show)]),
        page("/crypto/deposits", vec![get().to(list::deposits)]),
        page("/crypto/deposits/new", vec![get().to(deposits::new::show), post().to(deposits::new::submit)]),
        page("/crypto/deposits/quotes/{id}", vec![get().to(deposits::quote::show), post().to(deposits::quote::submit)]),
        page("/crypto/deposits/{id}", vec![get().to(deposits::show::show)]),
        page("/crypto/deposits/{id}/live", vec![get().to(deposits::show::live)]),
        page("/crypto/withdrawals", vec![get().to(list::withdrawals)]),
        page("/crypto/withdrawals/new", vec![get().to(withdrawals::new::show), post().to(withdrawals::new::submit)]),
        page(
            "/crypto/withdrawals/confirm/{id}",
            vec![get().to(withdrawals::confirm::show), post().to(withdrawals::confirm::submit)],
        ),
        page("/crypto/withdrawals/{id}", vec![get().to(withdrawals::show::show)]),
        page("/crypto/withdrawals/{id}/live", vec![get().to(withdrawals::show::live)]),
    ] {
        config.service(page);
    }
}

/// Adds the pages for programs (API keys, the API log, webhooks, events), and the confirmation by a one-time code.
fn programs(config: &mut ServiceConfig) {
    for page in [
        page("/keys", vec![get().to(keys::list::show)]),
        page("/keys/new", vec![get().to(keys::new::show), post().to(keys::new::submit)]),
        page("/keys/{prefix}/revoke", vec![get().to(keys::revoke::show), post().to(keys::revoke::submit)]),
        page("/confirm/{id}", vec![get().to(confirm::show), post().to(confirm::submit)]),
        page("/api-log", vec![get().to(api_log::show)]),
        page("/webhooks", vec![get().to(webhooks::list::show)]),
        page("/webhooks/new", vec![get().to(webhooks::create::show), post().to(webhooks::create::submit)]),
        page("/webhooks/{id}", vec![get().to(webhooks::show::show), post().to(webhooks::actions::change)]),
        page("/webhooks/{id}/pause", vec![post().to(webhooks::actions::pause)]),
        page("/webhooks/{id}/activate", vec![post().to(webhooks::actions::activate)]),
        page("/webhooks/{id}/test", vec![post().to(webhooks::actions::send_test)]),
        page("/webhooks/{id}/rotate", vec![post().to(webhooks::rotate::submit)]),
        page("/webhooks/{id}/delete", vec![get().to(webhooks::delete::show), post().to(webhooks::delete::submit)]),
        page("/webhooks/{id}/deliveries/{delivery}/resend", vec![post().to(webhooks::actions::resend)]),
        page("/events", vec![get().to(events::list::show)]),
        page("/events/{id}", vec![get().to(events::show::show)]),
        page("/events/{id}/resend", vec![post().to(events::show::resend)]),
    ] {
        config.service(page);
    }
}

/// Adds the pages of operators.
fn operators(config: &mut ServiceConfig) {
    for page in [
        page("/operator/accounts", vec![get().to(operator::accounts::list::show)]),
        page(
            "/operator/accounts/{id}",
            vec![get().to(operator::accounts::show::show), post().to(operator::accounts::change::submit)],
        ),
        page("/operator/audit", vec![get().to(operator::audit::show)]),
        page("/operator/callbacks", vec![get().to(operator::callbacks::show)]),
        page("/operator/callbacks/{id}/retry", vec![post().to(operator::callbacks::try_again)]),
        page("/operator/acquirers", vec![get().to(operator::acquirers::show)]),
        page("/operator/ledger", vec![get().to(operator::ledger::show), post().to(operator::ledger::start)]),
        page(
            "/operator/reconciliation",
            vec![get().to(operator::reconciliation::show), post().to(operator::reconciliation::start)],
        ),
        page("/operator/infractions", vec![get().to(operator::infractions::list)]),
        page(
            "/operator/infractions/{id}",
            vec![get().to(operator::infractions::show), post().to(operator::infractions::submit)],
        ),
        page("/operator/crypto", vec![get().to(operator::crypto::show), post().to(operator::crypto::submit)]),
    ] {
        config.service(page);
    }
}
