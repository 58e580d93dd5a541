//! The building blocks of Cais's tests: a store in memory, fakes, builders, the contract of every store, and servers for a test run.
//!
//! No part of this crate is in the product. To test a new store, implement [`contract::Engine`] for it and write `store_suite!(engine);`.

pub mod authenticator;
pub mod bed;
pub mod builders;
pub mod chromium;
pub mod clock;
pub mod contended;
pub mod contract;
pub mod hooked;
pub mod ids;
pub mod keyed_hash;
pub mod logins;
pub mod logs;
pub mod memory;
pub mod postgres;
mod process;
pub mod processor;
pub mod psp;
pub mod random;
pub mod redis;
pub mod representation;
pub mod secret_cipher;
pub mod server;

pub use authenticator::Authenticator;
pub use bed::TestBed;
pub use chromium::Chromium;
pub use clock::ManualClock;
pub use contended::ContendedStore;
pub use hooked::HookedStore;
pub use ids::SequentialIds;
pub use keyed_hash::PlainKeyedHash;
pub use logins::{PlainCodes, PlainPasswords};
pub use logs::CapturedLogs;
pub use memory::{Crash, MemoryStore};
pub use processor::FakeProcessor;
pub use psp::{FakeAcquirers, FakePsp};
pub use representation::TextRepresentation;
pub use secret_cipher::PlainSecretCipher;
