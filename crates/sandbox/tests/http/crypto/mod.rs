//! The crypto processor and the PTAX service over a real socket.

mod bed;
mod deposits;
mod faults;
mod ipns;
mod payments;
mod payouts;
mod ptax;
mod rates;
mod restart;
mod withdrawals;
