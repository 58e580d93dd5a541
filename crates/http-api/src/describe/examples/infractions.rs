//! Examples of infractions.

use cais_domain::acquirer_name::AcquirerName;
use cais_domain::end_to_end_id::EndToEndId;
use cais_domain::external_id::ExternalId;
use cais_domain::ids::{AccountId, ChargeId, InfractionId};
use cais_domain::infraction::{Defense, Infraction, InfractionState, Situation};
use cais_domain::money::Money;
use cais_domain::text::{LineBreaks, Text};
use jiff::Timestamp;
use serde_json::Value;

use super::value;
use crate::resources::infraction::{Infraction as Row, InfractionDetail};
use crate::resources::values::Page;

/// Returns an infraction that awaits a defense.
pub fn open_infraction() -> Option<Value> {
    value(&InfractionDetail::from(&infraction(InfractionState::Open, None)?))
}

/// Returns an infraction with a defense.
pub fn defended_infraction() -> Option<Value> {
    let at = instant("2026-01-04T09:30:00Z")?;
    value(&InfractionDetail::from(&infraction(InfractionState::UnderReview { at }, Some(defense(at)?))?))
}

/// Returns an infraction that the merchant won.
pub fn won_infraction() -> Option<Value> {
    value(&InfractionDetail::from(&won()?))
}

/// Returns a page with an infraction.
pub fn infractions() -> Option<Value> {
    let infraction = won()?;
    value(&Page::new(vec![Row::from(&infraction)], Some(infraction.id)))
}

fn won() -> Option<Infraction> {
    let (submitted_at, at) = (instant("2026-01-04T09:30:00Z")?, instant("2026-01-08T18:00:00Z")?);
    infraction(InfractionState::Won { at }, Some(defense(submitted_at)?))
}

fn infraction(state: InfractionState, defense: Option<Defense>) -> Option<Infraction> {
    let opened_at = instant("2026-01-03T15:00:00Z")?;
    Some(Infraction {
        id: InfractionId::parse("inf_01h455vb4pex5vsknk084sn02w").ok()?,
        account: AccountId::parse("acc_01h455vb4pex5vsknk084sn02q").ok()?,
        charge: ChargeId::parse("chg_01h455vb4pex5vsknk084sn02q").ok()?,
        external_id: ExternalId::parse("order-1042").ok(),
        acquirer: AcquirerName::parse("main").ok()?,
        upstream_id: "0f0c6b1e-6a4d-4c1c-9a51-1f7f6a5d9b10".to_owned(),
        end_to_end_id: EndToEndId::parse("E1234567820260102120300000000001").ok()?,
        reason: Some("The payer says that the shop does not exist".to_owned()),
        situation: Situation::Scam,
        amount: Money::from_centavos(1_050),
        limit: Money::from_centavos(1_050),
        state,
        defense,
        deadline_at: instant("2026-01-10T15:00:00Z"),
        review: None,
        alerted_h: None,
        due_at: None,
        attempts: 0,
        opened_at,
        created_at: opened_at,
        version: 1,
    })
}

fn defense(at: Timestamp) -> Option<Defense> {
    Some(Defense {
        text: Some(Text::parse("Two coffees, handed over on 2 January.", 2_000, LineBreaks::Allowed).ok()?),
        evidence_url: Some(Text::parse("https://shop.example/receipts/1042", 500, LineBreaks::Refused).ok()?),
        sent_at: at,
        submitted_at: Some(at),
    })
}

fn instant(text: &str) -> Option<Timestamp> {
    text.parse().ok()
}
