//! Asking the acquirer of a payout to send it, and what that says of the payout.

use std::sync::Arc;
use std::time::Duration;

use cais_domain::payout::Payout;
use cais_ports::{Acquirer, AcquirerError, PayoutOrder, UpstreamPayout, UpstreamProgress};
use jiff::Timestamp;

use super::sync::agrees;
use crate::ports::Ports;

/// What sending may take of the 10 s within which a POST answers.
pub(super) const SEND_BUDGET: Duration = Duration::from_secs(5);
/// What a look at what was sent may take of them; the rest is for two commits.
pub(super) const LOOK_BUDGET: Duration = Duration::from_secs(2);

/// What is known of a payout after its acquirer was asked for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Word {
    /// The acquirer has it.
    Has(Box<UpstreamPayout>),
    /// It refuses it, for good.
    Refuses(String),
    /// It certainly does not have it, and may take it later.
    NotTaken(String),
    /// It may have it.
    Unknown(String),
}

/// The acquirer that the payout is sent through.
pub(super) fn adapter(ports: &Ports, payout: &Payout) -> Result<Arc<dyn Acquirer>, AcquirerError> {
    let name = payout.state.acquirer();
    ports.acquirers.named(name).ok_or_else(|| AcquirerError::Unavailable(format!("{name} is not configured")))
}

/// Sends a payout for the first time, before `until`.
pub(super) async fn send_first(ports: &Ports, payout: &Payout, until: Timestamp) -> Word {
    let acquirer = match adapter(ports, payout) {
        Ok(acquirer) => acquirer,
        Err(error) => return Word::NotTaken(error.to_string()),
    };
    match send(ports, &*acquirer, payout, until).await {
        Ok(upstream) => with_recipient(&*acquirer, payout, upstream).await,
        Err(AcquirerError::Refused(reason)) => Word::Refuses(reason),
        Err(AcquirerError::Unavailable(reason)) => Word::NotTaken(reason),
        // The reply was lost: what it would have said may be there.
        Err(AcquirerError::OutcomeUnknown(reason)) => match acquirer.find_payout(&payout.id_envio(), LOOK_BUDGET).await
        {
            Ok(Some(upstream)) => believed(payout, upstream),
            Ok(None) => Word::Unknown(reason),
            Err(error) => Word::Unknown(format!("{reason}; looking for it: {error}")),
        },
    }
}

/// Sends a payout that may have been sent by a process that died: only if its acquirer does not know it, and by the same name.
///
/// Whatever fails then says nothing of the request before, which may still be on its way.
pub(super) async fn send_resumed(ports: &Ports, payout: &Payout, until: Timestamp) -> Word {
    let asked = async {
        let acquirer = adapter(ports, payout)?;
        match acquirer.find_payout(&payout.id_envio(), LOOK_BUDGET).await? {
            Some(upstream) => Ok(believed(payout, upstream)),
            None => Ok(believed(payout, send(ports, &*acquirer, payout, until).await?)),
        }
    };
    asked.await.unwrap_or_else(|error: AcquirerError| Word::Unknown(error.to_string()))
}

/// Asks `acquirer` to send it, unless `until` is over: then others count on nothing being sent any more by who asks.
pub(super) async fn send(
    ports: &Ports,
    acquirer: &dyn Acquirer,
    payout: &Payout,
    until: Timestamp,
) -> Result<UpstreamPayout, AcquirerError> {
    if ports.clock.now() >= until {
        return Err(AcquirerError::OutcomeUnknown("the process slept until it was too late to send".to_owned()));
    }
    acquirer.send_payout(&order(payout), SEND_BUDGET).await
}

/// The first look at what was taken: it tells the recipient, and perhaps how it ended. Without it, nothing is lost.
async fn with_recipient(acquirer: &dyn Acquirer, payout: &Payout, taken: UpstreamPayout) -> Word {
    if taken.progress != UpstreamProgress::Processing {
        return believed(payout, taken);
    }
    match acquirer.find_payout(&taken.id_envio, LOOK_BUDGET).await {
        Ok(Some(seen)) if agrees(payout, &seen) => {
            let end_to_end_id = seen.end_to_end_id.clone().or(taken.end_to_end_id);
            let recipient = taken.recipient.or(seen.recipient.clone());
            Word::Has(Box::new(UpstreamPayout { end_to_end_id, recipient, ..seen }))
        }
        Ok(_) | Err(_) => believed(payout, taken),
    }
}

/// What is not what was ordered is no answer: what became of the order has to be found out.
fn believed(payout: &Payout, upstream: UpstreamPayout) -> Word {
    if agrees(payout, &upstream) {
        Word::Has(Box::new(upstream))
    } else {
        Word::Unknown("the acquirer has another payout by that name".to_owned())
    }
}

fn order(payout: &Payout) -> PayoutOrder {
    PayoutOrder {
        id_envio: payout.id_envio(),
        amount: payout.terms.amount,
        pix_key: payout.terms.pix_key.clone(),
        recipient_document: payout.terms.recipient_document.clone(),
        description: payout.terms.description.as_ref().map(|text| text.as_str().to_owned()),
    }
}
