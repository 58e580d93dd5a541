//! The bodies of requests about webhook endpoints, field by field.

use cais_domain::event::EventType;
use cais_domain::merchant::webhook::{
    DEFAULT_GRACE_S, EndpointChange, MAX_DESCRIPTION, MAX_GRACE_S, Subscription, WebhookUrl,
};
use cais_domain::text::{LineBreaks, Text};
use cais_ports::WebhookSender;
use cais_strict_json::{Fields, Issues, Node, Problem};
use cais_use_cases::webhooks::create::CreateEndpoint;
use utoipa::ToSchema;

use crate::input::{JsonBody, Part, Parts};
use crate::rules;

/// The largest number of event types in a body. Fewer types exist.
pub const MAX_EVENTS: usize = 30;
/// The value in `events` that subscribes to every type.
const ALL: &str = "*";

/// The fields of a new webhook endpoint.
#[derive(ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewWebhookEndpoint {
    /// An https URL at a public address, unique within the account.
    #[schema(value_type = String, format = "uri", max_length = 500)]
    pub url: WebhookUrl,
    /// Types of events, or `*` for all types.
    #[schema(value_type = Vec<String>, min_items = 1, max_items = 30)]
    pub events: Subscription,
    /// A description for people.
    #[schema(value_type = Option<String>, max_length = 200)]
    pub description: Option<Text>,
}

impl NewWebhookEndpoint {
    /// Reads the body. `receivers` checks the URL without resolving its host name.
    fn read_for(body: &Node<'_>, receivers: &dyn WebhookSender, issues: &Issues) -> Option<Self> {
        let mut fields = Fields::of(body, "", issues)?;
        let url = fields.required("url", |node| url(node, receivers));
        let events = fields.required("events", |node| rules::list(node, MAX_EVENTS));
        let events = events.and_then(|items| subscription(items, issues));
        let description =
            fields.optional("description", |node| rules::text(node, MAX_DESCRIPTION, LineBreaks::Allowed));
        fields.finish();
        Some(Self { url: url?, events: events?, description })
    }
}

impl Part for NewWebhookEndpoint {
    const IN_BODY: bool = true;

    fn read(parts: &Parts<'_>, issues: &Issues) -> Option<Self> {
        Self::read_for(parts.json(issues), &*parts.state.ports.webhooks, issues)
    }
}

impl From<NewWebhookEndpoint> for CreateEndpoint {
    fn from(NewWebhookEndpoint { url, events, description }: NewWebhookEndpoint) -> Self {
        Self { url, subscription: events, description }
    }
}

/// The changed fields of a webhook endpoint; omitted fields stay unchanged.
#[derive(ToSchema)]
#[serde(deny_unknown_fields)]
pub struct WebhookEndpointChange {
    /// The new URL: an https URL at a public address, unique within the account.
    #[schema(value_type = Option<String>, format = "uri", max_length = 500)]
    pub url: Option<WebhookUrl>,
    /// Types of events, or `*` for all types.
    #[schema(value_type = Option<Vec<String>>, min_items = 1, max_items = 30)]
    pub events: Option<Subscription>,
    /// A description for people; `null` removes the description.
    #[schema(value_type = Option<String>, max_length = 200)]
    pub description: Option<Text>,
    /// `true` if the description is `null`.
    #[schema(ignore)]
    pub clears_description: bool,
    /// True if deliveries are sent; `true` also re-enables an endpoint that the service disabled.
    pub active: Option<bool>,
}

impl WebhookEndpointChange {
    /// Reads the body. A `null` removes the description; in other fields `null` means no change.
    fn read_for(body: &Node<'_>, receivers: &dyn WebhookSender, issues: &Issues) -> Option<Self> {
        let clears_description = matches!(
            body,
            Node::Object(members) if members.iter().any(|(name, node)| name == "description" && *node == Node::Null)
        );
        let mut fields = Fields::of(body, "", issues)?;
        let url = fields.optional("url", |node| url(node, receivers));
        let events = fields.optional("events", |node| rules::list(node, MAX_EVENTS));
        let events = events.and_then(|items| subscription(items, issues));
        let description =
            fields.optional("description", |node| rules::text(node, MAX_DESCRIPTION, LineBreaks::Allowed));
        let active = fields.optional("active", rules::flag);
        fields.finish();
        Some(Self { url, events, description, clears_description, active })
    }
}

impl Part for WebhookEndpointChange {
    const IN_BODY: bool = true;

    fn read(parts: &Parts<'_>, issues: &Issues) -> Option<Self> {
        Self::read_for(parts.json(issues), &*parts.state.ports.webhooks, issues)
    }
}

impl From<WebhookEndpointChange> for EndpointChange {
    fn from(change: WebhookEndpointChange) -> Self {
        let WebhookEndpointChange { url, events, description, clears_description, active } = change;
        let description = if clears_description { Some(None) } else { description.map(Some) };
        Self { url, subscription: events, description, active }
    }
}

/// The options of a secret's rotation.
#[derive(Debug, Default, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct SecretRotation {
    /// Seconds for which the previous secret also signs; 86400 when absent.
    #[schema(minimum = 0, maximum = 604_800)]
    pub grace_seconds: Option<u32>,
}

impl SecretRotation {
    /// Returns the seconds for which the previous secret still signs.
    #[must_use]
    pub fn grace_s(&self) -> u32 {
        self.grace_seconds.unwrap_or(DEFAULT_GRACE_S)
    }
}

impl JsonBody for SecretRotation {
    fn read(body: &Node<'_>, issues: &Issues) -> Option<Self> {
        let mut fields = Fields::of(body, "", issues)?;
        let grace_seconds =
            fields.optional("grace_seconds", |node| rules::integer(node, &(0..=i64::from(MAX_GRACE_S))));
        fields.finish();
        // A value out of bounds is already reported.
        Some(Self { grace_seconds: grace_seconds.and_then(|seconds| u32::try_from(seconds).ok()) })
    }
}

fn url(node: &Node<'_>, receivers: &dyn WebhookSender) -> Result<WebhookUrl, Problem> {
    let url = WebhookUrl::parse(rules::string(node)?).map_err(|error| error.to_string())?;
    receivers.permits(&url).map_err(|refusal| refusal.to_string())?;
    Ok(url)
}

/// Returns the subscription to the named types. Every unknown name is reported at its position.
fn subscription(items: &[Node<'_>], issues: &Issues) -> Option<Subscription> {
    let mut names = Vec::with_capacity(items.len());
    for (place, item) in items.iter().enumerate() {
        let known = |name: &&str| *name == ALL || EventType::parse(name).is_some();
        match rules::string(item) {
            Ok(name) if known(&name) => names.push(name),
            Ok(_) => {
                issues.add(&format!("events[{place}]"), format!("is not an event type; the types are {}", types()));
            }
            Err(_) if *item == Node::Unreadable => {}
            Err(problem) => issues.add(&format!("events[{place}]"), problem),
        }
    }
    if names.len() < items.len() {
        return None;
    }
    Subscription::parse(names).map_err(|error| issues.add("events", error.to_string())).ok()
}

/// Returns the permitted event types, for messages.
fn types() -> String {
    let names = EventType::ALL.map(EventType::as_str);
    format!("{ALL}, {}", names.join(", "))
}

#[cfg(test)]
mod tests;
