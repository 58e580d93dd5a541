//! Acquirers: clients over HTTP for the institutions that issue Pix charges, and the router that selects among them.
//!
//! [`bacen`] implements the Central Bank's API Pix: it receives and returns Pix. [`efi`] adds Efí's extensions for
//! sending and for infractions. [`woovi`] implements Woovi's own API. [`router::Router`] holds the configured acquirers
//! in order, guards each with a [`breaker`] and counts the calls. [`nowpayments`] receives and sends coins, and [`ptax`]
//! reads the price of the US dollar.
//!
//! `CONTRIBUTING.md` lists the steps to add an acquirer.

pub mod bacen;
mod balance;
pub mod breaker;
mod deadline;
pub mod efi;
mod guard;
mod guarded;
mod guarded_processor;
mod http;
pub mod nowpayments;
pub mod ptax;
pub mod router;
mod sent;
pub mod trace;
pub mod woovi;

pub use bacen::contract::{ContractReport, ContractStep, ContractTrial};
pub use bacen::{BacenAcquirer, BacenConfig, BacenConfigError, GrantForm, Profile, Timeouts};
pub use balance::AccountBalance;
pub use efi::EfiAcquirer;
pub use guarded_processor::{GuardedProcessor, GuardedRates};
pub use http::{Certificate, CertificateError, Secret};
pub use nowpayments::{NowPayments, NowPaymentsConfig, NowPaymentsConfigError};
pub use ptax::{Ptax, PtaxConfig, PtaxConfigError};
pub use router::{Route, Router};
pub use woovi::{WooviAcquirer, WooviConfig, WooviConfigError};
