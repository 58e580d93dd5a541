//! Use cases of infractions. Each infraction is blocked at once, defended once and resolved once, whatever happens in
//! between.

#![expect(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a test fails by panicking")]

mod alerts;
mod bed;
mod callbacks;
mod chaos;
mod crashes;
mod defending;
mod impossible_reports;
mod money;
mod opening;
mod polling;
mod races;
mod reconciling;
mod reopening;
mod returns;
mod reviewing;
mod sending;
mod settling;
mod undecided;
