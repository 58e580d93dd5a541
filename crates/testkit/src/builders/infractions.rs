//! Infractions with plausible values, as their acquirer reports them and as they are stored.

use cais_domain::charge::Charge;
use cais_domain::end_to_end_id::EndToEndId;
use cais_domain::infraction::{
    Defense, DisputeReport, Infraction, InfractionState, InfractionStatus, MAX_DEFENSE_TEXT, MAX_EVIDENCE_URL,
    Situation,
};
use cais_domain::money::Money;
use cais_domain::text::{LineBreaks, Text};
use cais_ports::{PollPosition, UpstreamInfraction, UpstreamInfractionStatus, UpstreamList};
use jiff::ToSpan as _;

use super::records::{an_end_to_end_id, expect_ok, fresh, main_acquirer, number, start};

/// Returns a dispute of that many centavos as the main acquirer reports disputes, with a new upstream id. The deadline
/// of the defense is a week after the opening.
#[must_use]
pub fn dispute_report(centavos: i64) -> DisputeReport {
    let opened_at = start() + 95.seconds();
    DisputeReport {
        id: fresh(),
        acquirer: main_acquirer(),
        upstream_id: upstream_name(),
        reason: Some("golpe".to_owned()),
        situation: Situation::Scam,
        amount: Money::from_centavos(centavos),
        opened_at,
        deadline_at: Some(opened_at + 168.hours()),
    }
}

/// Returns an open dispute of that Pix as an acquirer lists it.
#[must_use]
pub fn an_upstream_infraction(end_to_end_id: &EndToEndId, centavos: i64) -> UpstreamInfraction {
    let DisputeReport { upstream_id, reason, situation, amount, opened_at, deadline_at, .. } = dispute_report(centavos);
    UpstreamInfraction {
        id: upstream_id,
        end_to_end_id: end_to_end_id.clone(),
        amount,
        status: UpstreamInfractionStatus::Open,
        reason,
        situation,
        opened_at,
        opened_at_is_reported: true,
        deadline_at,
        defense: None,
        resolved_at: None,
    }
}

/// Returns an open infraction of that many centavos on the Pix that paid the charge, ready for an insert.
#[must_use]
pub fn an_infraction(charge: &Charge, centavos: i64) -> Infraction {
    let paid = charge.state.settlement().map(|settlement| settlement.end_to_end_id.clone());
    let upstream = dispute_report(centavos);
    Infraction {
        id: upstream.id,
        account: charge.account,
        charge: charge.id,
        external_id: charge.terms.external_id.clone(),
        acquirer: upstream.acquirer,
        upstream_id: upstream.upstream_id,
        end_to_end_id: paid.unwrap_or_else(an_end_to_end_id),
        reason: upstream.reason,
        situation: upstream.situation,
        amount: upstream.amount,
        limit: upstream.amount,
        state: InfractionState::Open,
        defense: None,
        deadline_at: upstream.deadline_at,
        review: None,
        alerted_h: None,
        due_at: None,
        attempts: 0,
        opened_at: upstream.opened_at,
        created_at: upstream.opened_at + 30.seconds(),
        version: 0,
    }
}

/// Returns the infraction in that status, with plausible facts.
#[must_use]
pub fn infraction_in_status(infraction: Infraction, status: InfractionStatus) -> Infraction {
    let at = infraction.created_at + 20.seconds();
    let submitted = || Some(Defense { submitted_at: Some(at), ..a_defense() });
    let (state, defense) = match status {
        InfractionStatus::Open => (InfractionState::Open, None),
        InfractionStatus::UnderReview => (InfractionState::UnderReview { at }, submitted()),
        InfractionStatus::Won => (InfractionState::Won { at }, submitted()),
        InfractionStatus::Lost => {
            let (returned, refunded) = (infraction.limit, Money::ZERO);
            (InfractionState::Lost { returned, refunded, at }, None)
        }
        InfractionStatus::Cancelled => (InfractionState::Cancelled { at }, None),
    };
    Infraction { state, defense, ..infraction }
}

/// Returns a defense that the acquirer has not confirmed yet.
#[must_use]
pub fn a_defense() -> Defense {
    let text = Text::parse("Entregue em 2 de janeiro.\nRecibo em anexo.", MAX_DEFENSE_TEXT, LineBreaks::Allowed);
    let url = Text::parse("https://shop.example/proof.pdf", MAX_EVIDENCE_URL, LineBreaks::Refused);
    Defense {
        text: Some(expect_ok(text)),
        evidence_url: Some(expect_ok(url)),
        sent_at: start() + 130.seconds(),
        submitted_at: None,
    }
}

/// Returns a position in the main acquirer's list of infractions.
#[must_use]
pub fn a_position() -> PollPosition {
    PollPosition { acquirer: main_acquirer(), list: UpstreamList::Infractions, seen_until: start(), version: 0 }
}

fn upstream_name() -> String {
    format!("inf-{}", number())
}
