//! The kinds of identifiers, each with its prefix.

use super::{IdKind, MAX_LENGTH, SUFFIX_LENGTH};

macro_rules! kinds {
    ($($kind:ident $alias:ident $prefix:literal $what:literal;)*) => {
        $(
            #[doc = concat!("The kind of the identifiers of ", $what, ".")]
            #[derive(Debug)]
            pub enum $kind {}

            impl IdKind for $kind {
                const PREFIX: &'static str = $prefix;
            }

            const _: () = assert!($prefix.len() + 1 + SUFFIX_LENGTH <= MAX_LENGTH, "prefix too long");
        )*

        pub(super) mod alias {
            use crate::ids::Id;

            $(
                #[doc = concat!("The identifier of ", $what, ": `", $prefix, "_…`.")]
                pub type $alias = Id<super::$kind>;
            )*
        }
    };
}

kinds! {
    Charge ChargeId "chg" "a charge";
    Payout PayoutId "pyt" "a payout";
    Refund RefundId "rfd" "a refund";
    CashIn CashInId "txn_in" "a timeline entry of money that came in, with the suffix of its resource";
    CashOut CashOutId "txn_out" "a timeline entry of money that went out, with the suffix of its resource";
    Infraction InfractionId "inf" "an infraction";
    CryptoDeposit CryptoDepositId "cdp" "a crypto deposit";
    CryptoWithdrawal CryptoWithdrawalId "cwd" "a crypto withdrawal";
    CryptoQuote CryptoQuoteId "cqt" "a crypto quote";
    Entry EntryId "ent" "a statement entry";
    Event EventId "evt" "an event";
    Endpoint EndpointId "whe" "a webhook endpoint";
    Delivery DeliveryId "dlv" "a webhook delivery";
    Account AccountId "acc" "an account";
    User UserId "usr" "a user of the dashboard";
    Session SessionId "ses" "a session of the dashboard";
    Confirmation ConfirmationId "cnf" "an action of the dashboard that waits for its one-time code";
    Request RequestId "req" "an HTTP request";
    Key KeyId "akey" "an API key";
    Transfer TransferId "trf" "a ledger transfer";
    Audit AuditId "aud" "a row of the audit log";
    Callback CallbackId "ntc" "a callback from upstream";
}
