//! The use cases of Cais, one per file. API, workers and command line share them, and no other code orders steps.

pub mod accounts;
pub mod answer;
pub mod audit;
pub mod balance;
pub mod charges;
pub mod events;
pub mod external_id_conflict;
pub mod housekeeping;
mod idempotency;
pub mod infractions;
pub mod keys;
pub mod notices;
pub mod payouts;
pub mod ports;
mod positions;
pub mod reconcile;
pub mod refunds;
pub mod releases;
pub mod resume;
pub mod statement;
pub mod sync_gate;
pub mod timeline;
pub mod trouble;
pub mod upstream;
pub mod upstream_order;
mod upstream_result;
mod upstream_text;
pub mod webhooks;
pub mod work;

pub use answer::Answer;
pub use ports::Ports;
pub use sync_gate::SyncGate;
pub use work::{Pass, WorkError};
