//! The bodies of the endpoints on webhook endpoints, field by field.

use cais_domain::event::EventType;
use cais_domain::text::LineBreaks;
use cais_domain::webhook::{DEFAULT_GRACE_S, EndpointChange, MAX_DESCRIPTION, MAX_GRACE_S, Subscription, WebhookUrl};
use cais_ports::WebhookSender;
use cais_strict_json::read as read_json;
use cais_strict_json::{Complaint, Fields, Issues, Node};
use cais_use_cases::webhooks::create::CreateEndpoint;

use crate::rules;

/// Limit of event types in a body, above the number of existing ones.
pub const MAX_EVENTS: usize = 30;
/// The value that stands for every type.
const ALL: &str = "*";

/// Reads the body of a registration. Problems are added to `issues`; `None` if the body is unusable.
///
/// `receivers` checks an address without resolving its name.
#[must_use]
pub fn new(body: &Node<'_>, receivers: &dyn WebhookSender, issues: &Issues) -> Option<CreateEndpoint> {
    let mut fields = Fields::of(body, "", issues)?;
    let url = fields.required("url", |node| url(node, receivers));
    let events = fields.required("events", |node| rules::list(node, MAX_EVENTS));
    let subscription = events.and_then(|items| subscription(items, issues));
    let description = fields.optional("description", |node| rules::text(node, MAX_DESCRIPTION, LineBreaks::Allowed));
    fields.finish();
    Some(CreateEndpoint { url: url?, subscription: subscription?, description })
}

/// Reads the changed fields of an endpoint. For the description, `null` removes the text; for other fields, `null` is
/// no change.
#[must_use]
pub fn change(body: &Node<'_>, receivers: &dyn WebhookSender, issues: &Issues) -> Option<EndpointChange> {
    let clears = matches!(
        body,
        Node::Object(members) if members.iter().any(|(name, node)| name == "description" && *node == Node::Null)
    );
    let mut fields = Fields::of(body, "", issues)?;
    let url = fields.optional("url", |node| url(node, receivers));
    let events = fields.optional("events", |node| rules::list(node, MAX_EVENTS));
    let subscription = events.and_then(|items| subscription(items, issues));
    let description = fields.optional("description", |node| rules::text(node, MAX_DESCRIPTION, LineBreaks::Allowed));
    let active = fields.optional("active", rules::flag);
    fields.finish();
    Some(EndpointChange {
        url,
        subscription,
        description: if clears { Some(None) } else { description.map(Some) },
        active,
    })
}

/// Reads the seconds for which the previous secret still signs. The body is optional.
#[must_use]
pub fn grace_s(body: &[u8], issues: &Issues) -> Option<u32> {
    if body.is_empty() {
        return Some(DEFAULT_GRACE_S);
    }
    let node = read_json(body, issues);
    let mut fields = Fields::of(&node, "", issues)?;
    let asked = fields.optional("grace_seconds", |node| rules::integer(node, &(0..=i64::from(MAX_GRACE_S))));
    fields.finish();
    // A value out of bounds is already reported.
    Some(asked.and_then(|seconds| u32::try_from(seconds).ok()).unwrap_or(DEFAULT_GRACE_S))
}

fn url(node: &Node<'_>, receivers: &dyn WebhookSender) -> Result<WebhookUrl, Complaint> {
    let url = WebhookUrl::parse(rules::string(node)?).map_err(|error| error.to_string())?;
    receivers.permits(&url).map_err(|refusal| refusal.to_string())?;
    Ok(url)
}

/// Reports every unknown name at its position.
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
            Err(complaint) => issues.add(&format!("events[{place}]"), complaint),
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
