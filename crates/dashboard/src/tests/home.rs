//! The first page, the last use of keys, and the API log.

use std::time::Duration;

use cais_domain::event::EventType;
use cais_domain::ids::AccountId;
use cais_domain::infraction::Infraction;
use cais_domain::merchant::api_key::KeyPrefix;
use cais_domain::merchant::webhook::{DisabledReason, Endpoint};
use cais_ports::{Clock as _, KeyUse, LoggedRequest, Maintenance as _, NewEvent, Store as _, Write};
use cais_testkit::builders::{an_endpoint, an_event, an_infraction, fresh, pending_charge, steps};

use super::browser::TestBed;
use super::keys::created;

const EMAIL: &str = "ana@shop.example";
const OTHER: &str = "bia@shop.example";

async fn account(bed: &TestBed) -> AccountId {
    bed.user(EMAIL).await.role.account().unwrap()
}

#[actix_web::test]
async fn home_shows_records_that_need_attention() {
    let bed = TestBed::new(None);
    let mut browser = bed.logged_in(EMAIL).await;
    let quiet = browser.get("/").await.body;
    assert!(quiet.contains("Nada no momento") && quiet.contains("<svg class=\"chart\" role=\"img\""), "{quiet}");
    let (account, now) = (account(&bed).await, bed.clock.now());
    let endpoint = an_endpoint(account, 0);
    bed.store.commit(steps::open_endpoint(&endpoint)).await.unwrap();
    let stored = Endpoint { version: 1, ..endpoint.clone() };
    let disabled = stored.disable(DisabledReason::Failing, now).unwrap();
    bed.store.commit(steps::move_endpoint(disabled, now)).await.unwrap();
    let event = an_event(account, EventType::PaymentUnexpected, "chg_1");
    let event = NewEvent { at: now, data: br#"{"charge_id":"chg_<b>"}"#.to_vec(), ..event };
    bed.store.commit(steps::publish(vec![event.clone()])).await.unwrap();
    let shown = browser.get("/").await.body;
    let path = format!("href=\"/webhooks/{}\"", endpoint.id);
    assert!(shown.contains(&path) && shown.contains("Webhook desativado"), "{shown}");
    assert!(shown.contains("Pagamento inesperado") && shown.contains("chg_&#60;b&#62;"), "{shown}");
    assert!(!shown.contains("Nada no momento"), "{shown}");
    let mut other = bed.logged_in(OTHER).await;
    assert!(other.get("/").await.body.contains("Nada no momento"), "nothing of another account");
    bed.clock.advance(Duration::from_hours(8 * 24));
    browser.log_in(EMAIL).await;
    let code = bed.code(EMAIL, 0).await;
    browser.get("/login/code").await;
    browser.post("/login/code", &[("code", &code)]).await;
    let later = browser.get("/").await.body;
    assert!(later.contains(&path) && !later.contains("Pagamento inesperado"), "{later}");
}

#[actix_web::test]
async fn infractions_are_shown_by_deadline() {
    let bed = TestBed::new(None);
    let mut browser = bed.logged_in(EMAIL).await;
    let account = account(&bed).await;
    let hours = |hours| bed.clock.now() + jiff::SignedDuration::from_hours(hours);
    for (deadline, centavos) in [(hours(50), 5_000), (hours(10), 1_000), (hours(30), 3_000)] {
        let infraction = an_infraction(&pending_charge(account), centavos);
        let infraction = Infraction { deadline_at: Some(deadline), ..infraction };
        let at = infraction.created_at;
        bed.store.commit(steps::write(Write::insert(infraction), at)).await.unwrap();
    }
    let shown = browser.get("/").await.body;
    let place = |text: &str| shown.find(text).unwrap();
    assert!(place("R$ 10,00") < place("R$ 30,00") && place("R$ 30,00") < place("R$ 50,00"), "{shown}");
    assert!(shown.contains("href=\"/infractions/inf_"), "{shown}");
}

#[actix_web::test]
async fn key_shows_its_last_use_and_address() {
    let bed = TestBed::new(None);
    let mut browser = bed.logged_in(EMAIL).await;
    let key = created(&bed, &mut browser, EMAIL).await.prefix;
    assert!(browser.get("/keys").await.body.contains("nunca"));
    let at = "2026-01-02T15:00:00Z".parse().unwrap();
    let used = KeyUse { key, at, address: "2001:db8::7".to_owned() };
    bed.store.record_key_uses(vec![used]).await.unwrap();
    let shown = browser.get("/keys").await.body;
    assert!(shown.contains("02/01/2026 12:00") && shown.contains("<code>2001:db8::7</code>"), "{shown}");
}

#[actix_web::test]
async fn api_log_shows_own_requests_escaped() {
    let bed = TestBed::new(None);
    let mut browser = bed.logged_in(EMAIL).await;
    assert!(browser.get("/api-log").await.body.contains("Nenhuma requisição"));
    let account = account(&bed).await;
    let request = |status| LoggedRequest {
        id: fresh(),
        account,
        at: bed.clock.now(),
        method: "GET".to_owned(),
        path: "/v1/charges/<script>".to_owned(),
        status,
        key: KeyPrefix::from_random(&[7; 12]),
        took_ms: 31,
    };
    let requests = (0..51).map(|_| request(404)).collect();
    bed.store.record_requests(requests, Vec::new()).await.unwrap();
    let shown = browser.get("/api-log").await;
    assert_eq!(shown.body.matches("<code class=\"bad\">404</code>").count(), 50);
    assert!(!shown.body.contains("<script>") && shown.body.contains("31 ms"), "{}", shown.body);
    let older = shown.between("rel=\"next\" href=\"", "\"");
    assert_eq!(browser.get(&older).await.body.matches("<code class=\"bad\">404</code>").count(), 1);
    assert_eq!(browser.get("/api-log?starting_after=x").await.status, 404);
    for _ in 0..201 {
        bed.dashboard.requests.record(account, || request(200));
    }
    assert!(browser.get("/api-log").await.body.contains("início do servidor: 1"));
    let mut other = bed.logged_in(OTHER).await;
    let empty = other.get("/api-log").await.body;
    assert!(empty.contains("Nenhuma requisição") && !empty.contains("início do servidor"), "{empty}");
    let english = other.post("/language", &[("language", "en")]).await;
    assert_eq!(english.status, 303);
    for (path, text) in [("/api-log", "No requests yet"), ("/", "Needs attention"), ("/keys", "API log")] {
        assert!(other.get(path).await.body.contains(text), "{path}");
    }
}
