//! Examples of payouts, refunds, the statement and the timeline.

use cais_domain::acquirer_name::AcquirerName;
use cais_domain::charge::Origin;
use cais_domain::end_to_end_id::{EndToEndId, ReturnId};
use cais_domain::external_id::ExternalId;
use cais_domain::ids::{AccountId, ChargeId, EntryId, PayoutId, RefundId};
use cais_domain::ledger::{Bucket, EntryKind};
use cais_domain::money::Money;
use cais_domain::payout::{Payout, PayoutState, PayoutTerms, Recipient, Sent};
use cais_domain::pix_key::PixKey;
use cais_domain::refund::{Refund, RefundState};
use cais_domain::text::{LineBreaks, Text};
use cais_ports::{StatementEntry, Transaction};
use jiff::Timestamp;
use serde_json::Value;

use super::{charge, value};
use crate::resources::csv::{Dialect, Row, header, write_row};
use crate::resources::payout::Payout as PayoutBody;
use crate::resources::refund::Refund as RefundBody;
use crate::resources::statement::Entry;
use crate::resources::transaction::TransactionRow;
use crate::resources::values::Page;

const ACCOUNT: &str = "acc_01h455vb4pex5vsknk084sn02q";
const CHARGE: &str = "chg_01h455vb4pex5vsknk084sn02q";
const PAYOUT: &str = "pyt_01h455vb4pex5vsknk084sn02r";
const SENT: &str = "E1234567820260102140000000000002";
const RECEIVED: &str = "E1234567820260102120300000000001";
const RETURNED: &str = "D1234567820260102150000000000003";

/// Returns a payout with the status `processing`.
pub fn processing() -> Option<Value> {
    rendered(&payout(|sent| Some(PayoutState::Processing(sent)))?)
}

/// Returns a completed payout.
pub fn completed() -> Option<Value> {
    rendered(&arrived()?)
}

/// Returns a payout that the recipient returned.
pub fn reversed() -> Option<Value> {
    let payout = payout(|sent| {
        let (completed_at, at) = (instant("2026-01-02T14:00:01.250Z")?, instant("2026-01-02T15:00:00Z")?);
        Some(PayoutState::Reversed { sent, completed_at, at })
    })?;
    rendered(&Payout { returned: payout.terms.amount, ..payout })
}

/// Returns a page with a payout.
pub fn payouts() -> Option<Value> {
    let payout = arrived()?;
    value(&Page::new(vec![PayoutBody::from(&payout)], Some(payout.id)))
}

/// Returns a refund with the status `processing`.
pub fn refund() -> Option<Value> {
    let state = RefundState::Processing { recorded_at: instant("2026-01-02T15:00:00Z")?, return_id: returned() };
    value(&RefundBody::from(&refund_in(state)?))
}

/// Returns a failed refund.
pub fn failed_refund() -> Option<Value> {
    let (at, reason) = (instant("2026-01-02T15:00:01Z")?, "refused".to_owned());
    value(&RefundBody::from(&refund_in(RefundState::Failed { return_id: returned(), reason, at })?))
}

/// Returns a page with a refund.
pub fn refunds() -> Option<Value> {
    let at = instant("2026-01-02T15:00:01Z")?;
    let refund = refund_in(RefundState::Completed { return_id: returned(), at })?;
    value(&Page::new(vec![RefundBody::from(&refund)], Some(refund.id)))
}

/// Returns a page of a statement: a payout and its fee.
pub fn entries() -> Option<Value> {
    let entries = statement()?;
    let last = entries.last()?.id.clone();
    value(&Page::new(entries.into(), Some(last)))
}

/// Returns the statement of [`entries`] as CSV.
pub fn entries_csv() -> Option<Value> {
    file(&statement()?)
}

/// Returns an entry of the timeline.
pub fn transaction() -> Option<Value> {
    value(timeline()?.first()?)
}

/// Returns a page of a timeline: a payout and a charge.
pub fn transactions() -> Option<Value> {
    value(&Page::new(timeline()?.into(), Some("txn_in_01h455vb4pex5vsknk084sn02q")))
}

/// Returns the timeline of [`transactions`] as CSV.
pub fn transactions_csv() -> Option<Value> {
    file(&timeline()?)
}

fn instant(text: &str) -> Option<Timestamp> {
    text.parse().ok()
}

fn rendered(payout: &Payout) -> Option<Value> {
    value(&PayoutBody::from(payout))
}

fn file<R: Row>(rows: &[R]) -> Option<Value> {
    let mut text = header(R::NAMES, Dialect::Standard);
    for row in rows {
        write_row(&mut text, row, Dialect::Standard);
    }
    String::from_utf8(text).ok().map(Value::String)
}

fn returned() -> Option<ReturnId> {
    ReturnId::parse(RETURNED).ok()
}

fn arrived() -> Option<Payout> {
    payout(|sent| Some(PayoutState::Completed { sent, at: instant("2026-01-02T14:00:01.250Z")? }))
}

fn payout(state: impl FnOnce(Sent) -> Option<PayoutState>) -> Option<Payout> {
    let (acquirer, recorded_at) = (AcquirerName::parse("main").ok()?, instant("2026-01-02T14:00:00Z")?);
    let sent = Sent { acquirer, recorded_at, end_to_end_id: EndToEndId::parse(SENT).ok() };
    Some(Payout {
        id: PayoutId::parse(PAYOUT).ok()?,
        account: AccountId::parse(ACCOUNT).ok()?,
        terms: PayoutTerms {
            amount: Money::from_centavos(1_000),
            fee: Money::from_centavos(50),
            pix_key: PixKey::parse("ana@example.com").ok()?,
            recipient_document: None,
            description: Text::parse("Invoice 7", 140, LineBreaks::Allowed).ok(),
            external_id: ExternalId::parse("payout-7").ok(),
            origin: Origin::Api,
        },
        recipient: Recipient { name: Some("Ana Lima".to_owned()), document: Some("***.982.247-**".to_owned()) },
        returned: Money::ZERO,
        state: state(sent)?,
        due_at: None,
        attempts: 0,
        created_at: recorded_at,
        version: 1,
    })
}

fn refund_in(state: RefundState) -> Option<Refund> {
    Some(Refund {
        id: RefundId::parse("rfd_01h455vb4pex5vsknk084sn02s").ok()?,
        account: AccountId::parse(ACCOUNT).ok()?,
        charge: ChargeId::parse(CHARGE).ok()?,
        end_to_end_id: EndToEndId::parse(RECEIVED).ok()?,
        acquirer: AcquirerName::parse("main").ok()?,
        amount: Money::from_centavos(500),
        of_charge: Money::from_centavos(500),
        reason: Text::parse("One coffee was cold", 140, LineBreaks::Allowed).ok(),
        external_id: None,
        state,
        due_at: None,
        attempts: 0,
        created_at: instant("2026-01-02T15:00:00Z")?,
        version: 1,
    })
}

fn statement() -> Option<[Entry; 2]> {
    let fee = StatementEntry {
        id: EntryId::parse("ent_01h455vb4pex5vsknk084sn02v").ok()?,
        kind: EntryKind::Fee,
        bucket: Bucket::Available,
        amount: Money::from_centavos(-50),
        balance_after: Money::from_centavos(125_050),
        resource: Some(PAYOUT.to_owned()),
        end_to_end_id: None,
        description: Some("Invoice 7".to_owned()),
        created_at: instant("2026-01-02T14:00:00Z")?,
    };
    let payout = StatementEntry {
        id: EntryId::parse("ent_01h455vb4pex5vsknk084sn02t").ok()?,
        kind: EntryKind::Payout,
        amount: Money::from_centavos(-1_000),
        balance_after: Money::from_centavos(125_100),
        ..fee.clone()
    };
    Some([fee, payout].map(Entry::from))
}

fn timeline() -> Option<[TransactionRow; 2]> {
    let payout = Transaction::Payout(Box::new(arrived()?));
    let charge = Transaction::Charge(Box::new(charge(true)?));
    Some([TransactionRow::of(&payout).ok()?, TransactionRow::of(&charge).ok()?])
}
