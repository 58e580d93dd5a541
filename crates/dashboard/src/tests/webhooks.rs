//! The pages of webhook endpoints, deliveries and events. The tests check the stored records.

use cais_domain::event::EventType;
use cais_domain::ids::{AccountId, EndpointId};
use cais_domain::merchant::webhook::{DeliveryStatus, DisabledReason, Endpoint, EndpointState};
use cais_ports::{
    AttemptOutcome, AuditFilter, AuditQueries as _, ClaimedDelivery, Clock as _, DELIVERY_LEASE, Delivery,
    DeliveryAttempt, DeliveryClaim, DeliveryQueries as _, DeliveryQueue as _, EndpointQueries as _, EventQueries as _,
    FinishedAttempt, Health, NewEvent, PageRequest, Store as _,
};
use cais_testkit::builders::{an_event, queue_of, steps};
use jiff::SignedDuration;

use super::browser::{Browser, TestBed};

pub(super) const EMAIL: &str = "ana@shop.example";
const OTHER: &str = "bia@shop.example";
pub(super) const URL: &str = "https://shop.example/hooks?a=1&b=<i>";

pub(super) async fn account(bed: &TestBed) -> AccountId {
    bed.user(EMAIL).await.role.account().unwrap()
}

async fn endpoint(bed: &TestBed, id: EndpointId) -> Endpoint {
    bed.store.find_endpoint(account(bed).await, id).await.unwrap().unwrap()
}

/// Creates an endpoint for all events by the form. Returns its path and its id.
pub(super) async fn created(browser: &mut Browser<'_>) -> (String, EndpointId) {
    browser.get("/webhooks/new").await;
    let seen = browser.post("/webhooks/new", &[("url", URL), ("event", "*")]).await;
    assert_eq!(seen.status, 200, "{}", seen.body);
    let id = seen.between("href=\"/webhooks/whe_", "\"");
    (format!("/webhooks/whe_{id}"), EndpointId::parse(&format!("whe_{id}")).unwrap())
}

/// Publishes an event of the account and returns it.
pub(super) async fn published(bed: &TestBed) -> NewEvent {
    let event = an_event(account(bed).await, EventType::ChargePaid, "chg_1");
    let event = NewEvent { at: bed.clock.now(), data: br#"{"id":"chg_1","text":"<b>&"}"#.to_vec(), ..event };
    bed.store.commit(steps::publish(vec![event.clone()])).await.unwrap();
    event
}

/// Begins an attempt at the waiting delivery of the endpoint.
async fn claimed(bed: &TestBed, id: EndpointId) -> ClaimedDelivery {
    let endpoint = endpoint(bed, id).await;
    let now = bed.clock.now();
    let claim = DeliveryClaim {
        queues: vec![queue_of(&endpoint)],
        now,
        lease_until: now + DELIVERY_LEASE,
        per_endpoint: 8,
        at_once: 8,
        limit: 8,
    };
    bed.store.claim(claim).await.unwrap().remove(0)
}

/// Makes an attempt at the waiting delivery of the endpoint, with this response body and outcome.
pub(super) async fn attempted(bed: &TestBed, id: EndpointId, body: &str, outcome: AttemptOutcome) {
    let (endpoint, now) = (endpoint(bed, id).await, bed.clock.now());
    let claimed = claimed(bed, id).await;
    let is_failure = outcome != AttemptOutcome::Succeeded;
    let attempt = DeliveryAttempt {
        at: now,
        status_code: Some(if is_failure { 500 } else { 200 }),
        duration_ms: 12,
        error: is_failure.then(|| "status_not_2xx".to_owned()),
        response_body: Some(body.to_owned()),
    };
    let finished = FinishedAttempt {
        key: claimed.key,
        fence: claimed.fence,
        epoch: endpoint.epoch,
        tries: claimed.tries,
        attempt,
        outcome,
        health: if is_failure { Health::Failing } else { Health::Healthy },
    };
    bed.store.finish(vec![finished]).await.unwrap();
}

async fn deliveries(bed: &TestBed, id: EndpointId) -> Vec<Delivery> {
    let page = PageRequest { limit: 50, starting_after: None };
    bed.store.list_deliveries(account(bed).await, id, page).await.unwrap().rows
}

async fn newest(bed: &TestBed, id: EndpointId) -> Delivery {
    deliveries(bed, id).await.remove(0)
}

async fn english(browser: &mut Browser<'_>) {
    assert_eq!(browser.post("/language", &[("language", "en")]).await.status, 303);
}

#[actix_web::test]
async fn endpoint_secret_is_shown_once() {
    let bed = TestBed::new(None);
    let mut browser = bed.logged_in(EMAIL).await;
    assert!(browser.get("/webhooks").await.body.contains("Nenhum endereço"));
    browser.get("/webhooks/new").await;
    let fields = [("url", URL), ("description", "Loja"), ("event", "charge.paid"), ("event", "infraction.opened")];
    let seen = browser.post("/webhooks/new", &fields).await;
    assert_eq!(seen.status, 200, "{}", seen.body);
    let secret = seen.between("id=\"secret\">", "<");
    assert!(secret.starts_with("whsec_"), "{secret}");
    let id = EndpointId::parse(&format!("whe_{}", seen.between("href=\"/webhooks/whe_", "\""))).unwrap();
    let stored = endpoint(&bed, id).await;
    assert_eq!((stored.url.as_str(), stored.subscription.names()), (URL, vec!["charge.paid", "infraction.opened"]));
    assert_eq!(stored.description.unwrap().as_str(), "Loja");
    for path in ["/webhooks".to_owned(), format!("/webhooks/{id}")] {
        let body = browser.get(&path).await.body;
        assert!(!body.contains("whsec_"), "{path}");
        assert!(body.contains("a=1&#38;b=&#60;i&#62;") && body.contains("infraction.opened"), "{body}");
    }
    browser.get("/webhooks/new").await;
    let again = browser.post("/webhooks/new", &[("url", URL), ("event", "*")]).await;
    assert!(again.status == 422 && again.body.contains("já está cadastrado"), "{}", again.body);
}

#[actix_web::test]
async fn mistakes_of_an_endpoint_are_named() {
    let bed = TestBed::new(None);
    let mut browser = bed.logged_in(EMAIL).await;
    let (path, id) = created(&mut browser).await;
    let long = "x".repeat(201);
    for (fields, text) in [
        (vec![("url", ""), ("event", "*")], "sem espaços"),
        (vec![("url", "https://a b"), ("event", "*")], "sem espaços"),
        (vec![("url", "ftp://shop.example/"), ("event", "*")], "com https"),
        (vec![("url", "https://127.0.0.1/"), ("event", "*")], "não é público"),
        (vec![("url", "https://new.example/")], "pelo menos um evento"),
        (vec![("url", "https://new.example/"), ("event", "gold.found")], "pelo menos um evento"),
        (vec![("url", "https://new.example/"), ("event", "*"), ("description", &long)], "200 caracteres"),
    ] {
        for form in ["/webhooks/new", path.as_str()] {
            browser.get("/webhooks/new").await;
            let seen = browser.post(form, &fields).await;
            assert_eq!(seen.status, 422, "{form} {fields:?}");
            assert!(seen.body.contains(text), "{form} {fields:?}: {}", seen.body);
        }
    }
    assert_eq!(endpoint(&bed, id).await.version, 1);
    browser.get(&path).await;
    assert_eq!(browser.post(&format!("{path}/rotate"), &[("grace", "604801")]).await.status, 422);
    assert_eq!(endpoint(&bed, id).await.version, 1);
}

#[actix_web::test]
async fn endpoint_is_changed_paused_rotated_and_deleted() {
    let bed = TestBed::new(None);
    let mut browser = bed.logged_in(EMAIL).await;
    let (path, id) = created(&mut browser).await;
    let before = endpoint(&bed, id).await;
    browser.get(&path).await;
    let fields = [("url", "https://new.example/hook"), ("event", "charge.paid")];
    let confirmation = browser.post(&path, &fields).await.location().to_owned();
    assert!(browser.get(&confirmation).await.body.contains("https://new.example/hook"));
    assert_eq!(browser.post(&confirmation, &[("code", "000000")]).await.status, 422);
    assert_eq!(endpoint(&bed, id).await, before, "not without a code");
    let code = bed.code(EMAIL, 0).await;
    assert_eq!(browser.post(&confirmation, &[("code", &code)]).await.location(), path);
    bed.clock.advance(std::time::Duration::from_secs(30));
    let changed = endpoint(&bed, id).await;
    assert_eq!((changed.url.as_str(), changed.subscription.names()), ("https://new.example/hook", vec!["charge.paid"]));

    browser.get(&path).await;
    assert_eq!(browser.post(&format!("{path}/pause"), &[]).await.location(), path);
    assert_eq!(endpoint(&bed, id).await.state, EndpointState::Inactive);
    let paused = browser.get(&path).await.body;
    assert!(paused.contains("pausado") && paused.contains("Reativar"), "{paused}");
    let refused = browser.post(&format!("{path}/test"), &[]).await;
    assert!(refused.status == 422 && refused.body.contains("não está ativo"), "{}", refused.body);
    assert_eq!(browser.post(&format!("{path}/activate"), &[]).await.location(), path);
    assert!(endpoint(&bed, id).await.is_active());

    browser.get(&path).await;
    let confirmation = browser.post(&format!("{path}/rotate"), &[("grace", "3600")]).await.location().to_owned();
    assert!(!browser.get(&confirmation).await.body.contains("whsec_"), "not without a code");
    assert_eq!(browser.post(&confirmation, &[("code", "")]).await.status, 422);
    let code = bed.code(EMAIL, 0).await;
    let rotated = browser.post(&confirmation, &[("code", &code)]).await;
    assert!(rotated.status == 200 && rotated.body.contains("whsec_"), "{}", rotated.body);
    let stored = endpoint(&bed, id).await;
    let previous = stored.previous.unwrap();
    assert!(stored.secret != before.secret && previous.secret == before.secret);
    assert_eq!(previous.until, bed.clock.now() + SignedDuration::from_hours(1));
    assert!(!browser.get(&path).await.body.contains("whsec_"));

    assert_eq!(browser.get(&format!("{path}/delete")).await.status, 200);
    assert!(endpoint(&bed, id).await.is_visible(), "the first page deletes nothing");
    assert_eq!(browser.post(&format!("{path}/delete"), &[]).await.location(), "/webhooks");
    assert!(!endpoint(&bed, id).await.is_visible());
    assert_eq!(browser.get(&path).await.status, 404);

    let filter = AuditFilter { operator: Some(EMAIL.to_owned()), ..AuditFilter::default() };
    let rows = bed.store.list_audit(filter, PageRequest { limit: 6, starting_after: None }).await.unwrap().rows;
    let actions: Vec<_> = rows.iter().rev().map(|row| row.action.as_str()).collect();
    let expected = ["create", "change", "change", "change", "rotate_secret", "delete"];
    assert_eq!(actions, expected.map(|action| format!("webhook_endpoint.{action}")));
    assert!(
        rows.iter().all(
            |row| row.subject == id.to_string() && row.after.is_some() == (row.action != "webhook_endpoint.delete")
        )
    );
}

#[actix_web::test]
async fn disabled_endpoint_shows_its_reason_and_is_enabled() {
    let bed = TestBed::new(None);
    let mut browser = bed.logged_in(EMAIL).await;
    let (path, id) = created(&mut browser).await;
    let now = bed.clock.now();
    let step = endpoint(&bed, id).await.disable(DisabledReason::Gone, now).unwrap();
    bed.store.commit(steps::move_endpoint(step, now)).await.unwrap();
    for page in ["/webhooks", path.as_str()] {
        assert!(browser.get(page).await.body.contains("respondeu 410"), "{page}");
    }
    assert_eq!(browser.post(&format!("{path}/activate"), &[]).await.status, 303);
    assert!(endpoint(&bed, id).await.is_active());
}

#[actix_web::test]
async fn delivery_shows_its_attempts_escaped_and_is_resent() {
    let bed = TestBed::new(None);
    let mut browser = bed.logged_in(EMAIL).await;
    let (path, id) = created(&mut browser).await;
    let event = published(&bed).await;
    let hostile = "</pre><script>alert(1)</script>";
    attempted(&bed, id, hostile, AttemptOutcome::Failed).await;
    for page in [path.clone(), format!("/events/{}", event.id)] {
        let body = browser.get(&page).await.body;
        assert!(!body.contains("<script>alert") && body.contains("&#60;script&#62;alert"), "{page}: {body}");
        assert!(body.contains("diferente de 2xx") && body.contains("<code>500</code>"), "{page}: {body}");
        assert!(body.contains("&#60;b&#62;&#38;"), "the payload is shown: {body}");
        assert!(!body.contains("hx-get"), "no attempt follows: {body}");
    }
    assert!(browser.get("/webhooks").await.body.contains("class=\"bad\"><time"), "the endpoint fails");
    let [delivery] = <[Delivery; 1]>::try_from(deliveries(&bed, id).await).unwrap();
    browser.get(&path).await;
    assert_eq!(browser.post(&format!("{path}/deliveries/{}/resend", delivery.id), &[]).await.location(), path);
    assert_eq!(newest(&bed, id).await.status, DeliveryStatus::Pending);
    assert!(browser.get(&path).await.body.contains("hx-get"), "the page follows the attempt");
    attempted(&bed, id, "ok", AttemptOutcome::Succeeded).await;
    assert_eq!(newest(&bed, id).await.status, DeliveryStatus::Succeeded);
    assert!(browser.get(&path).await.body.contains("entregue"));

    let page = format!("/events/{}", event.id);
    browser.get(&page).await;
    assert_eq!(browser.post(&format!("{page}/resend"), &[]).await.location(), page);
    assert_eq!(newest(&bed, id).await.status, DeliveryStatus::Pending);
}

#[actix_web::test]
async fn test_of_endpoint_is_queued_up_to_the_limit() {
    let bed = TestBed::new(None);
    let mut browser = bed.logged_in(EMAIL).await;
    let (path, id) = created(&mut browser).await;
    for _ in 0..20 {
        browser.get(&path).await;
        assert_eq!(browser.post(&format!("{path}/test"), &[]).await.location(), path);
    }
    assert_eq!(deliveries(&bed, id).await.len(), 20);
    let refused = browser.post(&format!("{path}/test"), &[]).await;
    assert!(refused.status == 422 && refused.body.contains("15 segundos"), "{}", refused.body);
    let shown = browser.get(&path).await;
    assert!(shown.body.contains("webhook.test") && shown.body.contains("&#34;endpoint_id&#34;"), "{}", shown.body);
    published(&bed).await;
    let older = browser.get(&path).await.between("rel=\"next\" href=\"", "\"");
    assert!(browser.get(&older).await.body.contains("Mais recentes"));
    assert_eq!(browser.get(&format!("{path}?starting_after=dlv_x")).await.status, 404);
}

#[actix_web::test]
async fn page_refreshes_during_an_attempt() {
    let bed = TestBed::new(None);
    let mut browser = bed.logged_in(EMAIL).await;
    let (path, id) = created(&mut browser).await;
    let event = published(&bed).await;
    claimed(&bed, id).await;
    for page in [path, format!("/events/{}", event.id)] {
        assert!(browser.get(&page).await.body.contains("hx-get"), "{page}");
    }
}

#[actix_web::test]
async fn webhook_pages_work_in_english() {
    let bed = TestBed::new(None);
    let mut browser = bed.logged_in(EMAIL).await;
    let (path, id) = created(&mut browser).await;
    let event = published(&bed).await;
    attempted(&bed, id, "ok", AttemptOutcome::Succeeded).await;
    browser.get("/webhooks").await;
    english(&mut browser).await;
    for (page, text) in [
        ("/webhooks".to_owned(), "Last success"),
        ("/webhooks/new".to_owned(), "Create the endpoint"),
        (path.clone(), "Rotate the secret"),
        (format!("{path}/delete"), "cannot be undone"),
        ("/events".to_owned(), "kept for 90 days"),
        (format!("/events/{}", event.id), "Resend to all endpoints"),
    ] {
        let seen = browser.get(&page).await;
        assert!(seen.status == 200 && seen.body.contains(text), "{page}: {}", seen.body);
    }
}

#[actix_web::test]
async fn webhooks_and_events_of_others_do_not_exist() {
    let bed = TestBed::new(None);
    let mut ana = bed.logged_in(EMAIL).await;
    let (path, id) = created(&mut ana).await;
    let event = published(&bed).await;
    let delivery = deliveries(&bed, id).await.remove(0);
    let posts = [
        path.clone(),
        format!("{path}/pause"),
        format!("{path}/activate"),
        format!("{path}/test"),
        format!("{path}/rotate"),
        format!("{path}/delete"),
        format!("{path}/deliveries/{}/resend", delivery.id),
        format!("/events/{}/resend", event.id),
    ];
    let gets = [path.clone(), format!("{path}/delete"), format!("/events/{}", event.id)];
    let before = endpoint(&bed, id).await;

    let mut bia = bed.logged_in(OTHER).await;
    for page in &gets {
        assert_eq!(bia.get(page).await.status, 404, "{page}");
    }
    for page in &posts {
        bia.get("/webhooks").await;
        let fields = [("url", "https://new.example/"), ("event", "*"), ("grace", "0")];
        assert_eq!(bia.post(page, &fields).await.status, 404, "{page}");
    }
    assert!(!bia.get("/webhooks").await.body.contains("shop.example/hooks"));

    let mut stranger = bed.browser();
    stranger.get("/login").await;
    for page in gets.iter().map(String::as_str).chain(["/webhooks", "/webhooks/new", "/events"]) {
        assert_eq!(stranger.get(page).await.location(), "/login", "{page}");
    }
    for page in &posts {
        assert_eq!(stranger.post(page, &[]).await.location(), "/login", "{page}");
        ana.token = "0".repeat(64);
        assert_eq!(ana.post(page, &[("event", "*")]).await.status, 403, "{page}");
    }
    assert_eq!(endpoint(&bed, id).await, before);
    assert_eq!(deliveries(&bed, id).await, [delivery]);
    assert!(bed.store.find_event(account(&bed).await, event.id).await.unwrap().is_some());
}
