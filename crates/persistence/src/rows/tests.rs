//! Tests that rows that the store cannot have written are errors, never records.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod money_out;

use cais_domain::charge::{Charge, ChargeStatus};
use cais_domain::infraction::{Infraction, InfractionStatus};
use cais_domain::merchant::webhook::Endpoint;
use cais_domain::release::Release;
use cais_domain::txid::Txid;
use cais_testkit::builders::{fresh, start};

use super::block::BlockRow;
use super::charge::ChargeRow;
use super::endpoint::EndpointRow;
use super::event::EventRow;
use super::infraction::InfractionRow;
use super::payment::PaymentRow;
use super::release::ReleaseRow;
use super::{Record as _, block, event, payment, statement};
use crate::error::Fault;

const PIX: &str = "E1234567820260102030400000000001";

fn account() -> String {
    fresh::<cais_domain::ids::kind::Account>().to_string()
}

fn now() -> i64 {
    start().as_microsecond()
}

fn is_corrupt<T>(read: &Result<T, Fault>) -> bool {
    matches!(read, Err(Fault::Corrupt(_)))
}

/// Returns a paid charge of R$ 10.00 with two other beneficiaries.
fn a_charge() -> ChargeRow<'static> {
    let split = format!("{}:10,{}:0.5", account(), account());
    let id = fresh::<cais_domain::ids::kind::Charge>();
    ChargeRow {
        account_id: account().into(),
        id: id.to_string().into(),
        txid: Txid::of_charge(id).to_string().into(),
        amount: 1_000,
        fee: 50,
        description: None,
        payer_name: None,
        payer_document: None,
        expires_in_s: 3_600,
        external_id: None,
        postback_endpoint: None,
        postback_url: None,
        origin: "api".into(),
        split: Some(split.into()),
        created_at: now(),
        version: 2,
        status: "paid".into(),
        acquirer: "main".into(),
        copy_paste: Some("000201".into()),
        expires_at: Some(now()),
        paid_at: Some(now()),
        end_to_end_id: Some(PIX.into()),
        ended_at: None,
        split_parts: Some("95,4".into()),
        refunding: 300,
        refunded: 700,
        open_infractions: 0,
    }
}

#[test]
fn charge_with_wrong_parts_or_excess_refunds_is_an_error() {
    let read = Charge::read(a_charge()).unwrap();
    assert_eq!(read.state.status(), ChargeStatus::Paid);
    assert_eq!(read.terms.split.shares().len(), 2);
    let spoil: [fn(&mut ChargeRow<'_>); 16] = [
        |row| row.split = None,
        |row| row.split = Some("".into()),
        |row| row.split = Some("acc_1:10".into()),
        |row| row.split = row.split.take().map(|split| split.replace(":10", ":100").into()),
        |row| row.split_parts = None,
        |row| row.split_parts = Some("95".into()),
        |row| row.split_parts = Some("95,4,1".into()),
        |row| row.split_parts = Some("95,-4".into()),
        |row| row.split_parts = Some("95,".into()),
        |row| row.refunding = -1,
        |row| row.refunded = -1,
        |row| row.refunded = 701,
        |row| row.open_infractions = -1,
        |row| (row.status, row.paid_at, row.end_to_end_id) = ("pending".into(), None, None),
        |row| row.postback_endpoint = Some(fresh::<cais_domain::ids::kind::Endpoint>().to_string().into()),
        |row| row.postback_url = Some("https://shop.example/hook".into()),
    ];
    for (number, spoil) in spoil.into_iter().enumerate() {
        let mut row = a_charge();
        spoil(&mut row);
        assert!(is_corrupt(&Charge::read(row)), "{number}");
    }
}

#[test]
fn release_before_its_due_time_is_an_error() {
    let charge = fresh::<cais_domain::ids::kind::Charge>().to_string();
    let row = |released_at| ReleaseRow {
        account_id: account().into(),
        end_to_end_id: PIX.into(),
        charge_id: charge.as_str().into(),
        amount: 100,
        due_at: now(),
        version: 1,
        released_at,
    };
    assert!(Release::read(row(None)).is_ok());
    assert!(Release::read(row(Some(now()))).is_ok());
    assert!(is_corrupt(&Release::read(row(Some(now() - 1)))));
}

#[test]
fn payment_without_valid_role_is_an_error() {
    let charge = fresh::<cais_domain::ids::kind::Charge>().to_string();
    let row = |role: &'static str| {
        let row = PaymentRow {
            account_id: account().into(),
            end_to_end_id: PIX.into(),
            charge_id: charge.clone().into(),
            amount: 100,
            paid_at: now(),
            acquirer: "main".into(),
            role: role.into(),
            credited_at: now(),
        };
        (row, 0)
    };
    assert!(payment::read(row("extra")).is_ok());
    assert!(is_corrupt(&payment::read(row("else"))));
}

#[test]
fn statement_with_invalid_bucket_kind_or_credit_is_an_error() {
    let id = fresh::<cais_domain::ids::kind::Entry>().to_string();
    let row = |bucket: &str, kind: &str| {
        ((id.clone(), kind.to_owned(), bucket.to_owned(), 5, 5), (None, Some(PIX.into()), None, now()))
    };
    assert!(statement::read(row("pending", "release")).is_ok());
    assert!(is_corrupt(&statement::read(row("in_transit", "payout"))));
    assert!(is_corrupt(&statement::read(row("available", "gift"))));
    assert!(statement::read_credit((id.clone(), 1, now())).is_ok());
    assert!(is_corrupt(&statement::read_credit((id, 0, now()))));
}

fn an_endpoint(state: &'static str) -> EndpointRow<'static> {
    EndpointRow {
        account_id: account().into(),
        id: fresh::<cais_domain::ids::kind::Endpoint>().to_string().into(),
        slot: 19,
        created_at: now(),
        version: 2,
        url: "https://shop.example/hook".into(),
        events: "charge.paid,payout.failed".into(),
        description: None,
        state: state.into(),
        disabled_reason: (state == "disabled").then(|| "gone".into()),
        state_at: matches!(state, "disabled" | "deleted").then(now),
        epoch: 1,
        secret: vec![1].into(),
        previous_secret: Some(vec![2].into()),
        previous_until: Some(now()),
    }
}

#[test]
fn endpoint_with_inconsistent_columns_is_an_error() {
    let spoil: [fn(&mut EndpointRow<'_>); 9] = [
        |row| row.slot = 256,
        |row| row.url = "two words".into(),
        |row| row.events = "".into(),
        |row| row.events = "charge.forgotten".into(),
        |row| row.state = "asleep".into(),
        |row| {
            row.disabled_reason = if row.disabled_reason.is_some() { Some("old".into()) } else { Some("gone".into()) }
        },
        |row| row.state_at = if row.state_at.is_some() { None } else { Some(now()) },
        |row| row.previous_secret = None,
        |row| row.previous_until = None,
    ];
    for state in ["active", "inactive", "disabled", "deleted"] {
        assert!(Endpoint::read(an_endpoint(state)).is_ok());
        for (number, spoil) in spoil.into_iter().enumerate() {
            let mut row = an_endpoint(state);
            spoil(&mut row);
            assert!(is_corrupt(&Endpoint::read(row)), "{state} {number}");
        }
    }
}

fn an_infraction(status: InfractionStatus) -> InfractionRow<'static> {
    let lost = (status == InfractionStatus::Lost).then_some(90);
    InfractionRow {
        account_id: account().into(),
        id: fresh::<cais_domain::ids::kind::Infraction>().to_string().into(),
        charge_id: fresh::<cais_domain::ids::kind::Charge>().to_string().into(),
        external_id: None,
        acquirer: "main".into(),
        upstream_id: "9".into(),
        end_to_end_id: PIX.into(),
        opened_at: now(),
        created_at: now(),
        version: 1,
        reason: Some("golpe".into()),
        situation: "SCAM".into(),
        amount: 100,
        max_amount: 90,
        deadline_at: Some(now()),
        alerted_h: Some(48),
        status: status.as_str().into(),
        state_at: (status != InfractionStatus::Open).then(now),
        returned: lost,
        refunded: lost,
        review_reason: None,
        review_since: None,
        defense_text: Some("no".into()),
        defense_evidence_url: Some("https://shop.example".into()),
        defense_sent_at: Some(now()),
        defense_submitted_at: None,
        due_at: None,
        attempts: 0,
    }
}

#[test]
fn infraction_with_inconsistent_columns_is_an_error() {
    let spoil: [fn(&mut InfractionRow<'_>); 12] = [
        |row| row.end_to_end_id = "not a Pix".into(),
        |row| row.situation = "scam".into(),
        |row| row.amount = -1,
        |row| row.max_amount = -1,
        |row| row.alerted_h = Some(256),
        |row| row.status = "closed".into(),
        |row| row.state_at = if row.state_at.is_some() { None } else { Some(now()) },
        |row| row.returned = if row.returned.is_some() { None } else { Some(90) },
        |row| row.refunded = if row.refunded.is_some() { Some(91) } else { Some(0) },
        |row| row.defense_sent_at = None,
        |row| {
            (row.defense_text, row.defense_evidence_url, row.defense_sent_at) = (None, None, None);
            row.defense_submitted_at = Some(now());
        },
        |row| row.attempts = -1,
    ];
    for status in InfractionStatus::ALL {
        assert_eq!(Infraction::read(an_infraction(status)).unwrap().state.status(), status);
        for (number, spoil) in spoil.into_iter().enumerate() {
            let mut row = an_infraction(status);
            spoil(&mut row);
            assert!(is_corrupt(&Infraction::read(row)), "{status:?} {number}");
        }
    }
}

#[test]
fn block_above_limit_and_event_without_number_are_errors() {
    let infraction = fresh::<cais_domain::ids::kind::Infraction>().to_string();
    let row = |max_amount, held| BlockRow {
        account_id: account().into(),
        infraction_id: infraction.clone().into(),
        end_to_end_id: PIX.into(),
        max_amount,
        held,
    };
    assert!(block::read(row(5, 5)).is_ok() && block::read(row(0, 0)).is_ok());
    assert!(is_corrupt(&block::read(row(5, 6))) && is_corrupt(&block::read(row(5, -1))));
    let id = fresh::<cais_domain::ids::kind::Event>().to_string();
    let row = |sequence, kind: &'static str| EventRow {
        account_id: account().into(),
        sequence,
        id: id.as_str().into(),
        r#type: kind.into(),
        resource_id: "chg_1".into(),
        data: b"{}".as_slice().into(),
        created_at: now(),
    };
    assert!(event::read(row(1, "charge.paid")).is_ok());
    assert!(is_corrupt(&event::read(row(0, "charge.paid"))) && is_corrupt(&event::read(row(1, "charge.lent"))));
}
