//! The body of an entry of the statement.

use cais_domain::ledger::{Bucket as Part, EntryKind as Kind};
use cais_ports::StatementEntry;
use serde::Serialize;
use utoipa::ToSchema;

use super::csv::{Line, Row};
use super::values::{Amount, Instant, Page, closed_list};

closed_list! {
    /// A part of the account's balance.
    Bucket [Part::Available, Part::Pending, Part::Blocked].map(Part::as_str)
}

closed_list! {
    /// The reason of a movement.
    EntryKind Kind::ALL.map(Kind::as_str)
}

/// A movement of the account's money.
#[derive(Serialize, ToSchema)]
pub struct Entry {
    /// Public id, prefix `ent_`.
    pub id: String,
    /// The reason of the movement.
    #[schema(value_type = EntryKind)]
    pub kind: &'static str,
    /// The part of the balance that changed.
    #[schema(value_type = Bucket)]
    pub bucket: &'static str,
    /// BRL; negative for a decrease.
    #[schema(inline)]
    pub amount: Amount,
    /// The amount in the bucket after the movement.
    #[schema(inline)]
    pub balance_after: Amount,
    /// The id of the charge, payout, refund, infraction, crypto deposit or crypto withdrawal that caused the movement. Null for a share in
    /// another account's charge.
    #[schema(required)]
    pub resource_id: Option<String>,
    /// The end-to-end id of the Pix, if the movement belongs to one.
    #[schema(required)]
    pub end_to_end_id: Option<String>,
    /// The description of the charge or payout, or the reason of the refund; null for other resources.
    #[schema(required)]
    pub description: Option<String>,
    /// Time of the movement.
    #[schema(value_type = String, format = DateTime)]
    pub created_at: Instant,
}

/// A page of the statement.
pub type EntryPage = Page<Entry>;

impl From<StatementEntry> for Entry {
    fn from(entry: StatementEntry) -> Self {
        Self {
            id: entry.id.to_string(),
            kind: entry.kind.as_str(),
            bucket: entry.bucket.as_str(),
            amount: Amount(entry.amount),
            balance_after: Amount(entry.balance_after),
            resource_id: entry.resource,
            end_to_end_id: entry.end_to_end_id.map(|id| id.to_string()),
            description: entry.description,
            created_at: Instant(entry.created_at),
        }
    }
}

impl Row for Entry {
    const NAMES: &'static [&'static str] = &[
        "id",
        "kind",
        "bucket",
        "amount",
        "balance_after",
        "resource_id",
        "end_to_end_id",
        "description",
        "created_at",
    ];

    fn write(&self, line: &mut Line<'_>) {
        let Self { id, kind, bucket, amount, balance_after, resource_id, end_to_end_id, description, created_at } =
            self;
        for plain in [Some(id.as_str()), Some(kind), Some(bucket)] {
            line.plain(plain);
        }
        line.amount(*amount);
        line.amount(*balance_after);
        line.plain(resource_id.as_deref());
        line.plain(end_to_end_id.as_deref());
        line.text(description.as_deref());
        line.instant(*created_at);
    }
}
