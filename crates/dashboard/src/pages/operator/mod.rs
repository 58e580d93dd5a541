//! The pages of operators. A merchant gets 404 for each of them.

pub(crate) mod accounts;
pub(crate) mod acquirers;
pub(crate) mod audit;
pub(crate) mod callbacks;
pub(crate) mod crypto;
pub(crate) mod decision;
pub(crate) mod infractions;
pub(crate) mod ledger;
pub(crate) mod reconciliation;
