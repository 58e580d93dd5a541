//! Rows of charges.

use cais_domain::charge::{Charge, ChargeState, ChargeStatus, ChargeTerms, Issued, Origin, Settlement};
use cais_domain::end_to_end_id::EndToEndId;
use cais_domain::external_id::ExternalId;
use cais_domain::money::Money;
use cais_domain::text::{LineBreaks, Text};
use cais_domain::txid::Txid;
use diesel::sql_types::{BigInt, Nullable, Text as SqlText};
use jiff::Timestamp;

use super::{acquirer, corrupt, id, instant, optional_instant, small, word};
use crate::error::Fault;
use crate::sql::Value;
use crate::sql::spec::{Column, Kind, Spec};

const TABLE: &str = "charges";

/// The columns, in the order of a row, of a table that is called `c`.
macro_rules! charge_columns {
    () => {
        "c.account_id, c.id, c.txid, c.amount, c.fee, c.description, c.payer_name, c.payer_document, c.expires_in_s, c.external_id, \
         c.postback_url, c.origin, c.status, c.acquirer, c.copy_paste, c.expires_at, c.paid_at, c.end_to_end_id, c.ended_at, \
         c.created_at, c.version"
    };
}
pub(crate) use charge_columns;

/// Their types.
pub(crate) type ChargeColumns = (
    (SqlText, SqlText, SqlText, BigInt, BigInt),
    (Nullable<SqlText>, Nullable<SqlText>, Nullable<SqlText>, BigInt, Nullable<SqlText>, Nullable<SqlText>, SqlText),
    (SqlText, SqlText, Nullable<SqlText>, Nullable<BigInt>, Nullable<BigInt>, Nullable<SqlText>, Nullable<BigInt>),
    (BigInt, BigInt),
);

/// Account, id, txid, amount, fee.
type Identity = (String, String, String, i64, i64);
/// Description, payer's name and document, life in seconds, external id, postback URL, origin.
type Terms = (Option<String>, Option<String>, Option<String>, i64, Option<String>, Option<String>, String);
/// Status, acquirer, code, expiry, payment's instant and id, end.
type State = (String, String, Option<String>, Option<i64>, Option<i64>, Option<String>, Option<i64>);

/// A charge as it is read.
pub(crate) type ChargeRow = (Identity, Terms, State, (i64, i64));

macro_rules! opening_columns {
    ($($more:expr),*) => {
        &[
            ("account_id", Kind::Text),
            ("id", Kind::Text),
            ("txid", Kind::Text),
            ("amount", Kind::Int),
            ("fee", Kind::Int),
            ("description", Kind::Text),
            ("payer_name", Kind::Text),
            ("payer_document", Kind::Text),
            ("expires_in_s", Kind::Int),
            ("external_id", Kind::Text),
            ("postback_url", Kind::Text),
            ("origin", Kind::Text),
            ("created_at", Kind::Int),
            ("version", Kind::Int),
            ("status", Kind::Text),
            ("acquirer", Kind::Text),
            $($more,)*
        ]
    };
}

/// New charges whose acquirer was not asked yet: nearly all of them. What they have no facts for is null.
pub(crate) static OPEN: Spec = Spec::insert(TABLE, opening_columns!());

/// New charges.
pub(crate) static INSERT: Spec = Spec::insert(
    TABLE,
    opening_columns!(
        ("copy_paste", Kind::Text),
        ("expires_at", Kind::Int),
        ("paid_at", Kind::Int),
        ("end_to_end_id", Kind::Text),
        ("ended_at", Kind::Int)
    ),
);

const READ: &[Column] = &[("account_id", Kind::Text), ("id", Kind::Text), ("version", Kind::Int)];

/// Charges that wait for their payers from now on.
pub(crate) static ISSUE: Spec = Spec::update(
    TABLE,
    &[
        ("status", Kind::Text),
        ("acquirer", Kind::Text),
        ("copy_paste", Kind::Text),
        ("expires_at", Kind::Int),
        ("version", Kind::Int),
    ],
    READ,
)
.also("paid_at = NULL, end_to_end_id = NULL, ended_at = NULL");

/// Charges in another state.
pub(crate) static UPDATE: Spec = Spec::update(
    TABLE,
    &[
        ("status", Kind::Text),
        ("acquirer", Kind::Text),
        ("copy_paste", Kind::Text),
        ("expires_at", Kind::Int),
        ("paid_at", Kind::Int),
        ("end_to_end_id", Kind::Text),
        ("ended_at", Kind::Int),
        ("version", Kind::Int),
    ],
    READ,
);

/// The row of a new charge whose acquirer was not asked yet; `None` when it was.
pub(crate) fn opened(charge: &Charge, version: i64) -> Option<Vec<Value<'_>>> {
    let ChargeState::Creating { acquirer } = &charge.state else { return None };
    let mut row = terms(charge, version);
    row.extend([charge.state.status().as_str().into(), acquirer.as_str().into()]);
    Some(row)
}

/// The row of a new charge.
pub(crate) fn inserted(charge: &Charge, version: i64) -> Vec<Value<'_>> {
    let mut row = terms(charge, version);
    row.extend(state(&charge.state));
    row
}

fn terms(charge: &Charge, version: i64) -> Vec<Value<'_>> {
    let terms = &charge.terms;
    let mut row = Vec::with_capacity(21);
    row.extend([
        charge.account.into(),
        charge.id.into(),
        charge.txid.as_str().into(),
        terms.amount.into(),
        terms.fee.into(),
        terms.description.as_ref().map(Text::as_str).into(),
        terms.payer_name.as_ref().map(Text::as_str).into(),
        terms.payer_document.as_ref().map(Text::as_str).into(),
        terms.expires_in_s.into(),
        terms.external_id.as_ref().map(ExternalId::as_str).into(),
        terms.postback_url.as_deref().into(),
        terms.origin.as_str().into(),
        charge.created_at.into(),
        version.into(),
    ]);
    row
}

/// The row of a charge that waits for its payer, where `read` is the version that was read; `None` when it does not.
pub(crate) fn issued(charge: &Charge, version: i64, read: i64) -> Option<Vec<Value<'_>>> {
    let ChargeState::Pending(issued) = &charge.state else { return None };
    Some(vec![
        charge.state.status().as_str().into(),
        issued.acquirer.as_str().into(),
        issued.copy_paste.as_str().into(),
        issued.expires_at.into(),
        version.into(),
        charge.account.into(),
        charge.id.into(),
        read.into(),
    ])
}

/// The row of a charge in another state, where `read` is the version that was read.
pub(crate) fn updated(charge: &Charge, version: i64, read: i64) -> Vec<Value<'_>> {
    let mut row = state(&charge.state);
    row.extend([version.into(), charge.account.into(), charge.id.into(), read.into()]);
    row
}

fn state(state: &ChargeState) -> Vec<Value<'_>> {
    let issued = state.issued();
    let settlement = state.settlement();
    let ended_at = match state {
        ChargeState::Abandoned { at, .. }
        | ChargeState::Expired { at, .. }
        | ChargeState::Cancelled { at, .. }
        | ChargeState::Refunded { at, .. } => Some(*at),
        ChargeState::Creating { .. } | ChargeState::Pending(_) | ChargeState::Paid(..) => None,
    };
    vec![
        state.status().as_str().into(),
        state.acquirer().as_str().into(),
        issued.map(|issued| issued.copy_paste.as_str()).into(),
        issued.map(|issued| issued.expires_at).into(),
        settlement.map(|settlement| settlement.paid_at).into(),
        settlement.map(|settlement| settlement.end_to_end_id.as_str()).into(),
        ended_at.into(),
    ]
}

/// The charge of a row.
pub(crate) fn read(row: ChargeRow) -> Result<Charge, Fault> {
    let ((account, charge, txid, amount, fee), terms, state, (created_at, version)) = row;
    let (description, payer_name, payer_document, expires_in_s, external_id, postback_url, origin) = terms;
    let terms = ChargeTerms {
        amount: Money::from_centavos(amount),
        fee: Money::from_centavos(fee),
        description: text(description)?,
        payer_name: text(payer_name)?,
        payer_document: text(payer_document)?,
        expires_in_s: small(TABLE, expires_in_s)?,
        external_id: external_id
            .map(|external_id| ExternalId::parse(&external_id).map_err(|error| corrupt(TABLE, error)))
            .transpose()?,
        postback_url,
        origin: word(TABLE, &origin, Origin::parse)?,
    };
    Ok(Charge {
        id: id(TABLE, &charge)?,
        account: id(TABLE, &account)?,
        txid: Txid::parse(&txid).map_err(|error| corrupt(TABLE, error))?,
        terms,
        state: read_state(state)?,
        created_at: instant(TABLE, created_at)?,
        version,
    })
}

/// The limits were judged when it was written; what is checked again is that no control character slipped in.
fn text(text: Option<String>) -> Result<Option<Text>, Fault> {
    text.map(|text| Text::parse(&text, usize::MAX, LineBreaks::Allowed).map_err(|error| corrupt(TABLE, error)))
        .transpose()
}

fn read_state(
    (status, asked, copy_paste, expires_at, paid_at, end_to_end_id, ended_at): State,
) -> Result<ChargeState, Fault> {
    let acquirer = acquirer(TABLE, &asked)?;
    let status = word(TABLE, &status, ChargeStatus::parse)?;
    let impossible = || corrupt(TABLE, format_args!("facts that do not belong to the status `{}`", status.as_str()));
    let issued = match (copy_paste, optional_instant(TABLE, expires_at)?) {
        (Some(copy_paste), Some(expires_at)) => Some(Issued { acquirer: acquirer.clone(), copy_paste, expires_at }),
        (None, None) => None,
        (Some(_), None) | (None, Some(_)) => return Err(impossible()),
    };
    let settlement = match (optional_instant(TABLE, paid_at)?, end_to_end_id) {
        (Some(paid_at), Some(end_to_end_id)) => Some(Settlement {
            paid_at,
            end_to_end_id: EndToEndId::parse(&end_to_end_id).map_err(|error| corrupt(TABLE, error))?,
        }),
        (None, None) => None,
        (Some(_), None) | (None, Some(_)) => return Err(impossible()),
    };
    let ended_at: Option<Timestamp> = optional_instant(TABLE, ended_at)?;
    match (status, issued, settlement, ended_at) {
        (ChargeStatus::Creating, None, None, None) => Ok(ChargeState::Creating { acquirer }),
        (ChargeStatus::Abandoned, None, None, Some(at)) => Ok(ChargeState::Abandoned { acquirer, at }),
        (ChargeStatus::Pending, Some(issued), None, None) => Ok(ChargeState::Pending(issued)),
        (ChargeStatus::Paid, Some(issued), Some(settlement), None) => Ok(ChargeState::Paid(issued, settlement)),
        (ChargeStatus::Expired, Some(issued), None, Some(at)) => Ok(ChargeState::Expired { issued, at }),
        (ChargeStatus::Cancelled, Some(issued), None, Some(at)) => Ok(ChargeState::Cancelled { issued, at }),
        (ChargeStatus::Refunded, Some(issued), Some(settlement), Some(at)) => {
            Ok(ChargeState::Refunded { issued, settlement, at })
        }
        (
            ChargeStatus::Creating
            | ChargeStatus::Abandoned
            | ChargeStatus::Pending
            | ChargeStatus::Paid
            | ChargeStatus::Expired
            | ChargeStatus::Cancelled
            | ChargeStatus::Refunded,
            ..,
        ) => Err(impossible()),
    }
}
