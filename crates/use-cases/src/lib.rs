//! The use cases of Cais, one per file. The API, the workers and the command line share them. No other crate decides
//! the order of steps.

pub mod accounts;
pub mod acquirer_drain;
pub mod audit;
pub mod balance;
pub mod callbacks;
pub mod charges;
pub mod crypto;
pub mod daily_totals;
pub mod days;
pub mod events;
pub mod export_places;
pub mod external_id_conflict;
pub mod housekeeping;
mod idempotency;
pub mod infractions;
pub mod keys;
pub mod ledger;
pub mod logins;
pub mod payouts;
pub mod ports;
mod positions;
pub mod reconcile;
pub mod refunds;
pub mod releases;
pub mod request_log;
pub mod response;
pub mod resume;
pub mod search;
pub mod statement;
pub mod store_error;
pub mod sync_gate;
pub mod timeline;
pub mod unconfigured_acquirers;
pub mod upstream;
pub mod upstream_order;
mod upstream_result;
mod upstream_text;
pub mod webhooks;
pub mod work;

pub use ports::Ports;
pub use response::Response;
pub use sync_gate::SyncGate;
pub use work::{Pass, WorkError};
