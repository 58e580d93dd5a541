//! The switches of the tester for webhooks. A restart resets them to the defaults.

use serde::{Deserialize, Serialize};

/// The signatures of deliveries.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WebhookSignature {
    /// The correct signatures.
    #[default]
    Valid,
    /// Signatures of another body.
    Wrong,
    /// No headers of signatures.
    Missing,
    /// Texts that are no signatures.
    Malformed,
}

/// All switches. Absent fields of a request keep their values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Settings {
    /// `true`: deliveries wait and are not sent.
    pub webhooks_paused: bool,
    /// `true`: the newest delivery is sent first, one at a time.
    pub webhooks_reversed: bool,
    /// The number of times that an accepted delivery is sent, at least one.
    pub webhook_copies: u8,
    /// The signatures of deliveries.
    pub webhook_signature: WebhookSignature,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            webhooks_paused: false,
            webhooks_reversed: false,
            webhook_copies: 1,
            webhook_signature: WebhookSignature::default(),
        }
    }
}
