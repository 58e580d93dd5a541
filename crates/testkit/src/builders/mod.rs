//! Records and change sets for tests: complete, valid, and all different.

mod crypto;
mod infractions;
mod money_out;
mod records;
pub mod steps;
mod webhooks;

pub use crypto::{
    a_deposit, a_deposit_payment, a_processor_id, a_quote, a_withdrawal, deposit_in_status, usdt, withdrawal_in_status,
};
pub use infractions::{
    a_defense, a_position, an_infraction, an_upstream_infraction, dispute_report, infraction_in_status,
};
pub use money_out::{
    a_payout, a_recipient, a_refund, a_release, a_return_id, new_refund, payout_in_status, payout_terms,
    refund_in_status,
};
pub(crate) use records::expect_ok;
pub use records::{
    a_callback, a_charge, a_key, a_payment, a_split, an_account, an_end_to_end_id, an_event, an_external_id,
    an_operator, fresh, in_status, issued, main_acquirer, pending_charge, start, terms,
};
pub use webhooks::{a_postback, a_test_delivery, a_webhook_url, an_endpoint, queue_of, subscribed};
