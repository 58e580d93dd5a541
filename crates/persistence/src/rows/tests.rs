//! Rows that nobody could have written are errors, never records.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use cais_domain::charge::ChargeStatus;
use cais_domain::infraction::InfractionStatus;
use cais_domain::payout::PayoutStatus;
use cais_domain::refund::RefundStatus;
use cais_testkit::builders::{fresh, start};

use super::charge::ChargeRow;
use super::endpoint::EndpointRow;
use super::infraction::InfractionRow;
use super::payout::PayoutRow;
use super::refund::RefundRow;
use super::{block, charge, endpoint, event, infraction, payment, payout, refund, release, statement};
use crate::error::Fault;

const PIX: &str = "E1234567820260102030400000000001";
const RETURN: &str = "D1234567820260102030400000000001";

fn account() -> String {
    fresh::<cais_domain::ids::kind::Account>().to_string()
}

fn now() -> i64 {
    start().as_microsecond()
}

fn is_corrupt<T>(read: &Result<T, Fault>) -> bool {
    matches!(read, Err(Fault::Corrupt(_)))
}

/// A paid charge of R$ 10.00 in which two others share.
fn a_charge() -> ChargeRow {
    let split = format!("{}:10,{}:0.5", account(), account());
    let id = fresh::<cais_domain::ids::kind::Charge>();
    let txid = cais_domain::txid::Txid::of_charge(id).to_string();
    (
        (account(), id.to_string(), txid, 1_000, 50),
        (None, None, None, 3_600),
        (None, None, None, "api".to_owned()),
        ("paid".to_owned(), "main".to_owned(), Some("000201".into()), Some(now()), Some(now()), Some(PIX.into()), None),
        (Some(split), Some("95,4".into()), 300, 700, 0),
        (now(), 2),
    )
}

#[test]
fn a_charge_has_the_parts_of_its_split_and_goes_back_at_most_whole() {
    let read = charge::read(a_charge()).unwrap();
    assert_eq!(read.state.status(), ChargeStatus::Paid);
    assert_eq!(read.terms.split.shares().len(), 2);
    let spoil: [fn(&mut ChargeRow); 16] = [
        |row| row.4.0 = None,
        |row| row.4.0 = Some(String::new()),
        |row| row.4.0 = Some("acc_1:10".into()),
        |row| row.4.0 = row.4.0.take().map(|split| split.replace(":10", ":100")),
        |row| row.4.1 = None,
        |row| row.4.1 = Some("95".into()),
        |row| row.4.1 = Some("95,4,1".into()),
        |row| row.4.1 = Some("95,-4".into()),
        |row| row.4.1 = Some("95,".into()),
        |row| row.4.2 = -1,
        |row| row.4.3 = -1,
        |row| row.4.3 = 701,
        |row| row.4.4 = -1,
        |row| row.3 = ("pending".to_owned(), "main".to_owned(), Some("000201".into()), Some(now()), None, None, None),
        |row| row.2.1 = Some(fresh::<cais_domain::ids::kind::Endpoint>().to_string()),
        |row| row.2.2 = Some("https://shop.example/hook".into()),
    ];
    for (number, spoil) in spoil.into_iter().enumerate() {
        let mut row = a_charge();
        spoil(&mut row);
        assert!(is_corrupt(&charge::read(row)), "{number}");
    }
}

fn a_payout(status: PayoutStatus) -> PayoutRow {
    let sent = (status != PayoutStatus::Pending && status != PayoutStatus::Abandoned).then(now);
    let completed = matches!(status, PayoutStatus::Completed | PayoutStatus::Reversed).then(now);
    let failure = (status == PayoutStatus::Failed).then(|| "the key has no owner".to_owned());
    let ended = matches!(status, PayoutStatus::Abandoned | PayoutStatus::Failed | PayoutStatus::Reversed).then(now);
    let pix = completed.map(|_| PIX.to_owned());
    let returned = if status == PayoutStatus::Reversed { 1_000 } else { 0 };
    let id = fresh::<cais_domain::ids::kind::Payout>().to_string();
    (
        (account(), id, 1_000, 50, now(), 1),
        (
            "+5511987654321".to_owned(),
            "phone".to_owned(),
            Some("12345678909".into()),
            Some("rent".into()),
            Some("a-1".into()),
            "api".into(),
        ),
        (Some("Ana".into()), Some("***.456.789-**".into()), returned, None, 0),
        (status.as_str().to_owned(), "main".to_owned(), sent, pix, completed, failure, ended),
    )
}

#[test]
fn a_payout_in_each_state_has_exactly_its_facts() {
    let spoil: [fn(&mut PayoutRow); 6] = [
        |row| row.2.2 = if row.2.2 == 0 { 1_001 } else { 999 },
        |row| row.3.2 = if row.3.2.is_some() { None } else { Some(now()) },
        |row| row.3.4 = if row.3.4.is_some() { None } else { Some(now()) },
        |row| row.3.5 = if row.3.5.is_some() { None } else { Some("no".into()) },
        |row| row.3.6 = if row.3.6.is_some() { None } else { Some(now()) },
        |row| {
            // Who completed it named the Pix, and who was not asked did not.
            let named = row.3.3.take().is_some();
            row.3.3 = (!named).then(|| PIX.to_owned());
        },
    ];
    for status in PayoutStatus::ALL {
        assert_eq!(payout::read(a_payout(status)).unwrap().state.status(), status);
        for (number, spoil) in spoil.into_iter().enumerate() {
            let mut row = a_payout(status);
            spoil(&mut row);
            let may_be_named = matches!(status, PayoutStatus::Processing | PayoutStatus::Failed);
            assert_eq!(is_corrupt(&payout::read(row)), number != 5 || !may_be_named, "{status:?} {number}");
        }
    }
}

#[test]
fn a_payout_holds_what_was_parsed_before() {
    let spoil: [fn(&mut PayoutRow); 9] = [
        |row| row.0.1 = "chg_1".to_owned(),
        |row| row.0.4 = i64::MAX,
        |row| row.1.0 = "11987654321".to_owned(),
        |row| row.1.1 = "telephone".to_owned(),
        |row| row.1.2 = Some("12345678900".into()),
        |row| row.1.5 = "else".to_owned(),
        |row| row.2.4 = -1,
        |row| row.3.0 = "sent".to_owned(),
        |row| row.3.1 = "NOT A NAME".to_owned(),
    ];
    for (number, spoil) in spoil.into_iter().enumerate() {
        let mut row = a_payout(PayoutStatus::Processing);
        spoil(&mut row);
        assert!(is_corrupt(&payout::read(row)), "{number}");
    }
}

fn a_refund(status: RefundStatus) -> RefundRow {
    let sent = (status == RefundStatus::Processing).then(now);
    let failure = (status == RefundStatus::Failed).then(|| "the account is closed".to_owned());
    let ended = matches!(status, RefundStatus::Abandoned | RefundStatus::Completed | RefundStatus::Failed).then(now);
    let (id, charge) = (fresh::<cais_domain::ids::kind::Refund>(), fresh::<cais_domain::ids::kind::Charge>());
    (
        (account(), id.to_string(), charge.to_string(), PIX.to_owned(), "main".to_owned(), 100, 100),
        (Some("broken".into()), Some("a-1".into()), None, 0, now(), 1),
        (status.as_str().to_owned(), sent, None, failure, ended),
    )
}

#[test]
fn a_refund_in_each_state_has_exactly_its_facts() {
    let spoil: [fn(&mut RefundRow); 4] = [
        |row| row.2.1 = if row.2.1.is_some() { None } else { Some(now()) },
        |row| row.2.3 = if row.2.3.is_some() { None } else { Some("no".into()) },
        |row| row.2.4 = if row.2.4.is_some() { None } else { Some(now()) },
        |row| row.2.2 = Some("not a return".into()),
    ];
    for status in RefundStatus::ALL {
        assert_eq!(refund::read(a_refund(status)).unwrap().state.status(), status);
        for (number, spoil) in spoil.into_iter().enumerate() {
            let mut row = a_refund(status);
            spoil(&mut row);
            assert!(is_corrupt(&refund::read(row)), "{status:?} {number}");
        }
        let mut row = a_refund(status);
        row.2.2 = Some(RETURN.into());
        let may_be_named = status.is_visible();
        assert_eq!(is_corrupt(&refund::read(row)), !may_be_named, "{status:?}");
    }
}

#[test]
fn nothing_is_released_before_its_time() {
    let charge = fresh::<cais_domain::ids::kind::Charge>().to_string();
    let row = |released_at| (account(), PIX.to_owned(), charge.clone(), 100, now(), released_at, 1);
    assert!(release::read(row(None)).is_ok());
    assert!(release::read(row(Some(now()))).is_ok());
    assert!(is_corrupt(&release::read(row(Some(now() - 1)))));
}

#[test]
fn a_payment_has_a_role() {
    let charge = fresh::<cais_domain::ids::kind::Charge>().to_string();
    let row = |role: &str| {
        (account(), PIX.to_owned(), charge.clone(), 100, now(), "main".to_owned(), role.to_owned(), now(), 0)
    };
    assert!(payment::read(row("extra")).is_ok());
    assert!(is_corrupt(&payment::read(row("else"))));
}

#[test]
fn a_statement_shows_no_money_in_transit_and_credits_are_positive() {
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

fn an_endpoint(state: &str) -> EndpointRow {
    let id = fresh::<cais_domain::ids::kind::Endpoint>().to_string();
    let reason = (state == "disabled").then(|| "gone".to_owned());
    let at = matches!(state, "disabled" | "deleted").then(now);
    (
        (account(), id, 19, "https://shop.example/hook".to_owned(), "charge.paid,payout.failed".to_owned(), None),
        (state.to_owned(), reason, at, 1),
        (vec![1], Some(vec![2]), Some(now()), now(), 2),
    )
}

#[test]
fn an_endpoint_in_each_state_has_exactly_its_facts() {
    let spoil: [fn(&mut EndpointRow); 9] = [
        |row| row.0.2 = 256,
        |row| row.0.3 = "two words".to_owned(),
        |row| row.0.4 = String::new(),
        |row| row.0.4 = "charge.forgotten".to_owned(),
        |row| row.1.0 = "asleep".to_owned(),
        |row| row.1.1 = if row.1.1.is_some() { Some("old".into()) } else { Some("gone".into()) },
        |row| row.1.2 = if row.1.2.is_some() { None } else { Some(now()) },
        |row| row.2.1 = None,
        |row| row.2.2 = None,
    ];
    for state in ["active", "inactive", "disabled", "deleted"] {
        assert!(endpoint::read(an_endpoint(state)).is_ok());
        for (number, spoil) in spoil.into_iter().enumerate() {
            let mut row = an_endpoint(state);
            spoil(&mut row);
            assert!(is_corrupt(&endpoint::read(row)), "{state} {number}");
        }
    }
}

fn an_infraction(status: InfractionStatus) -> InfractionRow {
    let (id, charge) = (fresh::<cais_domain::ids::kind::Infraction>(), fresh::<cais_domain::ids::kind::Charge>());
    let lost = (status == InfractionStatus::Lost).then_some(90);
    let at = (status != InfractionStatus::Open).then(now);
    (
        (account(), id.to_string(), charge.to_string(), None, "main".to_owned(), "9".to_owned(), PIX.to_owned()),
        (Some("golpe".into()), "SCAM".to_owned(), 100, 90, Some(now()), Some(48)),
        (status.as_str().to_owned(), at, lost, lost, None, None),
        (Some("no".into()), Some("https://shop.example".into()), Some(now()), None),
        (None, 0, now(), now(), 1),
    )
}

#[test]
fn an_infraction_in_each_state_has_exactly_its_facts() {
    let spoil: [fn(&mut InfractionRow); 12] = [
        |row| row.0.6 = "not a Pix".to_owned(),
        |row| row.1.1 = "scam".to_owned(),
        |row| row.1.2 = -1,
        |row| row.1.3 = -1,
        |row| row.1.5 = Some(256),
        |row| row.2.0 = "closed".to_owned(),
        |row| row.2.1 = if row.2.1.is_some() { None } else { Some(now()) },
        |row| row.2.2 = if row.2.2.is_some() { None } else { Some(90) },
        |row| row.2.3 = if row.2.3.is_some() { Some(91) } else { Some(0) },
        |row| row.3.2 = None,
        |row| row.3 = (None, None, None, Some(now())),
        |row| row.4.1 = -1,
    ];
    for status in InfractionStatus::ALL {
        assert_eq!(infraction::read(an_infraction(status)).unwrap().state.status(), status);
        for (number, spoil) in spoil.into_iter().enumerate() {
            let mut row = an_infraction(status);
            spoil(&mut row);
            assert!(is_corrupt(&infraction::read(row)), "{status:?} {number}");
        }
    }
}

#[test]
fn a_block_holds_no_more_than_its_limit_and_an_event_has_a_place() {
    let infraction = fresh::<cais_domain::ids::kind::Infraction>().to_string();
    let row = |limit, held| (account(), infraction.clone(), PIX.to_owned(), limit, held);
    assert!(block::read(row(5, 5)).is_ok() && block::read(row(0, 0)).is_ok());
    assert!(is_corrupt(&block::read(row(5, 6))) && is_corrupt(&block::read(row(5, -1))));
    let id = fresh::<cais_domain::ids::kind::Event>().to_string();
    let row = |sequence, kind: &str| (id.clone(), sequence, kind.to_owned(), b"{}".to_vec(), now());
    assert!(event::read(row(1, "charge.paid")).is_ok());
    assert!(is_corrupt(&event::read(row(0, "charge.paid"))) && is_corrupt(&event::read(row(1, "charge.lent"))));
}
