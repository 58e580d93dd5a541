//! The pages: one file per page, with its handlers and the struct of its template.

pub(crate) mod api_log;
pub(crate) mod charges;
pub(crate) mod code;
pub(crate) mod confirm;
pub(crate) mod crypto;
pub(crate) mod enrol;
pub(crate) mod events;
pub(crate) mod home;
pub(crate) mod infractions;
pub(crate) mod keys;
pub(crate) mod language;
pub(crate) mod log_in;
pub(crate) mod log_out;
pub(crate) mod new_key;
pub(crate) mod operator;
pub(crate) mod password;
pub(crate) mod pay;
pub(crate) mod payouts;
pub(crate) mod revoke_key;
pub(crate) mod sessions;
pub(crate) mod settings;
pub(crate) mod sign_up;
pub(crate) mod statement;
pub(crate) mod transactions;
pub(crate) mod webhooks;
pub(crate) mod welcome;

use actix_web::web::{ServiceConfig, get, post};

use crate::page;

/// Adds the pages of transactions and charges, and the public payment page.
pub(crate) fn payments(config: &mut ServiceConfig) {
    for page in [
        page("/transactions", vec![get().to(transactions::show)]),
        page("/transactions.csv", vec![get().to(transactions::download)]),
        page("/charges/new", vec![get().to(charges::form), post().to(charges::submit)]),
        page("/charges/{id}", vec![get().to(charges::show)]),
        page("/charges/{id}/refunds", vec![post().to(charges::refund)]),
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
pub(crate) fn orders(config: &mut ServiceConfig) {
    use crypto::{deposits, withdrawals};
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
        page("/crypto/deposits", vec![get().to(deposits::list::show)]),
        page("/crypto/deposits/new", vec![get().to(deposits::new::show), post().to(deposits::new::submit)]),
        page("/crypto/deposits/quotes/{id}", vec![get().to(deposits::quote::show), post().to(deposits::quote::submit)]),
        page("/crypto/deposits/{id}", vec![get().to(deposits::show::show)]),
        page("/crypto/deposits/{id}/live", vec![get().to(deposits::show::live)]),
        page("/crypto/withdrawals", vec![get().to(withdrawals::list::show)]),
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
