//! Rows of charges.

use cais_domain::charge::{Charge, ChargeState, ChargeStatus, ChargeTerms, Issued, Origin, RefundTotals, Settlement};
use cais_domain::end_to_end_id::EndToEndId;
use cais_domain::money::Money;
use cais_domain::split::Split;
use cais_domain::txid::Txid;

use super::{
    Record, acquirer, corrupt, id, instant, optional_instant, parse_enum, parse_external_id, parse_postback,
    parse_text, parsed, to_u32, us, usual,
};
use crate::error::Fault;
use crate::sql::Value;
use crate::sql::spec::Spec;
use crate::sql::table::{Row as _, table};

const TABLE: &str = "charges";

table! {
    /// The row of a charge.
    ChargeRow of charges
    key { account_id: Text, id: Text }
    fixed {
        txid: Text, amount: BigInt, fee: BigInt, description: Nullable<Text>, payer_name: Nullable<Text>,
        payer_document: Nullable<Text>, expires_in_s: BigInt, external_id: Nullable<Text>,
        postback_endpoint: Nullable<Text>, postback_url: Nullable<Text>, origin: Text, split: Nullable<Text>,
        created_at: BigInt,
    }
    changing {
        version: BigInt, status: Text, acquirer: Text, copy_paste: Nullable<Text>,
        expires_at: Nullable<BigInt>, paid_at: Nullable<BigInt>, end_to_end_id: Nullable<Text>,
        ended_at: Nullable<BigInt>, split_parts: Nullable<Text>, refunding: BigInt, refunded: BigInt,
        open_infractions: BigInt,
    }
}

/// The number of changing columns that have a value before the acquirer is called: those up to `acquirer`.
const OPENING: usize = 3;
/// The number of changing columns that have a value while the charge waits for its payer: those up to `expires_at`.
const ISSUING: usize = 5;

/// Inserts charges whose acquirer is not called yet, as nearly all new charges. The columns that are left out keep their defaults, null or
/// zero.
pub(crate) static OPEN: Spec = Spec::insert(TABLE, ChargeRow::COLUMNS.split_at(ChargeRow::FIXED + OPENING).0);

/// Updates charges that begin to wait for their payers.
pub(crate) static ISSUE: Spec = Spec::update(
    TABLE,
    ChargeRow::COLUMNS.split_at(ChargeRow::FIXED).1.split_at(ISSUING).0,
    ChargeRow::READ,
)
.also("paid_at = NULL, end_to_end_id = NULL, ended_at = NULL, split_parts = NULL, refunding = 0, refunded = 0, open_infractions = 0");

/// Returns the parts in centavos, separated by commas; `None` without parts. The audit of the ledger reads this text as well.
fn written_parts(parts: &[Money]) -> Option<String> {
    let centavos: Vec<String> = parts.iter().map(|part| part.centavos().to_string()).collect();
    (!centavos.is_empty()).then(|| centavos.join(","))
}

impl Record for Charge {
    type Row<'a> = ChargeRow<'a>;

    /// Writes fewer columns for a new charge, and for one that waits for its payer, if it has no refunds and no open infractions.
    fn written(&self, version: i64, read: Option<i64>) -> (&'static Spec, Vec<Value<'_>>) {
        let (spec, mut row) = usual(self, version, read);
        let is_untouched = self.refunds == RefundTotals::default() && self.open_infractions == 0;
        match (&self.state, read) {
            (ChargeState::Creating { .. }, None) if is_untouched => {
                row.truncate(ChargeRow::FIXED + OPENING);
                (&OPEN, row)
            }
            (ChargeState::Pending(_), Some(_)) if is_untouched => {
                row.drain(ISSUING..ChargeRow::COLUMNS.len() - ChargeRow::FIXED);
                (&ISSUE, row)
            }
            _ => (spec, row),
        }
    }

    fn row(&self, version: i64) -> ChargeRow<'_> {
        let (terms, state) = (&self.terms, &self.state);
        let (issued, settlement) = (state.issued(), state.settlement());
        let ended_at = match state {
            ChargeState::Abandoned { at, .. }
            | ChargeState::Expired { at, .. }
            | ChargeState::Cancelled { at, .. }
            | ChargeState::Refunded { at, .. } => Some(*at),
            ChargeState::Creating { .. } | ChargeState::Pending(_) | ChargeState::Paid(..) => None,
        };
        ChargeRow {
            account_id: self.account.to_string().into(),
            id: self.id.to_string().into(),
            txid: self.txid.as_str().into(),
            amount: terms.amount.centavos(),
            fee: terms.fee.centavos(),
            description: terms.description.as_ref().map(|text| text.as_str().into()),
            payer_name: terms.payer_name.as_ref().map(|text| text.as_str().into()),
            payer_document: terms.payer_document.as_ref().map(|text| text.as_str().into()),
            expires_in_s: terms.expires_in_s.into(),
            external_id: terms.external_id.as_ref().map(|name| name.as_str().into()),
            postback_endpoint: terms.postback.as_ref().map(|postback| postback.endpoint.to_string().into()),
            postback_url: terms.postback.as_ref().map(|postback| postback.url.as_str().into()),
            origin: terms.origin.as_str().into(),
            split: (!terms.split.is_empty()).then(|| terms.split.to_string().into()),
            created_at: self.created_at.as_microsecond(),
            version,
            status: state.status().as_str().into(),
            acquirer: state.acquirer().as_str().into(),
            copy_paste: issued.map(|issued| issued.copy_paste.as_str().into()),
            expires_at: us(issued.map(|issued| issued.expires_at)),
            paid_at: us(settlement.map(|settlement| settlement.paid_at)),
            end_to_end_id: settlement.map(|settlement| settlement.end_to_end_id.as_str().into()),
            ended_at: us(ended_at),
            split_parts: settlement.and_then(|settlement| written_parts(&settlement.parts)).map(Into::into),
            refunding: self.refunds.in_flight.centavos(),
            refunded: self.refunds.done.centavos(),
            open_infractions: self.open_infractions.into(),
        }
    }

    fn read(row: ChargeRow<'_>) -> Result<Self, Fault> {
        let split = row.split.as_deref().map_or(Ok(Split::NONE), |split| parse_enum(TABLE, split, Split::parse))?;
        let state = read_state(&row, &split)?;
        let terms = ChargeTerms {
            amount: Money::from_centavos(row.amount),
            fee: Money::from_centavos(row.fee),
            description: parse_text(TABLE, row.description.as_deref())?,
            payer_name: parse_text(TABLE, row.payer_name.as_deref())?,
            payer_document: parse_text(TABLE, row.payer_document.as_deref())?,
            expires_in_s: to_u32(TABLE, row.expires_in_s)?,
            external_id: parse_external_id(TABLE, row.external_id.as_deref())?,
            postback: parse_postback(TABLE, row.postback_endpoint.as_deref(), row.postback_url.as_deref())?,
            split,
            origin: parse_enum(TABLE, &row.origin, Origin::parse)?,
        };
        let charge = Self {
            id: id(TABLE, &row.id)?,
            account: id(TABLE, &row.account_id)?,
            txid: parsed(TABLE, Txid::parse(&row.txid))?,
            terms,
            state,
            refunds: RefundTotals {
                in_flight: Money::from_centavos(row.refunding),
                done: Money::from_centavos(row.refunded),
            },
            open_infractions: to_u32(TABLE, row.open_infractions)?,
            created_at: instant(TABLE, row.created_at)?,
            version: row.version,
        };
        let covered = charge.refundable().is_ok_and(|rest| !rest.is_negative());
        if row.refunding < 0 || row.refunded < 0 || !covered {
            return Err(corrupt(TABLE, "the refunded amounts are negative or exceed the paid amount"));
        }
        Ok(charge)
    }
}

/// Returns the beneficiaries' parts, one for each share of the split.
fn read_parts(split: &Split, parts: Option<&str>) -> Result<Vec<Money>, Fault> {
    let centavos = parts.iter().flat_map(|parts| parts.split(',')).map(str::parse).collect::<Result<Vec<i64>, _>>();
    let centavos = parsed(TABLE, centavos)?;
    if centavos.len() != split.shares().len() || centavos.iter().any(|part| part.is_negative()) {
        return Err(corrupt(TABLE, "the stored parts do not match the split"));
    }
    Ok(centavos.into_iter().map(Money::from_centavos).collect())
}

fn read_state(row: &ChargeRow<'_>, split: &Split) -> Result<ChargeState, Fault> {
    let acquirer = acquirer(TABLE, &row.acquirer)?;
    let status = parse_enum(TABLE, &row.status, ChargeStatus::parse)?;
    let impossible = || corrupt(TABLE, format_args!("fields that contradict the status `{}`", status.as_str()));
    let issued = match (row.copy_paste.as_deref(), optional_instant(TABLE, row.expires_at)?) {
        (Some(copy_paste), Some(expires_at)) => {
            Some(Issued { acquirer: acquirer.clone(), copy_paste: copy_paste.to_owned(), expires_at })
        }
        (None, None) => None,
        (Some(_), None) | (None, Some(_)) => return Err(impossible()),
    };
    let parts = row.split_parts.as_deref();
    let settlement = match (optional_instant(TABLE, row.paid_at)?, row.end_to_end_id.as_deref()) {
        (Some(paid_at), Some(end_to_end_id)) => Some(Settlement {
            paid_at,
            end_to_end_id: parsed(TABLE, EndToEndId::parse(end_to_end_id))?,
            parts: read_parts(split, parts)?,
        }),
        (None, None) if parts.is_none() => None,
        (Some(_) | None, Some(_) | None) => return Err(impossible()),
    };
    let ended_at = optional_instant(TABLE, row.ended_at)?;
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
