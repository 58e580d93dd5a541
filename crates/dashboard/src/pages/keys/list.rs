//! Lists the API keys of the account.

use actix_web::HttpResponse;
use askama::Template;
use cais_ports::{ApiKeyRecord, KeyUse};
use jiff::Timestamp;

use crate::failure::Failure;
use crate::format::When;
use crate::layout::Layout;
use crate::page_context::PageContext;
use crate::texts::Language;
use crate::texts::home::HomeTexts;

#[derive(Template)]
#[template(path = "keys/list.html")]
struct KeysPage {
    page: Layout,
    t: &'static HomeTexts,
    keys: Vec<Row>,
}

struct Row {
    prefix: String,
    name: String,
    scopes: String,
    /// The permitted CIDR blocks; empty if all addresses are permitted.
    addresses: String,
    created: When,
    expires: Option<When>,
    used: Option<(When, String)>,
    status: &'static str,
    is_active: bool,
}

/// Shows the list.
pub(crate) async fn show(context: PageContext) -> Result<HttpResponse, Failure> {
    let (_, account) = context.merchant()?;
    let ports = &context.dashboard.logins.ports;
    let (keys, now) = (ports.queries.list_keys(account).await?, ports.clock.now());
    let uses = ports.queries.list_key_uses(account).await?;
    let keys = keys.into_iter().map(|key| row(key, &uses, context.language, now)).collect();
    Ok(context.ok(&KeysPage { page: context.layout(), t: HomeTexts::of(context.language), keys }))
}

fn row(key: ApiKeyRecord, uses: &[KeyUse], language: Language, now: Timestamp) -> Row {
    let t = language.texts();
    let is_expired = key.expires_at.is_some_and(|end| now >= end);
    let status = if key.revoked_at.is_some() {
        t.key_revoked
    } else if is_expired {
        t.key_expired
    } else {
        t.key_active
    };
    let used = uses.iter().find(|used| used.key == key.prefix);
    Row {
        used: used.map(|used| (When::of(used.at, language), used.address.clone())),
        prefix: key.prefix.to_string(),
        name: key.name,
        scopes: key.scopes.to_string().replace(',', ", "),
        addresses: key.allowed_addresses.join(", "),
        created: When::of(key.created_at, language),
        expires: key.expires_at.map(|end| When::of(end, language)),
        status,
        is_active: key.revoked_at.is_none(),
    }
}
