//! Records and change sets as tests need them: complete, valid, and different from each other.

mod money_out;
mod records;
pub mod steps;

pub use money_out::{
    a_payout, a_recipient, a_refund, a_release, a_return_id, new_refund, payout_in_status, payout_terms,
    refund_in_status,
};
pub use records::{
    a_charge, a_key, a_notice, a_payment, a_split, an_account, an_end_to_end_id, an_event, an_external_id, fresh,
    in_status, issued, main_acquirer, pending_charge, start, terms,
};
