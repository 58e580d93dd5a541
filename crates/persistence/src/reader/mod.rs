//! The read side. A single thread combines waiting reads by id into a few statements. A pool of connections serves all other reads.

mod audit;
mod coalesce;
mod crypto;
mod deliveries;
mod drains;
mod events;
mod infractions;
mod logins;
mod money_out;
mod page;
#[cfg(test)]
pub(crate) mod plans;
mod pool;
mod queries;
mod reconciliation;
mod records;
mod statement;
mod timeline;
mod usage;
#[cfg(test)]
mod walks;

pub(crate) use coalesce::Coalescer;
#[cfg(test)]
pub(crate) use coalesce::LOOKUPS;
pub(crate) use drains::open_orders;
pub(crate) use pool::ReadPool;
