//! The records that require an action of the user, each with a link to its page.

use cais_domain::end_to_end_id::EndToEndId;
use cais_domain::event::EventType;
use cais_domain::ids::{AccountId, ChargeId};
use cais_domain::infraction::{Infraction, InfractionStatus};
use cais_domain::merchant::webhook::{EndpointState, MAX_ENDPOINTS};
use cais_domain::money::Money;
use cais_domain::timeline::{Direction, TransactionStatus};
use cais_ports::{
    EndpointQueue, EventFilter, EventPage, InfractionFilter, PageRequest, Span, StoredEvent, Transaction,
    TransactionFilter,
};
use jiff::{SignedDuration, Timestamp};

use crate::failure::Failure;
use crate::format::{When, brl};
use crate::page_context::PageContext;
use crate::pages::charges::facts::returned_beyond;
use crate::pages::charges::json::member;
use crate::texts::home::HomeTexts;

/// The largest number of open infractions that are read. The nearest deadlines among them are shown.
const INFRACTIONS: u32 = 50;
/// The largest number of infractions that are shown. If there are more, a last line links to the list of open
/// infractions.
const SHOWN: usize = 10;
/// The largest number of unexpected payments that are read, and also of failed payouts.
const RECENT: u32 = 10;
/// The largest number of refunds that are read for an unexpected payment.
const REFUNDS: u32 = 50;
/// Unexpected payments are shown for a week, or until they are refunded in full.
const UNEXPECTED_FOR: SignedDuration = SignedDuration::from_hours(7 * 24);
/// Failed payouts are shown for a day after their creation.
const FAILED_FOR: SignedDuration = SignedDuration::from_hours(24);

/// A record that requires an action of the user.
pub(super) struct Line {
    pub(super) path: String,
    pub(super) text: &'static str,
    pub(super) at: Option<When>,
    pub(super) subject: String,
}

/// Reads the lines of an account, the most urgent first. Each query has a limit of rows.
pub(super) async fn read(context: &PageContext, account: AccountId) -> Result<Vec<Line>, Failure> {
    let mut lines = infractions(context, account).await?;
    lines.extend(endpoints(context, account).await?);
    lines.extend(unexpected(context, account).await?);
    lines.extend(failed_payouts(context, account).await?);
    Ok(lines)
}

async fn infractions(context: &PageContext, account: AccountId) -> Result<Vec<Line>, Failure> {
    let t = HomeTexts::of(context.language);
    let filter = InfractionFilter { account: Some(account), status: Some(InfractionStatus::Open) };
    let page = PageRequest { limit: INFRACTIONS, starting_after: None };
    let found = context.ports().queries.list_infractions(filter, page).await?;
    let mut open = found.rows;
    open.sort_by_key(|infraction| infraction.deadline_at.unwrap_or(Timestamp::MAX));
    let line = |infraction: &Infraction| Line {
        path: format!("/infractions/{}", infraction.id),
        text: if infraction.deadline_at.is_some() { t.deadline } else { t.no_deadline },
        at: infraction.deadline_at.map(|at| When::of(at, context.language)),
        subject: brl(infraction.amount, context.language),
    };
    let mut lines: Vec<Line> = open.iter().take(SHOWN).map(line).collect();
    if open.len() > SHOWN || found.has_more {
        let path = "/infractions?status=open".to_owned();
        lines.push(Line { path, text: t.more_infractions, at: None, subject: String::new() });
    }
    Ok(lines)
}

async fn endpoints(context: &PageContext, account: AccountId) -> Result<Vec<Line>, Failure> {
    let (t, queries) = (HomeTexts::of(context.language), &context.ports().queries);
    let all = PageRequest { limit: u32::from(MAX_ENDPOINTS), starting_after: None };
    let mut lines = Vec::new();
    for endpoint in queries.list_endpoints(account, all).await?.rows {
        let queue = EndpointQueue { account, endpoint: endpoint.id, epoch: endpoint.epoch };
        let (text, at) = match endpoint.state {
            EndpointState::Disabled { at, .. } => (t.endpoint_disabled, Some(at)),
            EndpointState::Active => (t.endpoint_failing, queries.failing_since(queue).await?),
            EndpointState::Inactive | EndpointState::Deleted { .. } => continue,
        };
        if let Some(at) = at {
            let (path, subject) = (format!("/webhooks/{}", endpoint.id), endpoint.url.to_string());
            lines.push(Line { path, text, at: Some(When::of(at, context.language)), subject });
        }
    }
    Ok(lines)
}

async fn unexpected(context: &PageContext, account: AccountId) -> Result<Vec<Line>, Failure> {
    let text = HomeTexts::of(context.language).unexpected;
    let filter = EventFilter { kind: Some(EventType::PaymentUnexpected), after_sequence: None };
    let page = EventPage { limit: RECENT, starting_after: None };
    let since = before_now(context, UNEXPECTED_FOR);
    let events = context.ports().queries.list_events(account, filter, page).await?.rows;
    let mut lines = Vec::new();
    for event in events.into_iter().filter(|event| event.created_at >= since) {
        if is_returned(context, account, &event).await? {
            continue;
        }
        let charge = member(&event.data, "charge_id");
        let path =
            charge.as_ref().map_or_else(|| format!("/events/{}", event.id), |charge| format!("/charges/{charge}"));
        let at = Some(When::of(event.created_at, context.language));
        lines.push(Line { path, text, at, subject: charge.unwrap_or_default() });
    }
    Ok(lines)
}

/// Returns whether refunds cover the whole unexpected payment.
async fn is_returned(context: &PageContext, account: AccountId, event: &StoredEvent) -> Result<bool, Failure> {
    let read = |name| member(&event.data, name);
    let charge = read("charge_id").and_then(|id| ChargeId::parse(&id).ok());
    let pix = read("end_to_end_id").and_then(|id| EndToEndId::parse(&id).ok());
    let amount = read("amount").and_then(|amount| Money::parse(&amount).ok());
    let (Some(charge), Some(pix), Some(amount)) = (charge, pix, amount) else { return Ok(false) };
    let page = PageRequest { limit: REFUNDS, starting_after: None };
    let refunds = context.ports().queries.list_refunds(account, charge, page).await?.rows;
    Ok(returned_beyond(&refunds, &pix) >= amount)
}

async fn failed_payouts(context: &PageContext, account: AccountId) -> Result<Vec<Line>, Failure> {
    let text = HomeTexts::of(context.language).payout_failed;
    let filter = TransactionFilter {
        direction: Some(Direction::CashOut),
        status: Some(TransactionStatus::Failed),
        created: Span { from: Some(before_now(context, FAILED_FOR)), until: None },
    };
    let page = PageRequest { limit: RECENT, starting_after: None };
    let found = context.ports().queries.list_transactions(account, filter, page).await?.rows;
    let line = |transaction| match transaction {
        Transaction::Payout(payout) => Some(Line {
            path: format!("/payouts/{}", payout.id),
            text,
            at: Some(When::of(payout.created_at, context.language)),
            subject: brl(payout.terms.amount, context.language),
        }),
        Transaction::Charge(_) | Transaction::SplitCredit(_) => None,
    };
    Ok(found.into_iter().filter_map(line).collect())
}

fn before_now(context: &PageContext, age: SignedDuration) -> Timestamp {
    context.ports().clock.now().saturating_sub(age).unwrap_or(Timestamp::MIN)
}
