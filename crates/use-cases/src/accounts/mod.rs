//! Use cases of accounts, for operators.

pub mod acquirers;
pub mod approve;
pub mod create;
pub mod crypto_spread;
pub mod email;
pub mod features;
pub mod fees;
pub mod limits;
pub mod list;
pub mod reject;
pub mod release_delay;
pub mod resume;
pub mod suspend;
pub(crate) mod update;

pub use email::{AccountEmail, AccountEmailError};
pub use update::ChangeAccountError;
