//! The statuses of disputes, and the look-up of the dispute of one Pix.

use cais_domain::end_to_end_id::EndToEndId;
use cais_ports::UpstreamInfractionStatus;
use serde::Deserialize;
use serde_json::value::RawValue;

use super::api::Api;
use super::refusal;
use super::wire::non_empty_text;
use crate::deadline::Deadline;
use crate::http::FindError;

/// The words for a dispute in Woovi's error messages.
const DISPUTE: [&str; 2] = ["dispute", "disputa"];

#[derive(Deserialize)]
struct Envelope<'a> {
    #[serde(borrow)]
    dispute: Option<&'a RawValue>,
}

/// A dispute of which only the status is read.
#[derive(Deserialize)]
struct Status<'a> {
    #[serde(borrow)]
    status: Option<&'a RawValue>,
}

/// Returns the status. An accepted dispute is lost for the merchant; a rejected or cancelled dispute is not. Every other
/// status, known or not, counts as undecided. No status shows whether evidence was submitted.
pub(super) fn parse(word: &str) -> UpstreamInfractionStatus {
    match word {
        "ACCEPTED" => UpstreamInfractionStatus::Accepted,
        "REJECTED" => UpstreamInfractionStatus::Rejected,
        "CANCELED" | "CANCELLED" => UpstreamInfractionStatus::Cancelled,
        _ => UpstreamInfractionStatus::Undecided,
    }
}

/// Requests `GET /dispute/{endToEndId}`. Returns `true` if the dispute of the Pix is accepted, which means that the Pix
/// was returned.
pub(super) async fn is_accepted(api: &Api, end_to_end_id: &EndToEndId, deadline: Deadline) -> Result<bool, FindError> {
    let reply = api.get(&format!("/dispute/{end_to_end_id}"), deadline).await?;
    if refusal::is_absence(&reply, &DISPUTE) {
        return Ok(false);
    }
    let envelope: Envelope<'_> = reply.read(refusal::of_reply)?;
    let dispute: Status<'_> = refusal::object(envelope.dispute, "dispute")?;
    Ok(non_empty_text(dispute.status).is_some_and(|word| parse(&word) == UpstreamInfractionStatus::Accepted))
}
