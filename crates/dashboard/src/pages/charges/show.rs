//! The page of a charge.

use actix_web::http::StatusCode;
use actix_web::{HttpRequest, HttpResponse, web};
use askama::Template;
use cais_domain::charge::{Charge, ChargeStatus};
use cais_domain::ids::ChargeId;
use cais_domain::money::Money;
use cais_domain::text::Text;
use cais_ports::PageRequest;
use cais_use_cases::charges::payment_page;
use cais_use_cases::charges::{ChargeName, fetch};
use cais_use_cases::refunds::list::{ListRefundsError, list};

use super::facts::{self, Extra, MAX_EVENTS, RefundRow, status_text};
use super::shares::{self, Emails, Share};
use super::timeline::{self, Line};
use crate::failure::Failure;
use crate::format::{When, brl};
use crate::layout::Layout;
use crate::page_context::PageContext;
use crate::qr::Qr;
use crate::texts::charges::ChargesTexts;

/// The most refunds that the page shows, the newest ones.
const MAX_REFUNDS: u32 = 50;

#[derive(Template)]
#[template(path = "charges/show.html")]
struct ChargePage<'a> {
    page: Layout,
    t: &'static ChargesTexts,
    id: String,
    status: &'static str,
    tone: &'static str,
    amount: String,
    fee: String,
    net: Option<String>,
    description: String,
    payer: String,
    external_id: String,
    pix: String,
    created: When,
    expires: Option<When>,
    open: Option<Open>,
    /// The token in the URL of the charge's payment page.
    token: String,
    link: String,
    can_pay: bool,
    is_disputed: bool,
    shares: Vec<Share>,
    extras: Vec<Extra>,
    refunds: Vec<RefundRow>,
    error: Option<String>,
    form: Option<RefundForm<'a>>,
    lines: Vec<Line>,
    is_cut: bool,
    json: String,
    curl: String,
}

/// The part of the page that only a pending charge has.
struct Open {
    qr: Option<Qr>,
    code: String,
}

/// The form of a refund: the values that the user sent, and the reason for which the form was refused.
#[derive(Default)]
pub(super) struct RefundForm<'a> {
    pub(super) payment: &'a str,
    pub(super) amount: &'a str,
    pub(super) reason: &'a str,
    pub(super) error: Option<String>,
    /// The amount of the charge that can still be refunded; `None` if nothing is left.
    pub(super) rest: Option<String>,
}

/// Shows the charge. A pending charge is refreshed from its acquirer first.
pub(crate) async fn show(
    context: PageContext,
    id: web::Path<String>,
    request: HttpRequest,
) -> Result<HttpResponse, Failure> {
    page(&context, &request, &id, StatusCode::OK, RefundForm::default()).await
}

/// Returns the account's charge with the id in a path. A pending charge is refreshed from its acquirer first.
pub(super) async fn read(context: &PageContext, id: &str) -> Result<Charge, Failure> {
    let (_, account) = context.merchant()?;
    let name = ChargeName::Id(ChargeId::parse(id).map_err(|_| Failure::NotFound)?);
    Ok(fetch::fetch(&context.dashboard.logins.ports, &context.dashboard.syncs, account, &name).await?)
}

/// Returns the page of the charge. If a refund is possible, the page contains `form`.
pub(super) async fn page(
    context: &PageContext,
    request: &HttpRequest,
    id: &str,
    status: StatusCode,
    form: RefundForm<'_>,
) -> Result<HttpResponse, Failure> {
    let charge = read(context, id).await?;
    let (ports, language) = (&context.dashboard.logins.ports, context.language);
    let t = ChargesTexts::of(language);
    let events = facts::events(ports, &charge).await?;
    let shares = shares::shares(ports, &charge, &mut Emails::default(), language).await?;
    let newest = PageRequest { limit: MAX_REFUNDS, starting_after: None };
    let refunds = list(ports, &context.dashboard.syncs, charge.account, &ChargeName::Id(charge.id), newest).await;
    let refunds = refunds.map_err(|error| match error {
        ListRefundsError::Charge(error) => Failure::from(error),
        ListRefundsError::List(error) => Failure::from(error),
    })?;
    let lines = timeline::lines(ports, &charge, (&events, &refunds.rows), (t, language)).await?;
    let extras = Extra::all(&events, &refunds.rows, (t, language));
    let rest = charge.state.settlement().and_then(|_| charge.refundable().ok()).filter(|rest| *rest > Money::ZERO);
    let is_refundable =
        charge.open_infractions == 0 && (rest.is_some() || extras.iter().any(|extra| !extra.is_returned));
    let base = context.dashboard.site.base_of(request);
    let (text, tone) = status_text(t, charge.state.status());
    let is_open = charge.state.status() == ChargeStatus::Pending;
    let terms = &charge.terms;
    let payer = [&terms.payer_name, &terms.payer_document];
    let shown = ChargePage {
        page: context.layout(),
        t,
        id: charge.id.to_string(),
        status: text,
        tone,
        amount: brl(terms.amount, language),
        fee: brl(terms.fee, language),
        net: facts::net(&charge).map(|net| brl(net, language)),
        description: terms.description.as_ref().map(|text| text.as_str().to_owned()).unwrap_or_default(),
        payer: payer.into_iter().flatten().map(Text::as_str).collect::<Vec<_>>().join(" · "),
        external_id: terms.external_id.as_ref().map(ToString::to_string).unwrap_or_default(),
        pix: charge.state.settlement().map(|paid| paid.end_to_end_id.to_string()).unwrap_or_default(),
        created: When::of(charge.created_at, language),
        expires: charge.state.issued().map(|issued| When::of(issued.expires_at, language)),
        open: charge
            .state
            .issued()
            .filter(|_| is_open)
            .map(|issued| Open { qr: Qr::of(&issued.copy_paste), code: issued.copy_paste.clone() }),
        token: payment_page::token(ports, charge.id),
        link: payment_page::url(ports, &base, charge.id),
        can_pay: context.dashboard.sandbox_pay.is_some(),
        is_disputed: charge.open_infractions > 0,
        shares,
        extras,
        refunds: refunds.rows.iter().map(|refund| RefundRow::of(refund, t, language)).collect(),
        error: form.error.clone(),
        form: is_refundable.then(|| RefundForm { rest: rest.map(|rest| brl(rest, language)), ..form }),
        lines,
        is_cut: events.len() >= usize::try_from(MAX_EVENTS).unwrap_or(usize::MAX),
        json: String::from_utf8_lossy(&ports.representation.charge(&charge)).into_owned(),
        curl: format!("curl -H \"Authorization: Bearer $CAIS_API_KEY\" {base}/v1/charges/{}", charge.id),
    };
    Ok(context.page(status, &shown))
}
