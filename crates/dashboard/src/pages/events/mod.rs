//! The events of the account.

pub(crate) mod list;
pub(crate) mod show;

use cais_ports::StoredEvent;
use serde_json::Value;

/// The resource of an event.
struct Resource {
    id: String,
    /// The path of the resource's page; `None` if the resource has no page.
    path: Option<String>,
}

/// Returns the resource of an event; `None` if the event's data has no id. An unexpected payment has no id of its own,
/// so its charge is the resource.
fn resource(event: &StoredEvent) -> Option<Resource> {
    let data: Value = serde_json::from_slice(&event.data).ok()?;
    let id = ["id", "charge_id"].into_iter().find_map(|name| data.get(name)?.as_str())?;
    let folder = match id.split_once('_')?.0 {
        "chg" => Some("charges"),
        "pyt" => Some("payouts"),
        "inf" => Some("infractions"),
        "whe" => Some("webhooks"),
        "cdp" => Some("crypto/deposits"),
        "cwd" => Some("crypto/withdrawals"),
        _ => None,
    };
    Some(Resource { path: folder.map(|folder| format!("/{folder}/{id}")), id: id.to_owned() })
}
