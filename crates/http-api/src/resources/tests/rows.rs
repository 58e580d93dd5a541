//! Tests rows of the statement and of the timeline byte for byte, as JSON and as CSV.

use cais_domain::ids::EntryId;
use cais_domain::ledger::{Bucket, EntryKind};
use cais_domain::payout::{PayoutState, Recipient, Sent};
use cais_domain::rate::Percentage;
use cais_domain::split::Share;
use cais_ports::{SplitCredit, StatementEntry, Transaction};

use super::*;
use crate::resources::csv::{Dialect, Row, write_row};
use crate::resources::statement::Entry;
use crate::resources::transaction::{TransactionRow, Unshowable};

fn json(row: &impl Row) -> String {
    String::from_utf8(to_json(row)).unwrap()
}

fn csv(row: &impl Row) -> String {
    let mut out = Vec::new();
    write_row(&mut out, row, Dialect::Standard);
    String::from_utf8(out).unwrap()
}

/// Checks that the names in the JSON equal the header of the file, in order.
fn check_names<R: Row>(row: &R) {
    let text = json(row);
    let places: Vec<usize> = R::NAMES.iter().map(|name| text.find(&format!("\"{name}\":")).unwrap()).collect();
    assert!(places.is_sorted(), "{text}");
    let value: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(value.as_object().unwrap().len(), R::NAMES.len());
}

#[test]
fn statement_entry_has_its_fields() {
    let entry = StatementEntry {
        id: EntryId::parse("ent_01h455vb4pex5vsknk084sn02t").unwrap(),
        kind: EntryKind::Payout,
        bucket: Bucket::Available,
        amount: Money::from_centavos(-1_000),
        balance_after: Money::from_centavos(5),
        resource: Some("pyt_01h455vb4pex5vsknk084sn02r".to_owned()),
        end_to_end_id: Some(EndToEndId::parse("E1234567820260102140000000000002").unwrap()),
        description: Some("=1+1, \"x\"".to_owned()),
        created_at: instant("2026-01-02T14:00:00Z"),
    };
    check_names(&Entry::from(entry.clone()));
    assert_eq!(
        json(&Entry::from(entry.clone())),
        concat!(
            r#"{"id":"ent_01h455vb4pex5vsknk084sn02t","kind":"payout","bucket":"available","amount":-10.00,"balance_after":0.05,"#,
            r#""resource_id":"pyt_01h455vb4pex5vsknk084sn02r","end_to_end_id":"E1234567820260102140000000000002","#,
            r#""description":"=1+1, \"x\"","created_at":"2026-01-02T14:00:00.000Z"}"#
        )
    );
    assert_eq!(
        csv(&Entry::from(entry.clone())),
        "ent_01h455vb4pex5vsknk084sn02t,payout,available,-10.00,0.05,pyt_01h455vb4pex5vsknk084sn02r,E1234567820260102140000000000002,\"'=1+1, \"\"x\"\"\",2026-01-02T14:00:00.000Z\r\n"
    );
    let bare = Entry::from(StatementEntry { resource: None, end_to_end_id: None, description: None, ..entry });
    assert!(json(&bare).contains(r#""resource_id":null,"end_to_end_id":null,"description":null"#));
    assert!(csv(&bare).contains(",0.05,,,,2026"));
}

fn split(percent: &str) -> Split {
    let recipient = AccountId::parse("acc_01h455vb4pex5vsknk084sn02r").unwrap();
    Split::try_new(vec![Share { recipient, percentage: Percentage::parse(percent).unwrap() }]).unwrap()
}

fn row_of(charge: Charge) -> TransactionRow {
    TransactionRow::of(&Transaction::Charge(Box::new(charge))).unwrap()
}

#[test]
fn timeline_shows_charges_by_state() {
    let at = instant("2026-01-03T00:00:00Z");
    let row = row_of(charge(ChargeState::Paid(issued(), settlement())));
    check_names(&row);
    assert_eq!(
        json(&row),
        concat!(
            r#"{"id":"txn_in_01h455vb4pex5vsknk084sn02q","type":"cash_in","resource_id":"chg_01h455vb4pex5vsknk084sn02q","#,
            r#""amount":10.50,"fee":0.60,"net_amount":9.90,"gross_amount":10.50,"status":"completed","method":"pix","origin":"api","#,
            r#""created_at":"2026-01-02T12:00:00.000Z"}"#
        )
    );
    for (state, status) in [
        (ChargeState::Pending(issued()), "pending"),
        (ChargeState::Expired { issued: issued(), at }, "cancelled"),
        (ChargeState::Cancelled { issued: issued(), at }, "cancelled"),
        (ChargeState::Refunded { issued: issued(), settlement: settlement(), at }, "refunded"),
    ] {
        assert!(json(&row_of(charge(state))).contains(&format!(r#""status":"{status}""#)), "{status}");
    }
    let hidden = charge(ChargeState::Creating { acquirer: AcquirerName::parse("main").unwrap() });
    let hidden = TransactionRow::of(&Transaction::Charge(Box::new(hidden)));
    assert!(matches!(hidden, Err(Unshowable::Hidden(_))));
}

#[test]
fn creator_net_amount_excludes_split_shares() {
    let divided = |state| {
        let charge = charge(state);
        Charge { terms: ChargeTerms { split: split("33.3333"), ..charge.terms.clone() }, ..charge }
    };
    // 33.3333 % of the amount less the fee (9.90), rounded down, is 3.29.
    assert!(
        json(&row_of(divided(ChargeState::Pending(issued())))).contains(r#""net_amount":6.61,"gross_amount":10.50"#)
    );
    let fixed = Settlement { parts: vec![Money::from_centavos(300)], ..settlement() };
    assert!(json(&row_of(divided(ChargeState::Paid(issued(), fixed)))).contains(r#""net_amount":6.90"#));
}

#[test]
fn timeline_shows_payouts_and_shares() {
    let sent = Sent {
        acquirer: AcquirerName::parse("main").unwrap(),
        recorded_at: instant("2026-01-02T14:00:00Z"),
        end_to_end_id: None,
    };
    let payout = super::money_out::payout(PayoutState::Processing(sent), Recipient::default());
    let row = TransactionRow::of(&Transaction::Payout(Box::new(payout))).unwrap();
    assert_eq!(
        csv(&row),
        "txn_out_01h455vb4pex5vsknk084sn02r,cash_out,pyt_01h455vb4pex5vsknk084sn02r,10.00,0.50,10.00,10.50,processing,pix,api,2026-01-02T14:00:00.000Z\r\n"
    );
    let credit = SplitCredit {
        id: EntryId::parse("ent_01h455vb4pex5vsknk084sn02t").unwrap(),
        amount: Money::from_centavos(300),
        created_at: instant("2026-01-02T12:03:05Z"),
    };
    let row = TransactionRow::of(&Transaction::SplitCredit(credit)).unwrap();
    assert_eq!(
        csv(&row),
        "txn_in_01h455vb4pex5vsknk084sn02t,cash_in,,3.00,0.00,3.00,3.00,completed,pix,api,2026-01-02T12:03:05.000Z\r\n"
    );
}
