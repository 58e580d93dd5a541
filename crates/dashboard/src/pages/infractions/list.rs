//! Lists the infractions of the account: the unresolved infractions by deadline, all infractions, or the infractions of
//! one status.

use actix_web::HttpResponse;
use askama::Template;
use cais_domain::ids::{AccountId, InfractionId};
use cais_domain::infraction::{Infraction, InfractionStatus};
use cais_domain::money::Money;
use cais_ports::PageRequest;
use cais_use_cases::Ports;
use cais_use_cases::infractions::list;
use jiff::Timestamp;

use crate::failure::Failure;
use crate::format::{When, brl};
use crate::layout::Layout;
use crate::page_context::PageContext;
use crate::query::{Query, STARTING_AFTER};
use crate::texts::Language;
use crate::texts::infractions::InfractionTexts;

/// The number of infractions on a page. For each unresolved infraction, its block is read too.
const ROWS: u32 = 50;
/// The largest number of infractions that are read for each unresolved status: open and under review. The page shows
/// those with the nearest deadlines.
const MAX_UNRESOLVED: u32 = 1_000;
/// The value of the parameter `status` for the list of all infractions.
const ALL: &str = "all";

#[derive(Template)]
#[template(path = "infractions/list.html")]
struct InfractionsPage {
    page: Layout,
    t: &'static InfractionTexts,
    filters: Vec<Filter>,
    infractions: Vec<Row>,
    /// `true` if more unresolved infractions exist than the list shows.
    is_cut: bool,
    newest: Option<String>,
    next: Option<String>,
}

struct Filter {
    name: &'static str,
    link: String,
    is_chosen: bool,
}

struct Row {
    id: String,
    status: &'static str,
    status_name: &'static str,
    amount: String,
    blocked: Option<String>,
    external_id: String,
    opened: When,
    deadline: Option<When>,
    counts_down: bool,
    has_defense: bool,
}

/// The chosen list.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Chosen {
    Unresolved,
    All,
    Status(InfractionStatus),
}

impl Chosen {
    fn of(query: &Query) -> Result<Self, Failure> {
        match query.get("status") {
            None => Ok(Self::Unresolved),
            Some(ALL) => Ok(Self::All),
            Some(name) => InfractionStatus::parse(name).map(Self::Status).ok_or(Failure::NotFound),
        }
    }

    fn link(self) -> String {
        match self {
            Self::Unresolved => "/infractions".to_owned(),
            Self::All => format!("/infractions?status={ALL}"),
            Self::Status(status) => format!("/infractions?status={}", status.as_str()),
        }
    }

    const fn name(self, t: &InfractionTexts) -> &'static str {
        match self {
            Self::Unresolved => t.unresolved,
            Self::All => t.all,
            Self::Status(status) => t.status_of(status),
        }
    }
}

/// Shows the chosen list.
pub(crate) async fn show(context: PageContext, query: Query) -> Result<HttpResponse, Failure> {
    let (_, account) = context.merchant()?;
    let (chosen, starting_after) = (Chosen::of(&query)?, query.id(STARTING_AFTER)?);
    let ports = &context.dashboard.logins.ports;
    let (rows, has_more) = read(ports, account, chosen, starting_after).await?;
    let is_cut = has_more && chosen == Chosen::Unresolved;
    let last = rows.last().filter(|_| has_more && !is_cut).map(|infraction| infraction.id);
    let (now, t) = (ports.clock.now(), InfractionTexts::of(context.language));
    let mut infractions = Vec::with_capacity(rows.len());
    for infraction in rows {
        let held = held(ports, &infraction).await?;
        infractions.push(row(&infraction, held, now, context.language));
    }
    let every = [Chosen::Unresolved, Chosen::All].into_iter().chain(InfractionStatus::ALL.map(Chosen::Status));
    let filters = every.map(|each| Filter { name: each.name(t), link: each.link(), is_chosen: each == chosen });
    let filters = filters.collect();
    let newest = starting_after.map(|_: InfractionId| chosen.link());
    let next = last.map(|last| format!("{}&starting_after={last}", chosen.link()));
    Ok(context.ok(&InfractionsPage { page: context.layout(), t, filters, infractions, is_cut, newest, next }))
}

/// Returns the rows, and `true` if more exist. The list of unresolved infractions has only one page.
async fn read(
    ports: &Ports,
    account: AccountId,
    chosen: Chosen,
    starting_after: Option<InfractionId>,
) -> Result<(Vec<Infraction>, bool), Failure> {
    let status = match chosen {
        Chosen::Unresolved => {
            let newest = PageRequest { limit: MAX_UNRESOLVED, starting_after: None };
            let open = list::list(ports, account, Some(InfractionStatus::Open), newest).await?;
            let defended = list::list(ports, account, Some(InfractionStatus::UnderReview), newest).await?;
            let has_unread = open.has_more || defended.has_more;
            let mut rows = [open.rows, defended.rows].concat();
            // Defended infractions stand last, because they need no action before their deadline.
            let is_under_review = |infraction: &Infraction| infraction.state.status() == InfractionStatus::UnderReview;
            rows.sort_by_key(|infraction| {
                (is_under_review(infraction), infraction.deadline_at.unwrap_or(Timestamp::MAX), infraction.id)
            });
            let shown = usize::try_from(ROWS).unwrap_or(usize::MAX);
            let is_cut = has_unread || rows.len() > shown;
            rows.truncate(shown);
            return Ok((rows, is_cut));
        }
        Chosen::All => None,
        Chosen::Status(status) => Some(status),
    };
    let listed = list::list(ports, account, status, PageRequest { limit: ROWS, starting_after }).await?;
    Ok((listed.rows, listed.has_more))
}

/// Returns the amount that the infraction blocks now; `None` once the infraction is resolved.
pub(crate) async fn held(ports: &Ports, infraction: &Infraction) -> Result<Option<Money>, Failure> {
    if !infraction.state.status().is_open() {
        return Ok(None);
    }
    let block = ports.queries.find_block(infraction.account, infraction.id).await?;
    Ok(block.map(|block| block.held))
}

fn row(infraction: &Infraction, held: Option<Money>, now: Timestamp, language: Language) -> Row {
    let (t, status) = (InfractionTexts::of(language), infraction.state.status());
    Row {
        id: infraction.id.to_string(),
        status: status.as_str(),
        status_name: t.status_of(status),
        amount: brl(infraction.amount, language),
        blocked: held.map(|held| brl(held, language)),
        external_id: infraction.external_id.as_ref().map(ToString::to_string).unwrap_or_default(),
        opened: When::of(infraction.opened_at, language),
        deadline: infraction.deadline_at.map(|at| When::of(at, language)),
        counts_down: status == InfractionStatus::Open && infraction.deadline_at.is_some_and(|at| at > now),
        has_defense: infraction.defense.is_some(),
    }
}
