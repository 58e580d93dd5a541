//! Reads the withdrawals in an answer. The answer is an array, an object with an array, or a single withdrawal.

use cais_domain::crypto::{ProcessorId, rounding};
use cais_domain::ids::CryptoWithdrawalId;
use cais_ports::{UnreadableRow, UpstreamWithdrawal, UpstreamWithdrawalStatus};
use serde::Deserialize;
use serde_json::value::RawValue;

use super::wire;
use crate::http::{Defect, part};

/// The deepest accepted nesting of an answer: an object, its list of batches, a batch, its list of rows, a row.
const MAX_LEVELS: u32 = 5;

/// An object that may hold rows.
#[derive(Deserialize)]
struct Envelope<'a> {
    #[serde(borrow)]
    id: Option<&'a RawValue>,
    #[serde(borrow)]
    withdrawals: Option<&'a RawValue>,
    #[serde(borrow)]
    payouts: Option<&'a RawValue>,
}

/// A withdrawal. Required fields may be missing here, so that [`Row::read`] can report them.
#[derive(Deserialize)]
struct Fields<'a> {
    #[serde(borrow)]
    id: Option<&'a RawValue>,
    batch_withdrawal_id: Option<&'a RawValue>,
    unique_external_id: Option<&'a RawValue>,
    status: Option<&'a RawValue>,
    currency: Option<&'a RawValue>,
    amount: Option<&'a RawValue>,
    address: Option<&'a RawValue>,
    fee: Option<&'a RawValue>,
    hash: Option<&'a RawValue>,
    error: Option<&'a RawValue>,
    created_at: Option<&'a RawValue>,
    /// The field `created_at` has the name `createdAt` in some answers.
    #[serde(rename = "createdAt")]
    created: Option<&'a RawValue>,
}

/// A withdrawal in an answer, and the id of the batch object that contains the withdrawal.
struct Row<'a> {
    batch: Option<&'a RawValue>,
    fields: Fields<'a>,
}

/// The result of a search in one page.
pub(super) enum Found {
    /// The page has the withdrawal.
    Withdrawal(Box<UpstreamWithdrawal>),
    /// The page has other withdrawals only.
    Others,
    /// The page is empty.
    End,
}

/// Reads an answer about one batch, which must have exactly one withdrawal.
pub(super) fn only(body: &[u8], batch: Option<&ProcessorId>) -> Result<UpstreamWithdrawal, Defect> {
    let rows = rows(body)?;
    let [row] = rows.as_slice() else { return Err(Defect::mismatch("batch", "does not have exactly one withdrawal")) };
    row.read(batch)
}

/// Searches a page for the withdrawal with our identifier `id`.
pub(super) fn find(body: &[u8], id: CryptoWithdrawalId) -> Result<Found, Defect> {
    let rows = rows(body)?;
    if rows.is_empty() {
        return Ok(Found::End);
    }
    let mut ours = Vec::new();
    for row in &rows {
        // A row without the processor's id fails the search: it may be something else, such as a refusal with status 200.
        wire::required_id(row.fields.id, "id")?;
        if row.order() == Some(id) {
            ours.push(row);
        }
    }
    match ours.as_slice() {
        [] => Ok(Found::Others),
        [row] => Ok(Found::Withdrawal(Box::new(row.read(None)?))),
        [..] => Err(Defect::mismatch("unique_external_id", "names several withdrawals")),
    }
}

/// Reads every row of a page. An unreadable row is named by our identifier, or by the processor's id if ours is missing.
///
/// # Errors
/// [`Defect`] for a row without the processor's id. Such a row may be something else, such as a refusal with status 200.
pub(super) fn all(body: &[u8]) -> Result<(Vec<UpstreamWithdrawal>, Vec<UnreadableRow>), Defect> {
    let (mut readable, mut unreadable) = (Vec::new(), Vec::new());
    for row in rows(body)? {
        let id = wire::required_id(row.fields.id, "id")?;
        match row.read(None) {
            Ok(row) => readable.push(row),
            Err(defect) => {
                let name = row.order().map_or_else(|| id.to_string(), |order| order.to_string());
                unreadable.push(UnreadableRow { name, reason: defect.reason() });
            }
        }
    }
    Ok((readable, unreadable))
}

impl Row<'_> {
    fn order(&self) -> Option<CryptoWithdrawalId> {
        wire::short_text(self.fields.unique_external_id).and_then(|text| CryptoWithdrawalId::parse(&text).ok())
    }

    /// Reads the row. `batch` is the id of the requested batch. If it is `None`, the batch id is read from the object around the row, or
    /// from the row itself.
    fn read(&self, batch: Option<&ProcessorId>) -> Result<UpstreamWithdrawal, Defect> {
        let fields = &self.fields;
        let batch = match batch {
            Some(batch) => batch.clone(),
            None => wire::required_id(self.batch.or(fields.batch_withdrawal_id), "batch_withdrawal_id")?,
        };
        let currency = wire::short_text(fields.currency).and_then(|code| wire::currency(&code));
        let currency = currency.ok_or_else(|| Defect::mismatch("currency", "is not a supported one"))?;
        let nearest = (currency.withdrawal_decimals(), rounding::ECHOED_COINS);
        let status = wire::short_text(fields.status).ok_or_else(|| Defect::mismatch("status", "is missing"))?;
        let fee = wire::rounded(fields.fee, "fee", currency, (currency.chain_decimals(), rounding::NETWORK_FEE));
        Ok(UpstreamWithdrawal {
            batch,
            id: wire::required_id(fields.id, "id")?,
            order: self.order(),
            amount: wire::rounded(fields.amount, "amount", currency, nearest)?,
            address: wire::address(fields.address, "address", currency)?,
            status: read_status(&status),
            error: wire::short_text(fields.error),
            // The fee is only shown, so an unreadable fee is omitted.
            network_fee: fee.ok(),
            tx_hash: wire::short_text(fields.hash),
            created_at: wire::optional_instant(fields.created_at.or(fields.created)),
        })
    }
}

/// Converts the processor's status. An unknown status counts as unfinished.
fn read_status(word: &str) -> UpstreamWithdrawalStatus {
    match word.to_ascii_lowercase().as_str() {
        "creating" | "waiting" => UpstreamWithdrawalStatus::Unverified,
        "finished" => UpstreamWithdrawalStatus::Finished,
        "failed" => UpstreamWithdrawalStatus::Failed,
        "rejected" | "cancelled" | "canceled" => UpstreamWithdrawalStatus::Rejected,
        _ => UpstreamWithdrawalStatus::Processing,
    }
}

fn rows(body: &[u8]) -> Result<Vec<Row<'_>>, Defect> {
    let value: &RawValue = serde_json::from_slice(body).map_err(|_| unreadable())?;
    let mut rows = Vec::new();
    collect(value, None, MAX_LEVELS, &mut rows)?;
    Ok(rows)
}

fn collect<'a>(
    value: &'a RawValue,
    batch: Option<&'a RawValue>,
    levels: u32,
    rows: &mut Vec<Row<'a>>,
) -> Result<(), Defect> {
    let below = levels.checked_sub(1).ok_or_else(unreadable)?;
    if value.get().starts_with('[') {
        let items: Vec<&RawValue> = part(Some(value)).ok_or_else(unreadable)?;
        return items.into_iter().try_for_each(|item| collect(item, batch, below, rows));
    }
    let envelope: Envelope<'_> = part(Some(value)).ok_or_else(unreadable)?;
    match envelope.withdrawals.or(envelope.payouts) {
        Some(inner) if inner.get().starts_with('[') => collect(inner, envelope.id.or(batch), below, rows),
        Some(_) => Err(unreadable()),
        None => {
            rows.push(Row { batch, fields: part(Some(value)).ok_or_else(unreadable)? });
            Ok(())
        }
    }
}

fn unreadable() -> Defect {
    Defect::Unreadable("the answer is not the JSON of withdrawals".to_owned())
}
