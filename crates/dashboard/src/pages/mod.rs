//! The pages: one file per page, with its handlers and the struct of its template.

pub(crate) mod charges;
pub(crate) mod code;
pub(crate) mod confirm;
pub(crate) mod enrol;
pub(crate) mod events;
pub(crate) mod home;
pub(crate) mod keys;
pub(crate) mod language;
pub(crate) mod log_in;
pub(crate) mod log_out;
pub(crate) mod new_key;
pub(crate) mod password;
pub(crate) mod pay;
pub(crate) mod revoke_key;
pub(crate) mod sessions;
pub(crate) mod sign_up;
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
