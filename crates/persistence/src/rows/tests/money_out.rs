//! Tests rows of payouts and refunds.

use cais_domain::payout::{Payout, PayoutStatus};
use cais_domain::refund::{Refund, RefundStatus};
use cais_testkit::builders::fresh;

use super::super::Record as _;
use super::super::payout::PayoutRow;
use super::super::refund::RefundRow;
use super::{PIX, account, is_corrupt, now};

const RETURN: &str = "D1234567820260102030400000000001";

fn a_payout(status: PayoutStatus) -> PayoutRow<'static> {
    let sent = (status != PayoutStatus::Pending && status != PayoutStatus::Abandoned).then(now);
    let completed = matches!(status, PayoutStatus::Completed | PayoutStatus::Reversed).then(now);
    let failure = (status == PayoutStatus::Failed).then(|| "the key has no owner".into());
    let ended = matches!(status, PayoutStatus::Abandoned | PayoutStatus::Failed | PayoutStatus::Reversed).then(now);
    let returned = if status == PayoutStatus::Reversed { 1_000 } else { 0 };
    PayoutRow {
        account_id: account().into(),
        id: fresh::<cais_domain::ids::kind::Payout>().to_string().into(),
        amount: 1_000,
        fee: 50,
        created_at: now(),
        pix_key: "+5511987654321".into(),
        pix_key_type: "phone".into(),
        owner_document: Some("12345678909".into()),
        description: Some("rent".into()),
        external_id: Some("a-1".into()),
        origin: "api".into(),
        version: 1,
        recipient_name: Some("Ana".into()),
        recipient_document: Some("***.456.789-**".into()),
        returned,
        due_at: None,
        attempts: 0,
        status: status.as_str().into(),
        acquirer: "main".into(),
        sent_at: sent,
        end_to_end_id: completed.map(|_| PIX.into()),
        completed_at: completed,
        failure,
        ended_at: ended,
    }
}

#[test]
fn payout_with_inconsistent_columns_is_an_error() {
    let spoil: [fn(&mut PayoutRow<'_>); 6] = [
        |row| row.returned = if row.returned == 0 { 1_001 } else { 999 },
        |row| row.sent_at = if row.sent_at.is_some() { None } else { Some(now()) },
        |row| row.completed_at = if row.completed_at.is_some() { None } else { Some(now()) },
        |row| row.failure = if row.failure.is_some() { None } else { Some("no".into()) },
        |row| row.ended_at = if row.ended_at.is_some() { None } else { Some(now()) },
        |row| {
            // A completed or reversed payout has an end-to-end id; a payout that was not sent has none.
            let named = row.end_to_end_id.take().is_some();
            row.end_to_end_id = (!named).then(|| PIX.into());
        },
    ];
    for status in PayoutStatus::ALL {
        assert_eq!(Payout::read(a_payout(status)).unwrap().state.status(), status);
        for (number, spoil) in spoil.into_iter().enumerate() {
            let mut row = a_payout(status);
            spoil(&mut row);
            let may_be_named = matches!(status, PayoutStatus::Processing | PayoutStatus::Failed);
            assert_eq!(is_corrupt(&Payout::read(row)), number != 5 || !may_be_named, "{status:?} {number}");
        }
    }
}

#[test]
fn payout_with_unparsable_values_is_an_error() {
    let spoil: [fn(&mut PayoutRow<'_>); 9] = [
        |row| row.id = "chg_1".into(),
        |row| row.created_at = i64::MAX,
        |row| row.pix_key = "11987654321".into(),
        |row| row.pix_key_type = "telephone".into(),
        |row| row.owner_document = Some("12345678900".into()),
        |row| row.origin = "else".into(),
        |row| row.attempts = -1,
        |row| row.status = "sent".into(),
        |row| row.acquirer = "NOT A NAME".into(),
    ];
    for (number, spoil) in spoil.into_iter().enumerate() {
        let mut row = a_payout(PayoutStatus::Processing);
        spoil(&mut row);
        assert!(is_corrupt(&Payout::read(row)), "{number}");
    }
}

fn a_refund(status: RefundStatus) -> RefundRow<'static> {
    let sent = (status == RefundStatus::Processing).then(now);
    let failure = (status == RefundStatus::Failed).then(|| "the account is closed".into());
    let ended = matches!(status, RefundStatus::Abandoned | RefundStatus::Completed | RefundStatus::Failed).then(now);
    RefundRow {
        account_id: account().into(),
        id: fresh::<cais_domain::ids::kind::Refund>().to_string().into(),
        charge_id: fresh::<cais_domain::ids::kind::Charge>().to_string().into(),
        end_to_end_id: PIX.into(),
        acquirer: "main".into(),
        amount: 100,
        of_charge: 100,
        reason: Some("broken".into()),
        external_id: Some("a-1".into()),
        created_at: now(),
        version: 1,
        due_at: None,
        attempts: 0,
        status: status.as_str().into(),
        sent_at: sent,
        return_id: None,
        failure,
        ended_at: ended,
    }
}

#[test]
fn refund_with_inconsistent_columns_is_an_error() {
    let spoil: [fn(&mut RefundRow<'_>); 4] = [
        |row| row.sent_at = if row.sent_at.is_some() { None } else { Some(now()) },
        |row| row.failure = if row.failure.is_some() { None } else { Some("no".into()) },
        |row| row.ended_at = if row.ended_at.is_some() { None } else { Some(now()) },
        |row| row.return_id = Some("not a return".into()),
    ];
    for status in RefundStatus::ALL {
        assert_eq!(Refund::read(a_refund(status)).unwrap().state.status(), status);
        for (number, spoil) in spoil.into_iter().enumerate() {
            let mut row = a_refund(status);
            spoil(&mut row);
            assert!(is_corrupt(&Refund::read(row)), "{status:?} {number}");
        }
        let mut row = a_refund(status);
        row.return_id = Some(RETURN.into());
        let may_be_named = status.is_visible();
        assert_eq!(is_corrupt(&Refund::read(row)), !may_be_named, "{status:?}");
    }
}
