//! The changes of the simulator's state, each a line of the journal.

use std::sync::Arc;

use cais_domain::money::Money;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::{
    cob::{Cob, CobStatus, Terms},
    infraction::Infraction,
    infractions::InfractionStep,
    payment::{Payment, Refund, RefundOutcome},
    sent::{SendOutcome, Sent, SentReturn},
};
use crate::{crypto::state::CryptoChange, wire, woovi::state::WooviChange};

/// The destination of callbacks for a Pix key.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Webhook {
    /// The registered URL. Callbacks are sent to this URL with `/pix` appended.
    pub url: Arc<str>,
    /// The instant of registration.
    #[serde(with = "wire::micros")]
    pub created_at: Timestamp,
}

/// A callback to send.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Notification {
    /// The end-to-end id of the received or sent Pix.
    pub end_to_end_id: Arc<str>,
    /// The `idInfracao`, if the callback reports an infraction of the Pix. Otherwise the callback reports the Pix itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub infraction: Option<Arc<str>>,
    /// The webhook's URL when the callback became due.
    pub url: Arc<str>,
}

/// Counts of callbacks, in total and by outcome.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct NotificationTotals {
    /// All callbacks so far. Callbacks are numbered from 0, so this count is also the number of the next callback.
    #[serde(rename = "due")]
    pub created: u64,
    /// Callbacks that were answered 2xx.
    pub delivered: u64,
    /// Callbacks that were abandoned after the last attempt, or dropped because too many were waiting.
    pub abandoned: u64,
}

/// A change of the state. A snapshot is a list of changes too: the shortest journal that results in the same state.
///
/// The serialization is externally tagged, because other forms of tagging lose the exact text of numbers.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Change {
    /// A charge was created.
    CobCreated(Cob),
    /// A charge was revised. The previous terms become a past revision.
    CobRevised {
        /// The txid of the charge.
        txid: Arc<str>,
        /// The new terms.
        terms: Terms,
    },
    /// The tester moved a charge's expiry into the past. The creation of a charge younger than two seconds was moved back too.
    CobExpired {
        /// The txid of the charge.
        txid: Arc<str>,
        /// The new instant of creation.
        #[serde(with = "wire::micros")]
        created_at: Timestamp,
        /// The seconds from creation to expiry.
        expires_in_s: i32,
    },
    /// A Pix for a charge was received.
    Paid {
        /// The Pix.
        payment: Payment,
        /// The charge's status after the payment.
        status: CobStatus,
        /// The webhook's URL for the callback; `None`: no callback is sent.
        notify: Option<Arc<str>>,
    },
    /// A return was requested.
    RefundRequested {
        /// The end-to-end id of the Pix.
        end_to_end_id: Arc<str>,
        /// The return.
        refund: Refund,
    },
    /// A return became final.
    RefundEnded {
        /// The end-to-end id of the Pix.
        end_to_end_id: Arc<str>,
        /// The id of the return.
        id: Box<str>,
        /// The outcome.
        outcome: RefundOutcome,
        /// The webhook's URL for the callback; `None`: no callback is sent.
        notify: Option<Arc<str>>,
    },
    /// A Pix was accepted for sending.
    SendAccepted(Sent),
    /// A further request with the `idEnvio` of a sent Pix was refused.
    SendRepeated {
        /// The `idEnvio` of the sent Pix.
        send_id: Arc<str>,
    },
    /// A sent Pix became final.
    SendEnded {
        /// The `idEnvio` of the sent Pix.
        send_id: Arc<str>,
        /// The outcome.
        outcome: SendOutcome,
        /// The webhook's URL for the callback; `None`: no callback is sent.
        notify: Option<Arc<str>>,
    },
    /// The recipient of a sent Pix returned all or a part of it.
    SendReturned {
        /// The `idEnvio` of the sent Pix.
        send_id: Arc<str>,
        /// The returned part.
        back: SentReturn,
        /// The webhook's URL for the callback; `None`: no callback is sent.
        notify: Option<Arc<str>>,
    },
    /// A received Pix was disputed.
    InfractionOpened {
        /// The infraction.
        infraction: Infraction,
        /// The webhook's URL for the callback; `None`: no callback is sent.
        notify: Option<Arc<str>>,
    },
    /// A step changed an infraction.
    InfractionChanged {
        /// The `idInfracao`.
        id: Arc<str>,
        /// The step.
        step: InfractionStep,
        /// The return that the step causes; `None` unless the infraction was lost and money could be returned.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        refund: Option<Refund>,
        /// The webhook's URL for the callback; `None`: no callback is sent.
        notify: Option<Arc<str>>,
    },
    /// The account's balance was set.
    BalanceSet {
        /// The new balance.
        #[serde(with = "wire::centavos")]
        balance: Money,
    },
    /// A webhook was registered or replaced.
    WebhookSet {
        /// The Pix key.
        key: Box<str>,
        /// The webhook.
        webhook: Webhook,
    },
    /// A webhook was removed.
    WebhookRemoved {
        /// The Pix key.
        key: Box<str>,
    },
    /// A callback was answered 2xx or abandoned.
    NotificationEnded {
        /// The number of the callback.
        number: u64,
        /// `true` if the callback was answered 2xx.
        delivered: bool,
    },
    /// Snapshots only: a callback that is not delivered yet.
    NotificationOwed {
        /// The number of the callback.
        number: u64,
        /// The callback.
        notification: Notification,
    },
    /// A change of the crypto processor's state.
    Crypto(Box<CryptoChange>),
    /// A change of the state of Woovi's API.
    Woovi(Box<WooviChange>),
    /// Snapshots only: the callbacks' totals.
    NotificationTotals(NotificationTotals),
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]
    use serde_json::{Value, json};

    use super::*;

    /// Some fields have other names in the journal than in the code, because old journals must stay readable.
    #[test]
    fn journal_lines_keep_their_field_names() {
        let totals = json!({ "due": 3, "delivered": 1, "abandoned": 1 });
        let sent = json!({
            "send_id": "a", "end_to_end_id": "E1", "amount": "1.00", "requested_at": 0, "settles_at": 0, "requests": 1,
            "recipient": { "key": "k", "name": "n", "document": "d" }, "doom": "no_such_account", "outcome": "processing",
        });
        let terms = json!({
            "price_amount": "1", "price_currency": "usd", "pay_amount": "1", "pay_currency": "trx",
            "outcome_currency": "trx", "order_id": null, "order_description": null, "ipn_callback_url": null,
            "is_fixed_rate": false, "is_fee_paid_by_user": false,
        });
        let payment = json!({
            "id": 1, "purchase_id": 2, "parent": null, "children": [], "terms": terms, "pay_address": "a",
            "status": "waiting", "actually_paid": "1", "outcome": null, "payin_hash": null, "created_at": 0,
            "updated_at": 0, "estimate_until": 0, "valid_until": 0, "settles_at": null, "doom": "failed",
        });
        let withdrawal = json!({
            "id": 4, "address": "a", "currency": "trx", "amount": "1", "fee": "1", "extra_id": null,
            "ipn_callback_url": null, "description": null, "external_id": null, "status": "CREATING", "hash": null,
            "error": null, "requested_at": null, "updated_at": null, "fate": "reject", "settles_at": null,
        });
        let batch = json!({
            "id": 3, "created_at": 0, "verified_at": null, "verifications": 0, "codes": [], "withdrawals": [withdrawal],
        });
        let lines = [
            json!({ "notification_totals": totals }),
            json!({ "send_accepted": sent }),
            json!({ "crypto": { "payments": [payment], "batches": [batch], "waiting": [[], totals] } }),
            json!({ "woovi": { "charge": { "names": { "txid": "t", "correlation_id": "c" } } } }),
            json!({ "woovi": { "restored": { "evidence": {}, "webhooks": [], "owed": [], "totals": totals } } }),
        ];
        for line in lines {
            let change: Change = serde_json::from_str(&line.to_string()).unwrap();
            let written: Value = serde_json::to_value(&change).unwrap();
            assert_eq!(written, line);
        }
    }
}
