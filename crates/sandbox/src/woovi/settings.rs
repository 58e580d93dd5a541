//! The tester's switches for Woovi's webhooks. A restart resets them to the defaults.

use serde::{Deserialize, Serialize};

/// The kind of signatures that deliveries have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WebhookSignature {
    /// The correct signatures.
    #[default]
    Valid,
    /// Well-formed signatures, but of another body.
    Wrong,
    /// No signature headers.
    Missing,
    /// Signature headers whose text is not a signature.
    Malformed,
}

/// All switches. `PUT /sandbox/woovi/settings` changes only the switches in its body.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Settings {
    /// `true`: deliveries wait and are not sent.
    pub webhooks_paused: bool,
    /// `true`: the newest delivery is sent first, one at a time.
    pub webhooks_reversed: bool,
    /// The number of times that an accepted delivery is sent in total; 0 counts as 1.
    pub webhook_copies: u8,
    /// The kind of signatures that deliveries have.
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
