//! Rows of charges.

use cais_domain::charge::{Charge, ChargeState, ChargeStatus, ChargeTerms, Issued, Origin, RefundTotals, Settlement};
use cais_domain::end_to_end_id::EndToEndId;
use cais_domain::external_id::ExternalId;
use cais_domain::money::Money;
use cais_domain::split::Split;
use cais_domain::text::Text;
use cais_domain::txid::Txid;
use cais_domain::webhook::{Postback, WebhookUrl};
use diesel::sql_types::{BigInt, Nullable, Text as SqlText};
use jiff::Timestamp;

use super::{acquirer, corrupt, external, id, instant, optional_instant, small, text, word};
use crate::error::Fault;
use crate::sql::Value;
use crate::sql::spec::{Column, Kind, Spec};

const TABLE: &str = "charges";

/// The columns, in the order of a row, of a table that is called `c`.
macro_rules! charge_columns {
    () => {
        "c.account_id, c.id, c.txid, c.amount, c.fee, c.description, c.payer_name, c.payer_document, c.expires_in_s, c.external_id, \
         c.postback_endpoint, c.postback_url, c.origin, c.status, c.acquirer, c.copy_paste, c.expires_at, c.paid_at, c.end_to_end_id, c.ended_at, \
         c.split, c.split_parts, c.refunding, c.refunded, c.open_infractions, c.created_at, c.version"
    };
}
pub(crate) use charge_columns;

/// Their types.
pub(crate) type ChargeColumns = (
    (SqlText, SqlText, SqlText, BigInt, BigInt),
    (Nullable<SqlText>, Nullable<SqlText>, Nullable<SqlText>, BigInt),
    (Nullable<SqlText>, Nullable<SqlText>, Nullable<SqlText>, SqlText),
    (SqlText, SqlText, Nullable<SqlText>, Nullable<BigInt>, Nullable<BigInt>, Nullable<SqlText>, Nullable<BigInt>),
    (Nullable<SqlText>, Nullable<SqlText>, BigInt, BigInt, BigInt),
    (BigInt, BigInt),
);

/// Account, id, txid, amount, fee.
type Identity = (String, String, String, i64, i64);
/// Description, payer's name and document, life in seconds.
type Terms = (Option<String>, Option<String>, Option<String>, i64);
/// External id, the endpoint for its events and its address, origin.
type Names = (Option<String>, Option<String>, Option<String>, String);
/// Status, acquirer, code, expiry, payment's instant and id, end.
type State = (String, String, Option<String>, Option<i64>, Option<i64>, Option<String>, Option<i64>);
/// Who shares, what each of them got, what is on its way back, what went back, open infractions.
type Shared = (Option<String>, Option<String>, i64, i64, i64);

/// A charge as it is read.
pub(crate) type ChargeRow = (Identity, Terms, Names, State, Shared, (i64, i64));

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
            ("postback_endpoint", Kind::Text),
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

/// New charges of one account whose acquirer was not asked yet: nearly all of them. What they have no facts for is null, or none.
pub(crate) static OPEN: Spec = Spec::insert(TABLE, opening_columns!());

/// New charges.
pub(crate) static INSERT: Spec = Spec::insert(
    TABLE,
    opening_columns!(
        ("copy_paste", Kind::Text),
        ("expires_at", Kind::Int),
        ("paid_at", Kind::Int),
        ("end_to_end_id", Kind::Text),
        ("ended_at", Kind::Int),
        ("split_parts", Kind::Text),
        ("refunding", Kind::Int),
        ("refunded", Kind::Int),
        ("open_infractions", Kind::Int),
        ("split", Kind::Text)
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
.also("paid_at = NULL, end_to_end_id = NULL, ended_at = NULL, split_parts = NULL, refunding = 0, refunded = 0, open_infractions = 0");

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
        ("split_parts", Kind::Text),
        ("refunding", Kind::Int),
        ("refunded", Kind::Int),
        ("open_infractions", Kind::Int),
        ("version", Kind::Int),
    ],
    READ,
);

/// The row of a new charge whose acquirer was not asked yet; `None` when it was.
pub(crate) fn opened(charge: &Charge, version: i64) -> Option<Vec<Value<'_>>> {
    let ChargeState::Creating { acquirer } = &charge.state else { return None };
    if !charge.terms.split.is_empty() || !is_untouched(charge) {
        return None;
    }
    let mut row = terms(charge, version);
    row.extend([charge.state.status().as_str().into(), acquirer.as_str().into()]);
    Some(row)
}

/// The row of a new charge.
pub(crate) fn inserted(charge: &Charge, version: i64) -> Vec<Value<'_>> {
    let mut row = terms(charge, version);
    row.extend(changing(charge));
    row.push((!charge.terms.split.is_empty()).then(|| charge.terms.split.to_string()).into());
    row
}

fn terms(charge: &Charge, version: i64) -> Vec<Value<'_>> {
    let terms = &charge.terms;
    let mut row = Vec::with_capacity(27);
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
        terms.postback.as_ref().map(|postback| postback.endpoint).into(),
        terms.postback.as_ref().map(|postback| postback.url.as_str()).into(),
        terms.origin.as_str().into(),
        charge.created_at.into(),
        version.into(),
    ]);
    row
}

/// The row of a charge that waits for its payer, where `read` is the version that was read; `None` when it does not.
pub(crate) fn issued(charge: &Charge, version: i64, read: i64) -> Option<Vec<Value<'_>>> {
    let ChargeState::Pending(issued) = &charge.state else { return None };
    is_untouched(charge).then(|| {
        vec![
            charge.state.status().as_str().into(),
            issued.acquirer.as_str().into(),
            issued.copy_paste.as_str().into(),
            issued.expires_at.into(),
            version.into(),
            charge.account.into(),
            charge.id.into(),
            read.into(),
        ]
    })
}

/// Whether nothing of it goes back and nobody disputes it, as before every payment.
fn is_untouched(charge: &Charge) -> bool {
    charge.refunds == RefundTotals::default() && charge.open_infractions == 0
}

/// The row of a charge in another state, where `read` is the version that was read.
pub(crate) fn updated(charge: &Charge, version: i64, read: i64) -> Vec<Value<'_>> {
    let mut row = changing(charge);
    row.extend([version.into(), charge.account.into(), charge.id.into(), read.into()]);
    row
}

fn changing(charge: &Charge) -> Vec<Value<'_>> {
    let state = &charge.state;
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
        settlement.and_then(|settlement| written_parts(&settlement.parts)).into(),
        charge.refunds.in_flight.into(),
        charge.refunds.done.into(),
        charge.open_infractions.into(),
    ]
}

/// Centavos between commas; nothing when nobody shared. The audit of the ledger reads it as well.
fn written_parts(parts: &[Money]) -> Option<String> {
    let centavos: Vec<String> = parts.iter().map(|part| part.centavos().to_string()).collect();
    (!centavos.is_empty()).then(|| centavos.join(","))
}

/// The charge of a row.
pub(crate) fn read(row: ChargeRow) -> Result<Charge, Fault> {
    let ((account, charge, txid, amount, fee), terms, names, state, shared, (created_at, version)) = row;
    let (description, payer_name, payer_document, expires_in_s) = terms;
    let (external_id, postback_endpoint, postback_url, origin) = names;
    let (split, parts, in_flight, done, open_infractions) = shared;
    let split = split.map_or(Ok(Split::NONE), |split| word(TABLE, &split, Split::parse))?;
    let refunds = RefundTotals { in_flight: Money::from_centavos(in_flight), done: Money::from_centavos(done) };
    let state = read_state(state, &split, parts.as_deref())?;
    let terms = ChargeTerms {
        amount: Money::from_centavos(amount),
        fee: Money::from_centavos(fee),
        description: text(TABLE, description)?,
        payer_name: text(TABLE, payer_name)?,
        payer_document: text(TABLE, payer_document)?,
        expires_in_s: small(TABLE, expires_in_s)?,
        external_id: external(TABLE, external_id)?,
        postback: read_postback(postback_endpoint, postback_url)?,
        split,
        origin: word(TABLE, &origin, Origin::parse)?,
    };
    let charge = Charge {
        id: id(TABLE, &charge)?,
        account: id(TABLE, &account)?,
        txid: Txid::parse(&txid).map_err(|error| corrupt(TABLE, error))?,
        terms,
        state,
        refunds,
        open_infractions: small(TABLE, open_infractions)?,
        created_at: instant(TABLE, created_at)?,
        version,
    };
    let covered = charge.refundable().is_ok_and(|rest| !rest.is_negative());
    if in_flight < 0 || done < 0 || !covered {
        return Err(corrupt(TABLE, "more goes back than was paid"));
    }
    Ok(charge)
}

fn read_postback(endpoint: Option<String>, url: Option<String>) -> Result<Option<Postback>, Fault> {
    match (endpoint, url) {
        (Some(endpoint), Some(url)) => {
            let url = WebhookUrl::parse(&url).map_err(|error| corrupt(TABLE, error))?;
            Ok(Some(Postback { endpoint: id(TABLE, &endpoint)?, url }))
        }
        (None, None) => Ok(None),
        (Some(_), None) | (None, Some(_)) => Err(corrupt(TABLE, "half an endpoint for its events")),
    }
}

/// One part for each share.
fn read_parts(split: &Split, parts: Option<&str>) -> Result<Vec<Money>, Fault> {
    let centavos = parts.iter().flat_map(|parts| parts.split(',')).map(str::parse).collect::<Result<Vec<i64>, _>>();
    let centavos = centavos.map_err(|error| corrupt(TABLE, error))?;
    if centavos.len() != split.shares().len() || centavos.iter().any(|part| part.is_negative()) {
        return Err(corrupt(TABLE, "parts that are not those of the split"));
    }
    Ok(centavos.into_iter().map(Money::from_centavos).collect())
}

fn read_state(
    (status, asked, copy_paste, expires_at, paid_at, end_to_end_id, ended_at): State,
    split: &Split,
    parts: Option<&str>,
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
            parts: read_parts(split, parts)?,
        }),
        (None, None) if parts.is_none() => None,
        (Some(_) | None, Some(_) | None) => return Err(impossible()),
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
