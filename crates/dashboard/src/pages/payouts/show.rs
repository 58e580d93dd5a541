//! Shows a payout, as a whole page and as the part that refreshes an open page.

use actix_web::{HttpResponse, web};
use askama::Template;
use cais_domain::charge::Origin;
use cais_domain::end_to_end_id::EndToEndId;
use cais_domain::external_id::ExternalId;
use cais_domain::ids::PayoutId;
use cais_domain::payout::{Payout, PayoutStatus};
use cais_domain::text::Text;
use cais_use_cases::payouts::{PayoutName, fetch};

use crate::failure::Failure;
use crate::format::{When, brl};
use crate::layout::Layout;
use crate::page_context::PageContext;
use crate::texts::Language;
use crate::texts::payouts::PayoutTexts;

#[derive(Template)]
#[template(path = "payouts/show.html")]
struct PayoutPage {
    page: Layout,
    t: &'static PayoutTexts,
    payout: View,
}

/// The part of the page that is refreshed.
#[derive(Template)]
#[template(path = "payouts/live.html")]
struct LivePart {
    t: &'static PayoutTexts,
    payout: View,
}

struct View {
    id: String,
    is_open: bool,
    status: &'static str,
    status_name: &'static str,
    amount: String,
    fee: String,
    total: String,
    returned: Option<String>,
    kind: &'static str,
    key: String,
    recipient: Option<String>,
    document: Option<String>,
    description: Option<String>,
    external_id: Option<String>,
    end_to_end_id: Option<String>,
    origin: &'static str,
    failure: Option<Failed>,
    created: When,
    completed: Option<When>,
    raw: String,
}

struct Failed {
    code: Option<String>,
    meaning: &'static str,
    message: String,
}

/// Shows the payout.
pub(crate) async fn show(context: PageContext, id: web::Path<String>) -> Result<HttpResponse, Failure> {
    let payout = read(&context, &id).await?;
    Ok(context.ok(&PayoutPage { page: context.layout(), t: PayoutTexts::of(context.language), payout }))
}

/// Shows the refreshed part.
pub(crate) async fn live(context: PageContext, id: web::Path<String>) -> Result<HttpResponse, Failure> {
    let payout = read(&context, &id).await?;
    Ok(context.ok(&LivePart { t: PayoutTexts::of(context.language), payout }))
}

async fn read(context: &PageContext, id: &str) -> Result<View, Failure> {
    let (_, account) = context.merchant()?;
    let name = PayoutName::Id(PayoutId::parse(id).map_err(|_| Failure::NotFound)?);
    let (ports, syncs) = (&context.dashboard.logins.ports, &context.dashboard.syncs);
    let payout = fetch::fetch(ports, syncs, account, &name).await?;
    let raw = String::from_utf8_lossy(&ports.representation.payout(&payout)).into_owned();
    Ok(view(payout, raw, context.language))
}

fn view(payout: Payout, raw: String, language: Language) -> View {
    let (t, terms, status) = (PayoutTexts::of(language), &payout.terms, payout.state.status());
    let failure = payout.state.failure().map(|reason| {
        let (code, meaning) = t.failure_of(reason);
        Failed { code: code.map(str::to_owned), meaning, message: reason.to_owned() }
    });
    View {
        id: payout.id.to_string(),
        is_open: status == PayoutStatus::Processing,
        status: status.as_str(),
        status_name: t.status_of(status),
        amount: brl(terms.amount, language),
        fee: brl(terms.fee, language),
        total: terms.gross().map(|total| brl(total, language)).unwrap_or_default(),
        returned: Some(payout.returned).filter(|returned| returned.is_positive()).map(|amount| brl(amount, language)),
        kind: t.kind_of(terms.pix_key.key_type()),
        key: terms.pix_key.to_string(),
        description: terms.description.as_ref().map(Text::as_str).map(str::to_owned),
        external_id: terms.external_id.as_ref().map(ExternalId::to_string),
        end_to_end_id: payout.state.end_to_end_id().map(EndToEndId::to_string),
        origin: match terms.origin {
            Origin::Api => t.origin_api,
            Origin::Manual => t.origin_manual,
        },
        failure,
        created: When::of(payout.created_at, language),
        completed: payout.state.completed_at().map(|at| When::of(at, language)),
        recipient: payout.recipient.name,
        document: payout.recipient.document,
        raw,
    }
}
