//! A line of the statement on the wire.

use std::fmt::Display;

use cais_domain::end_to_end_id::EndToEndId;
use cais_ports::StatementEntry;

use super::row::{Row, Sink};

impl Row for StatementEntry {
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

    fn write(&self, sink: &mut dyn Sink) {
        sink.plain("id", Some(&self.id));
        sink.plain("kind", Some(&self.kind.as_str()));
        sink.plain("bucket", Some(&self.bucket.as_str()));
        sink.money("amount", self.amount);
        sink.money("balance_after", self.balance_after);
        sink.plain("resource_id", self.resource.as_ref().map(|id| -> &dyn Display { id }));
        let end_to_end_id = self.end_to_end_id.as_ref().map(EndToEndId::as_str);
        sink.plain("end_to_end_id", end_to_end_id.as_ref().map(|id| -> &dyn Display { id }));
        sink.text("description", self.description.as_deref());
        sink.instant("created_at", self.created_at);
    }
}
