//! The read side: by id through one thread that answers all that wait with one statement, everything else through a pool.

mod coalesce;
mod pool;
mod queries;

pub(crate) use coalesce::Coalescer;
pub(crate) use pool::ReadPool;
