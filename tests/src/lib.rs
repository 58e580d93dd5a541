//! Empty: the black-box tests of the service are in `tests/main.rs`.
