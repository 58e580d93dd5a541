//! Every change of the simulator's state, as one line of the journal each.

use std::sync::Arc;

use cais_domain::money::Money;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::{
    cob::{Cob, CobStatus, Terms},
    infraction::Infraction,
    infractions::InfractionStep,
    payment::{Payment, Refund, RefundOutcome},
    sent::{GivenBack, SendOutcome, Sent},
};
use crate::wire;

/// Where callbacks for a Pix key go.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Webhook {
    /// The registered URL; `/pix` is appended to it.
    pub url: Arc<str>,
    /// When it was registered.
    #[serde(with = "wire::micros")]
    pub created_at: Timestamp,
}

/// A callback that is owed.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Notification {
    /// The Pix it tells about.
    pub end_to_end_id: Arc<str>,
    /// The infraction it tells about instead of its Pix.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub infraction: Option<Arc<str>>,
    /// The webhook's URL when the callback fell due.
    pub url: Arc<str>,
}

/// How many callbacks have ended, and how.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct NotificationTotals {
    /// Callbacks that ever fell due; numbers the next one.
    pub due: u64,
    /// Answered 2xx.
    pub delivered: u64,
    /// Given up after the last attempt, or not queued because too many were waiting.
    pub abandoned: u64,
}

/// One step of the state. What a snapshot needs is among them: it is the shortest journal that leads to the same state.
///
/// Externally tagged on purpose: other taggings pass numbers through a buffer that loses their exact text.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Change {
    /// A charge was created.
    CobCreated(Cob),
    /// A charge got new terms; the old ones become a past revision.
    CobRevised {
        /// Which charge.
        txid: Arc<str>,
        /// What holds from now on.
        terms: Terms,
    },
    /// A charge's expiry was moved into the past. Creation moves along when the charge is younger than a second.
    CobExpired {
        /// Which charge.
        txid: Arc<str>,
        /// Creation from now on.
        #[serde(with = "wire::micros")]
        created_at: Timestamp,
        /// Seconds from it to the expiry.
        expires_in_s: i32,
    },
    /// A Pix arrived.
    Paid {
        /// The Pix.
        payment: Payment,
        /// What the charge became by it.
        status: CobStatus,
        /// URL that must be told, if any.
        notify: Option<Arc<str>>,
    },
    /// A return was asked for.
    RefundRequested {
        /// Of which Pix.
        end_to_end_id: Arc<str>,
        /// The return.
        refund: Refund,
    },
    /// A return became final.
    RefundEnded {
        /// Of which Pix.
        end_to_end_id: Arc<str>,
        /// Which return.
        id: Box<str>,
        /// How it ended.
        outcome: RefundOutcome,
        /// URL that must be told, if any.
        notify: Option<Arc<str>>,
    },
    /// A Pix was accepted to be sent.
    SendAccepted(Sent),
    /// A request repeated the `idEnvio` of a send and was refused.
    SendRepeated {
        /// Its `idEnvio`.
        send_id: Arc<str>,
    },
    /// A send became final.
    SendEnded {
        /// Its `idEnvio`.
        send_id: Arc<str>,
        /// How it ended.
        outcome: SendOutcome,
        /// URL that must be told, if any.
        notify: Option<Arc<str>>,
    },
    /// The recipient of a send gave some of it back.
    SendReturned {
        /// Its `idEnvio`.
        send_id: Arc<str>,
        /// What came back.
        back: GivenBack,
        /// URL that must be told, if any.
        notify: Option<Arc<str>>,
    },
    /// A received Pix was disputed.
    InfractionOpened {
        /// The infraction.
        infraction: Infraction,
        /// URL that must be told, if any.
        notify: Option<Arc<str>>,
    },
    /// An infraction took a step, with the return that it led to.
    InfractionChanged {
        /// Its `idInfracao`.
        id: Arc<str>,
        /// The step.
        step: InfractionStep,
        /// What goes back of the Pix by it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        refund: Option<Refund>,
        /// URL that must be told, if any.
        notify: Option<Arc<str>>,
    },
    /// The account's balance was set.
    BalanceSet {
        /// What it is now.
        #[serde(with = "wire::centavos")]
        balance: Money,
    },
    /// A webhook was registered or replaced.
    WebhookSet {
        /// The Pix key.
        key: Box<str>,
        /// Where callbacks go.
        webhook: Webhook,
    },
    /// A webhook was removed.
    WebhookRemoved {
        /// The Pix key.
        key: Box<str>,
    },
    /// A callback was answered 2xx, or given up.
    NotificationEnded {
        /// Its number.
        number: u64,
        /// Whether it was answered 2xx.
        delivered: bool,
    },
    /// Snapshots only: a callback that is still owed.
    NotificationOwed {
        /// Its number.
        number: u64,
        /// The callback.
        notification: Notification,
    },
    /// Snapshots only: the callbacks' totals.
    NotificationTotals(NotificationTotals),
}
