//! A merchant whose free texts all contain a script. Every page shows these hostile texts escaped, and only this
//! merchant can open the pages of the merchant's records.

use std::collections::BTreeSet;
use std::time::Duration;

use cais_domain::merchant::account::Account;
use cais_domain::merchant::api_key::KeyPrefix;
use cais_ports::{
    AccountQueries as _, AttemptOutcome, AuditFilter, AuditQueries as _, Callback, CallbackState, Clock as _,
    LoggedRequest, Maintenance as _, PageRequest, Store as _, Write,
};
use cais_testkit::builders::{a_callback, fresh, start, steps};
use cais_use_cases::infractions::poll;

use super::browser::{Browser, TestBed};
use super::routes::pages;
use super::shop::{Shop, an_operator_browser};
use super::{charges, keys, webhooks};

const EMAIL: &str = "ana@shop.example";
const OTHER: &str = "bia@shop.example";
/// A text that ends an attribute in either kind of quotes and runs a script.
const TEXT: &str = "'\"><script>alert(1)</script>";
const ADDRESS: &str = "0x52908400098527886E0F7030069857D2E4169EE7";

/// Returns a merchant with hostile texts, and the paths of pages to which no link leads.
async fn hostile_shop(bed: &TestBed) -> (Shop<'_>, Vec<String>) {
    let mut shop = Shop::open(bed, EMAIL).await;
    let account = bed.store.find_account_by_email(EMAIL).await.unwrap().unwrap();
    let renamed = Write::update(Account { name: TEXT.to_owned(), ..account.clone() });
    bed.store.commit(steps::write(renamed, start())).await.unwrap();

    let key = keys::submit_key_form(&mut shop.browser, TEXT).await;
    shop.browser.get(&key).await;
    let code = shop.code().await;
    assert_eq!(shop.browser.post(&key, &[("code", &code)]).await.status, 200);
    bed.clock.advance(Duration::from_secs(30));
    let mut paths = vec![keys::submit_key_form(&mut shop.browser, TEXT).await];

    let free = [("description", TEXT), ("external_id", TEXT)];
    let payer = [("amount", "10,00"), ("payer_name", TEXT)];
    let charge = charges::created(&mut shop.browser, &[free.as_slice(), &payer].concat()).await;
    shop.browser.get(&charge).await;
    shop.browser.post(&format!("{charge}/pay"), &[]).await;
    shop.browser.get(&charge).await;
    let refund = shop.browser.post(&format!("{charge}/refunds"), &[("amount", "1,00"), ("reason", TEXT)]).await;
    assert_eq!(shop.browser.post(refund.location(), &[]).await.status, 303, "{}", refund.body);
    shop.browser.get(&charge).await;
    let refund = shop.browser.post(&format!("{charge}/refunds"), &[("amount", "1,00"), ("reason", TEXT)]).await;
    paths.push(refund.location().to_owned());

    for is_sent in [true, false] {
        let id = format!("{TEXT}{is_sent}");
        let fields = [("amount", "1,00"), ("key", "joao@bank.example"), ("description", TEXT), ("external_id", &id)];
        let path = shop.fill("/payouts/new", &fields).await.location().to_owned();
        if is_sent {
            assert_eq!(shop.browser.post(&path, &[]).await.status, 303);
        }
        paths.push(path);
    }

    let quote = shop.fill("/crypto/deposits/new", &[("amount", "200,00"), ("currency", "usdterc20")]).await;
    assert_eq!(shop.fill(quote.location(), &free).await.status, 303);
    paths.push(quote.location().to_owned());
    let terms = [("amount", "500,00"), ("currency", "usdterc20"), ("address", ADDRESS)];
    let withdrawal = shop.fill("/crypto/withdrawals/new", &[free.as_slice(), &terms].concat()).await;
    shop.browser.get(withdrawal.location()).await;
    let code = shop.code().await;
    assert_eq!(shop.browser.post(withdrawal.location(), &[("code", &code)]).await.status, 303);
    bed.clock.advance(Duration::from_secs(30));
    paths.push(withdrawal.location().to_owned());

    let (endpoint, id) = webhooks::created(&mut shop.browser).await;
    let fields = [("url", "https://shop.example/hooks?a=1&b=<i>"), ("description", TEXT), ("event", "*")];
    assert_eq!(shop.fill(&endpoint, &fields).await.status, 303);
    webhooks::published(bed).await;
    webhooks::attempted(bed, id, TEXT, AttemptOutcome::Succeeded).await;

    let (_, pix) = shop.base.paid(1_000).await;
    let upstream = shop.base.psp.dispute(&pix, 1_000);
    shop.base.psp.change(&upstream, |infraction| infraction.reason = Some(TEXT.to_owned()));
    poll::run_once(&shop.base.ports).await.unwrap();
    let infraction = format!("/infractions/{}", bed.store.infractions().pop().unwrap().id);
    assert_eq!(shop.fill(&infraction, &[("text", TEXT)]).await.status, 303);

    let request = LoggedRequest {
        id: fresh(),
        account: account.id,
        at: bed.clock.now(),
        method: "GET".to_owned(),
        path: format!("/v1/{TEXT}"),
        status: 404,
        key: KeyPrefix::from_random(&[7; 12]),
        took_ms: 1,
    };
    bed.store.record_requests(vec![request], Vec::new()).await.unwrap();
    let body = format!(r#"{{"pix":[{{"endToEndId":"{}","txid":"{0}"}}]}}"#, TEXT.replace('"', "\\\""));
    let callback = Callback { state: CallbackState::Unmatched, due_at: None, body: body.into_bytes(), ..a_callback() };
    bed.store.commit(steps::write(Write::insert(callback), start())).await.unwrap();
    (shop, paths)
}

/// The paths of a user's pages and forms.
#[derive(Default)]
struct Site {
    pages: BTreeSet<String>,
    forms: BTreeSet<String>,
    /// The number of pages that show a hostile text.
    escaped: usize,
}

/// Opens every page that a link leads to, and asserts that each page shows hostile texts escaped.
async fn crawl(bed: &TestBed, browser: &mut Browser<'_>, roots: Vec<String>) -> Site {
    let mut site = Site::default();
    let mut open = roots;
    while let Some(path) = open.pop() {
        if site.pages.contains(&path) {
            continue;
        }
        // The pause keeps the session below its limit of requests.
        bed.clock.advance(Duration::from_millis(200));
        let seen = browser.get(&path).await;
        assert_eq!(seen.status, 200, "{path}: {}", seen.body);
        assert!(site.pages.len() < 500, "the pages lead to ever more pages");
        site.pages.insert(path.clone());
        if path.contains(".csv") {
            continue;
        }
        assert!(!seen.body.contains("<script>"), "{path}: {}", seen.body);
        site.escaped += usize::from(seen.body.contains("&#60;script&#62;alert(1)"));
        let attribute = |name: &str| {
            let begin = format!("{name}=\"");
            let parts = seen.body.split(&begin).skip(1).filter_map(|part| part.split('"').next());
            parts.map(|value| value.replace("&#38;", "&")).collect::<Vec<_>>()
        };
        let links = attribute("href");
        assert!(links.iter().all(|link| link.starts_with(['/', '#', '?']) && !link.starts_with("//")), "{links:?}");
        let posts = attribute("action").into_iter().filter(|action| {
            assert!(action.starts_with('/') && !action.starts_with("//"), "{path}: {action}");
            seen.body.contains(&format!("method=\"post\" action=\"{action}\""))
        });
        site.forms.extend(posts);
        // The published event links to the charge `chg_1`. This charge does not exist, so the link is skipped.
        let others = ["/docs", "/assets", "/charges/chg_1"];
        let is_own = |link: &String| link.starts_with('/') && !others.iter().any(|other| link.starts_with(other));
        open.extend(links.into_iter().filter(is_own));
    }
    site
}

/// Returns the paths that name a record.
fn of_records(paths: &BTreeSet<String>) -> Vec<String> {
    let fixed = pages();
    let plain = paths.iter().map(|path| path.split('?').next().unwrap_or_default().to_owned());
    let own: BTreeSet<String> = plain.filter(|path| !fixed.contains(path) && !path.starts_with("/pay/")).collect();
    own.into_iter().filter(|path| !["/logout", "/language"].contains(&path.as_str())).collect()
}

#[actix_web::test]
async fn hostile_texts_are_escaped_and_records_are_private() {
    let bed = TestBed::new(None);
    let (mut shop, mut roots) = hostile_shop(&bed).await;
    roots.extend(pages().into_iter().filter(|path| !path.contains("/x") && !path.starts_with("/operator/")));
    roots.retain(|path| !path.starts_with("/login") && path != "/signup");
    let site = crawl(&bed, &mut shop.browser, roots).await;
    assert!(site.escaped >= 15, "{} pages with hostile texts", site.escaped);

    let (pages, forms) = (of_records(&site.pages), of_records(&site.forms));
    for kind in [
        "/charges/",
        "/refunds/confirm/",
        "/payouts/p",
        "/payouts/confirm/",
        "/infractions/",
        "/crypto/deposits/c",
        "/crypto/deposits/quotes/",
        "/crypto/withdrawals/cwd_",
        "/webhooks/",
        "/events/",
        "/keys/",
        "/confirm/",
    ] {
        assert!(pages.iter().any(|path| path.starts_with(kind)), "{kind}: {pages:?}");
    }
    assert!(forms.len() >= 10, "{forms:?}");

    let mut stranger = bed.browser();
    for path in &pages {
        let seen = stranger.get(path).await;
        assert_eq!((seen.status, seen.location()), (303, "/login"), "{path}");
    }
    let audited = async || {
        let page = PageRequest { limit: 1_000, starting_after: None };
        bed.store.list_audit(AuditFilter::default(), page).await.unwrap().rows.len()
    };
    let other = Shop::open(&bed, OTHER).await.browser;
    let operator = an_operator_browser(&bed).await;
    let (before, orders) = (audited().await, bed.store.payouts().len());
    for (mut browser, name) in [(other, "another merchant"), (operator, "an operator")] {
        for path in &pages {
            bed.clock.advance(Duration::from_millis(200));
            assert_eq!(browser.get(path).await.status, 404, "{name}: {path}");
        }
        let token = browser.get("/sessions").await.between("name=\"token\" value=\"", "\"");
        for path in &forms {
            browser.token.clone_from(&token);
            assert_eq!(browser.post(path, &[("code", "123456")]).await.status, 404, "{name}: {path}");
        }
    }
    assert_eq!((audited().await, bed.store.payouts().len()), (before, orders), "nothing was changed");
}

#[actix_web::test]
async fn hostile_texts_are_escaped_for_operators() {
    let bed = TestBed::new(None);
    hostile_shop(&bed).await;
    let mut operator = an_operator_browser(&bed).await;
    let roots = pages().into_iter().filter(|path| !path.contains("/x") && path.starts_with("/operator/"));
    let site = crawl(&bed, &mut operator, roots.collect()).await;
    assert!(site.escaped >= 2, "{} pages with hostile texts", site.escaped);
    assert!(site.pages.iter().any(|path| path.starts_with("/operator/accounts/acc_")));
}
