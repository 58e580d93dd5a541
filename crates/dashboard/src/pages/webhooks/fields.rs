//! The fields of an endpoint in a form: URL, description and events.

use cais_domain::event::EventType;
use cais_domain::merchant::webhook::{Endpoint, MAX_DESCRIPTION, Subscription, WebhookUrl};
use cais_domain::text::{LineBreaks, Text};

use crate::form::Form;
use crate::texts::webhooks::WebhookTexts;

/// The name of the form field that contains one chosen event type. A form can have several such fields.
const EVENT: &str = "event";
/// The value of the event field for all events.
const ALL: &str = "*";

/// The fields as a form shows them.
pub(super) struct Fields {
    pub(super) url: String,
    pub(super) description: String,
    pub(super) is_all: bool,
    pub(super) types: Vec<Choice>,
}

pub(super) struct Choice {
    pub(super) name: &'static str,
    pub(super) is_chosen: bool,
}

/// The parsed values of a form.
pub(super) struct Values {
    pub(super) url: WebhookUrl,
    pub(super) description: Option<Text>,
    pub(super) subscription: Subscription,
}

impl Fields {
    /// Returns the fields of a new endpoint, with all events chosen.
    pub(super) fn new() -> Self {
        Self::with(String::new(), String::new(), |name| name == ALL)
    }

    /// Returns the fields of an endpoint.
    pub(super) fn of(endpoint: &Endpoint) -> Self {
        let description = endpoint.description.as_ref().map(ToString::to_string).unwrap_or_default();
        let names = endpoint.subscription.names();
        Self::with(endpoint.url.to_string(), description, |name| names.contains(&name))
    }

    /// Returns the fields as the form was sent.
    pub(super) fn sent(form: &Form) -> Self {
        let is_chosen = |name: &str| form.all(EVENT).any(|value| value == name);
        Self::with(form.get("url").to_owned(), form.get("description").to_owned(), is_chosen)
    }

    fn with(url: String, description: String, is_chosen: impl Fn(&str) -> bool) -> Self {
        // `WebhookTest` cannot be chosen: test events are sent on request, whatever the subscription.
        let types = EventType::ALL.into_iter().filter(|kind| *kind != EventType::WebhookTest);
        let types = types.map(EventType::as_str).map(|name| Choice { name, is_chosen: is_chosen(name) });
        Self { url, description, is_all: is_chosen(ALL), types: types.collect() }
    }
}

/// Parses the values of a form. The error is the message about the form's first mistake.
pub(super) fn read(form: &Form, t: &'static WebhookTexts) -> Result<Values, &'static str> {
    let url = WebhookUrl::parse(form.get("url")).map_err(|_| t.url_wrong)?;
    let description = form.get("description");
    let text = Text::parse(description, MAX_DESCRIPTION, LineBreaks::Allowed).map_err(|_| t.description_wrong)?;
    let subscription = Subscription::parse(form.all(EVENT)).map_err(|_| t.subscription_wrong)?;
    Ok(Values { url, description: Some(text).filter(|_| !description.is_empty()), subscription })
}
