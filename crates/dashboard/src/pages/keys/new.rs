//! The first step of a new API key: its name, scopes and lifetime.

use actix_web::HttpResponse;
use actix_web::http::StatusCode;
use askama::Template;
use cais_domain::merchant::api_key::{Scope, Scopes};
use cais_domain::text::{LineBreaks, Text};
use cais_ports::PendingAction;
use cais_use_cases::keys::create::{MAX_ADDRESS_BLOCKS, MAX_EXPIRES_IN_DAYS, parse_block};
use cais_use_cases::logins::begin;

use crate::failure::Failure;
use crate::form::Form;
use crate::layout::{Layout, redirect};
use crate::page_context::PageContext;
use crate::texts::Texts;

/// The most characters of a key's name.
const MAX_NAME_CHARS: usize = 100;

#[derive(Template)]
#[template(path = "keys/new.html")]
struct NewKeyPage<'a> {
    page: Layout,
    error: Option<&'a str>,
    name: &'a str,
    days: &'a str,
    addresses: &'a str,
    scopes: Vec<Choice>,
}

struct Choice {
    name: &'static str,
    is_chosen: bool,
}

/// Shows the form.
pub(crate) async fn show(context: PageContext) -> Result<HttpResponse, Failure> {
    context.merchant()?;
    let scopes = choices(Scopes::default());
    Ok(context.ok(&NewKeyPage { page: context.layout(), error: None, name: "", days: "", addresses: "", scopes }))
}

/// Stores the intent to create the key. The key is created after the user has confirmed the intent.
pub(crate) async fn submit(form: Form) -> Result<HttpResponse, Failure> {
    let context = &form.context;
    let (visitor, _) = context.merchant()?;
    let page = context.layout();
    let is_writer = context.account().await?.permit_write().is_ok();
    let action = if is_writer { request(&form, page.t) } else { Err(page.t.suspended) };
    match action {
        Ok(action) => {
            let id = begin::begin(&context.dashboard.logins, visitor, action).await?;
            Ok(redirect(&format!("/confirm/{id}")))
        }
        Err(text) => {
            let (name, days, addresses) = (form.get("name"), form.get("days"), form.get("addresses"));
            let shown = NewKeyPage { page, error: Some(text), name, days, addresses, scopes: choices(chosen(&form)) };
            Ok(context.page(StatusCode::UNPROCESSABLE_ENTITY, &shown))
        }
    }
}

fn chosen(form: &Form) -> Scopes {
    form.all("scope").filter_map(Scope::parse).collect()
}

fn choices(chosen: Scopes) -> Vec<Choice> {
    Scope::ALL.map(|scope| Choice { name: scope.as_str(), is_chosen: chosen.contains(scope) }).into()
}

/// Returns the action of the form, or the text about the form's first mistake.
fn request(form: &Form, t: &'static Texts) -> Result<PendingAction, &'static str> {
    let (name, days) = (form.get("name"), form.get("days"));
    let parsed = Text::parse(name, MAX_NAME_CHARS, LineBreaks::Refused).ok().filter(|_| !name.is_empty());
    let name = parsed.ok_or(t.key_name_wrong)?;
    let scopes = chosen(form);
    if scopes.is_empty() {
        return Err(t.key_scopes_wrong);
    }
    let number = || days.parse().ok().filter(|days| (1..=MAX_EXPIRES_IN_DAYS).contains(days)).ok_or(t.key_days_wrong);
    let expires_in_days = if days.is_empty() { None } else { Some(number()?) };
    let blocks = form.get("addresses").split([',', ' ']).filter(|block| !block.is_empty());
    let blocks = blocks.map(|block| parse_block(block).map(|block| block.trunc().to_string())).collect();
    let allowed_addresses: Option<Vec<String>> = blocks;
    let is_short = |blocks: &Vec<String>| blocks.len() <= MAX_ADDRESS_BLOCKS;
    let allowed_addresses = allowed_addresses.filter(is_short).ok_or(t.key_addresses_wrong)?;
    Ok(PendingAction::CreateKey { name, scopes, expires_in_days, allowed_addresses })
}
