//! The institution's API of Woovi over a real socket.

mod account;
mod bed;
mod charges;
mod disputes;
mod expiry;
mod faults;
mod lists;
mod payments;
mod refunds;
mod restart;
mod signatures;
mod webhooks;
