//! Records and change sets as tests need them: complete, valid, and different from each other.

mod records;
pub mod steps;

pub use records::{
    a_charge, a_key, a_notice, a_payment, an_account, an_event, an_external_id, fresh, in_status, issued,
    main_acquirer, pending_charge, start, terms,
};
