//! Nothing but a place for the tests of the whole: see `tests/main.rs`.
