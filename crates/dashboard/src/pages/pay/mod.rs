//! The public payment page of a charge. The page needs no cookie and no session: the token in its URL is the
//! permission.

mod images;
mod show;

pub(crate) use images::{png, svg};
pub(crate) use show::{live, pay, show};

use std::net::IpAddr;
use std::sync::Arc;

use actix_web::web::{Data, block};
use actix_web::{HttpMessage as _, HttpRequest};
use cais_domain::charge::{Charge, ChargeStatus};
use cais_domain::merchant::account::Account;
use cais_use_cases::SyncGate;
use cais_use_cases::charges::{ChargeName, fetch, payment_page};
use jiff::Timestamp;

use crate::failure::Failure;
use crate::state::Dashboard;

/// The header that forbids crawlers to list the page and its images.
const NO_CRAWLERS: (&str, &str) = ("x-robots-tag", "noindex, nofollow");

/// The state of a charge, as its payer sees it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum PayState {
    Open,
    Paid,
    Refunded,
    Expired,
    Cancelled,
}

impl PayState {
    fn of(charge: &Charge, now: Timestamp) -> Self {
        match charge.state.status() {
            ChargeStatus::Paid => Self::Paid,
            ChargeStatus::Refunded => Self::Refunded,
            ChargeStatus::Cancelled | ChargeStatus::Creating | ChargeStatus::Abandoned => Self::Cancelled,
            ChargeStatus::Expired => Self::Expired,
            // The acquirer has not confirmed the expiry yet, but accepts no payment any more.
            ChargeStatus::Pending if charge.state.issued().is_some_and(|issued| now >= issued.expires_at) => {
                Self::Expired
            }
            ChargeStatus::Pending => Self::Open,
        }
    }

    const fn as_str(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Paid => "paid",
            Self::Refunded => "refunded",
            Self::Expired => "expired",
            Self::Cancelled => "cancelled",
        }
    }
}

/// The charge that the token in a request's URL names, with its account.
struct Payment {
    account: Account,
    charge: Charge,
    state: PayState,
}

/// Returns the charge of a token. A pending charge is refreshed from its acquirer first.
async fn find(dashboard: &Data<Dashboard>, request: &HttpRequest, token: &str) -> Result<Payment, Failure> {
    let ports = &dashboard.logins.ports;
    let now = ports.clock.now();
    let address = request.extensions().get::<IpAddr>().copied();
    if !dashboard.logins.throttle.take_page(address, now) {
        return Err(Failure::Throttled);
    }
    let (account, charge) = payment_page::find(ports, &dashboard.syncs, token).await?;
    Ok(Payment { state: PayState::of(&charge, now), account, charge })
}

/// Pays the whole amount of a charge at the built-in sandbox, and applies the payment.
///
/// # Errors
/// [`Failure::NotFound`] if the service does not run on the sandbox; [`Failure::Unavailable`] if the sandbox or the
/// store fails.
pub(crate) async fn pay_in_sandbox(dashboard: &Data<Dashboard>, charge: &Charge) -> Result<(), Failure> {
    let pay = Arc::clone(dashboard.sandbox_pay.as_ref().ok_or(Failure::NotFound)?);
    let txid = charge.txid.clone();
    // On another thread, because the sandbox writes to disk.
    let paid = block(move || pay(&txid)).await.map_err(|error| Failure::Unavailable(error.to_string()))?;
    paid.map_err(Failure::Unavailable)?;
    // The shared gate permits one read of a charge per second, so a read just before the payment could block this one.
    // A new gate permits the read at once.
    let name = ChargeName::Id(charge.id);
    fetch::fetch(&dashboard.logins.ports, &SyncGate::new(), charge.account, &name).await?;
    Ok(())
}
