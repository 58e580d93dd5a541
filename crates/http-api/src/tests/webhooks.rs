//! Tests webhook endpoints and deliveries over HTTP.

use cais_domain::merchant::account::{Account, AccountStatus};
use cais_domain::merchant::api_key::Scopes;
use cais_testkit::builders::an_account;

use super::receivers::deliver;
use super::*;

const PATH: &str = "/v1/webhook-endpoints";
const URL: &str = "https://shop.example/hooks";
const UNKNOWN: &str = "/v1/webhook-endpoints/whe_01h455vb4pex5vsknk084sn02q";

fn at(endpoint: &Seen) -> String {
    format!("{PATH}/{}", endpoint.id())
}

#[actix_web::test]
async fn endpoint_is_registered_shown_changed_and_deleted() {
    let bed = TestBed::new().await;
    let body = format!(r#"{{"url":"{URL}","events":["payout.failed","charge.paid"],"description":"Orders"}}"#);
    let made = post(&bed, PATH, "", &body).await;
    assert_eq!(made.status, 201, "{made:?}");
    let text = String::from_utf8(made.body.clone()).unwrap();
    let fields = format!(
        r#""url":"{URL}","events":["charge.paid","payout.failed"],"description":"Orders","active":true,"disabled_reason":null"#
    );
    assert!(text.contains(&fields) && text.contains(r#","secret":"whsec_"#), "{text}");

    let seen = get(&bed, &at(&made)).await;
    let without = String::from_utf8(seen.body.clone()).unwrap();
    assert!(text.starts_with(without.trim_end_matches('}')) && !without.contains("whsec"), "{without}");
    assert_eq!(get(&bed, PATH).await.at("/data/0"), seen.json());

    let changed = with_method(
        &bed,
        Method::PATCH,
        &at(&made),
        r#"{"events":["*"],"description":null,"active":false,"url":"https://shop.example/other"}"#,
    )
    .await;
    assert_eq!(changed.status, 200, "{changed:?}");
    assert_eq!((changed.at("/events"), changed.at("/description")), (serde_json::json!(["*"]), Value::Null));
    assert_eq!((changed.at("/active"), changed.at("/disabled_reason")), (false.into(), Value::Null));
    assert_eq!(
        with_method(&bed, Method::PATCH, &at(&made), "{}").await.json(),
        changed.json(),
        "an empty change leaves the endpoint unchanged"
    );

    let gone = with_method(&bed, Method::DELETE, &at(&made), "").await;
    assert_eq!((gone.status, gone.body.len(), gone.header("content-type")), (204, 0, None));
    assert_eq!(get(&bed, &at(&made)).await.error(), (404, "not_found".to_owned()));
    assert_eq!(with_method(&bed, Method::DELETE, &at(&made), "").await.error(), (404, "not_found".to_owned()));
    assert_eq!(get(&bed, PATH).await.at("/data"), serde_json::json!([]));
}

#[actix_web::test]
async fn invalid_endpoint_is_rejected_with_paths_of_its_problems() {
    let bed = TestBed::new().await;
    let create = async |body: &str| {
        let seen = post(&bed, PATH, "", body).await;
        assert_eq!(seen.error(), (400, "VALIDATION_ERROR".to_owned()), "{body}");
        (seen.paths(), seen.at("/error/issues/0/message").as_str().unwrap().to_owned())
    };
    assert_eq!(create(r#"{"url":7,"events":["charge.paid","charge.made"],"x":1}"#).await.0, ["url", "events[1]", "x"]);
    for (url, problem) in [
        ("http://shop.example", "must begin with https://"),
        ("https://internal.example", "must lead to a public address"),
    ] {
        let problems = create(&format!(r#"{{"url":"{url}","events":["*"]}}"#)).await;
        assert_eq!(problems, (vec!["url".to_owned()], problem.to_owned()));
    }
    let first = register(&bed, URL, r#"["*"]"#).await;
    let problems = create(&format!(r#"{{"url":"{URL}","events":["*"]}}"#)).await;
    assert_eq!(problems, (vec!["url".to_owned()], "is registered already".to_owned()));
    let second = register(&bed, "https://shop.example/b", r#"["*"]"#).await;
    let moved = with_method(&bed, Method::PATCH, &at(&second), &format!(r#"{{"url":"{URL}"}}"#)).await;
    assert_eq!((moved.status, moved.paths()), (400, vec!["url".to_owned()]));
    let moved = with_method(&bed, Method::PATCH, &at(&second), r#"{"url":"https://internal.example"}"#).await;
    assert_eq!((moved.status, moved.paths()), (400, vec!["url".to_owned()]));
    assert_ne!(first.at("/secret"), second.at("/secret"));
}

#[actix_web::test]
async fn malformed_endpoint_ids_are_400_and_unknown_ones_404() {
    let bed = TestBed::new().await;
    for (method, path) in [
        (Method::GET, String::new()),
        (Method::PATCH, String::new()),
        (Method::DELETE, String::new()),
        (Method::POST, "/rotate-secret".to_owned()),
        (Method::POST, "/test".to_owned()),
        (Method::GET, "/deliveries".to_owned()),
        (Method::POST, "/deliveries/dlv_01h455vb4pex5vsknk084sn02q/resend".to_owned()),
    ] {
        let body = if method == Method::PATCH { "{}" } else { "" };
        let bad = with_method(&bed, method.clone(), &format!("{PATH}/ext:x{path}?a=1"), body).await;
        // DELETE does not read a body, but its parameters and id are checked.
        assert_eq!(bad.status, 400, "{method} {path}: {bad:?}");
        assert!(bad.paths().contains(&"id".to_owned()) && bad.paths().contains(&"a".to_owned()), "{method} {path}");
        let unknown = with_method(&bed, method.clone(), &format!("{UNKNOWN}{path}"), body).await;
        assert_eq!(unknown.error(), (404, "not_found".to_owned()), "{method} {path}");
    }
    let made = register(&bed, URL, r#"["*"]"#).await;
    let bad = post(&bed, &format!("{}/deliveries/evt_1/resend", at(&made)), "", "").await;
    assert_eq!((bad.status, bad.paths()), (400, vec!["delivery_id".to_owned()]));
}

#[actix_web::test]
async fn endpoints_are_limited_to_20_and_suspended_accounts_read() {
    let bed = TestBed::new().await;
    for number in 0..20 {
        register(&bed, &format!("{URL}/{number}"), r#"["*"]"#).await;
    }
    let body = format!(r#"{{"url":"{URL}/20","events":["*"]}}"#);
    assert_eq!(post(&bed, PATH, "", &body).await.error(), (422, "limit_reached".to_owned()));
    let page = get(&bed, &format!("{PATH}?limit=19")).await;
    let next = page.at("/next_starting_after").as_str().unwrap().to_owned();
    assert_eq!(get(&bed, &format!("{PATH}?starting_after={next}")).await.at("/data").as_array().unwrap().len(), 1);

    let bed = TestBed::with(Account { status: AccountStatus::Suspended, ..an_account() }, true).await;
    assert_eq!(post(&bed, PATH, "", &body).await.error(), (403, "account_suspended".to_owned()));
    assert_eq!(post(&bed, PATH, "", "{}").await.status, 400, "the body is checked before the account");
    assert_eq!(get(&bed, PATH).await.status, 200);
}

#[actix_web::test]
async fn webhook_requests_require_their_scope() {
    let bed = TestBed::new().await;
    let reader = bed.key_with(Scopes::parse("webhooks:read,events:read").unwrap()).await;
    let request = |method: Method, path: &str| {
        TestRequest::default().method(method).uri(path).insert_header(("x-api-key", reader.clone()))
    };
    assert_eq!(send(&bed, request(Method::GET, PATH)).await.status, 200);
    for (method, path) in [
        (Method::POST, PATH.to_owned()),
        (Method::PATCH, UNKNOWN.to_owned()),
        (Method::DELETE, UNKNOWN.to_owned()),
        (Method::POST, "/v1/events/evt_01h455vb4pex5vsknk084sn02q/resend".to_owned()),
    ] {
        let seen = send(&bed, request(method.clone(), &path)).await;
        assert_eq!(seen.error(), (403, "insufficient_scope".to_owned()), "{method} {path}");
    }
}

#[actix_web::test]
async fn rotated_secret_differs_each_time() {
    let bed = TestBed::new().await;
    let made = register(&bed, URL, r#"["*"]"#).await;
    let path = format!("{}/rotate-secret", at(&made));
    let mut secrets = vec![made.at("/secret")];
    for body in ["", "{}", r#"{"grace_seconds":0}"#] {
        let rotated = post(&bed, &path, "", body).await;
        assert_eq!((rotated.status, rotated.at("/id")), (200, made.at("/id")), "{rotated:?}");
        assert!(!secrets.contains(&rotated.at("/secret")));
        secrets.push(rotated.at("/secret"));
    }
    assert_eq!(post(&bed, &path, "", r#"{"grace_seconds":604801}"#).await.paths(), ["grace_seconds"]);
}

#[actix_web::test]
async fn test_delivery_appears_with_its_attempts() {
    let bed = TestBed::new().await;
    let made = register(&bed, URL, r#"["charge.paid"]"#).await;
    let tried = post(&bed, &format!("{}/test", at(&made)), "", "").await;
    assert_eq!(
        (tried.status, tried.at("/status"), tried.at("/event_type")),
        (202, "pending".into(), "webhook.test".into())
    );
    assert_eq!(tried.at("/attempts"), serde_json::json!([]));
    assert!(tried.at("/next_attempt_at").is_string());
    *bed.receivers.status.lock().unwrap() = Some(503);
    deliver(&bed).await;
    let path = format!("{}/deliveries", at(&made));
    let failed = get(&bed, &path).await;
    assert_eq!(
        (failed.at("/data/0/id"), failed.at("/data/0/status")),
        (tried.at("/id"), "failed".into()),
        "{failed:?}"
    );
    assert_eq!(
        failed.at("/data/0/attempts/0"),
        serde_json::json!({
            "at": tried.at("/created_at"), "status_code": 503, "duration_ms": 3, "error": "status_not_2xx", "response_body": "so be it",
        })
    );
    *bed.receivers.status.lock().unwrap() = None;
    let again = post(&bed, &format!("{path}/{}/resend", tried.id()), "", "").await;
    assert_eq!(
        (again.status, again.at("/id"), again.at("/status")),
        (202, tried.at("/id"), "pending".into()),
        "{again:?}"
    );
    deliver(&bed).await;
    let page = get(&bed, &path).await;
    assert_eq!(
        (page.at("/data/0/status"), page.at("/data/0/next_attempt_at")),
        ("succeeded".into(), Value::Null),
        "{page:?}"
    );
    assert_eq!(page.at("/data/0/attempts").as_array().unwrap().len(), 2);
    let sent = bed.receivers.sent.lock().unwrap().clone();
    let bodies: Vec<Value> = sent.iter().map(|(_, body)| serde_json::from_slice(body).unwrap()).collect();
    assert_eq!(bodies.first(), bodies.last(), "the same bytes at every attempt");
    let body = bodies.first().unwrap();
    assert_eq!((body.get("sequence"), body.get("type")), (Some(&Value::Null), Some(&"webhook.test".into())));
    assert_eq!(body.get("id"), Some(&tried.at("/event_id")));

    assert_eq!(
        get(&bed, &format!("{path}?starting_after=dlv_01h455vb4pex5vsknk084sn02q")).await.paths(),
        ["starting_after"]
    );
    with_method(&bed, Method::PATCH, &at(&made), r#"{"active":false}"#).await;
    for path in [format!("{}/test", at(&made)), format!("{path}/{}/resend", tried.id())] {
        let seen = post(&bed, &path, "", "").await;
        assert_eq!(seen.error(), (409, "invalid_state".to_owned()), "{path}");
        assert!(seen.at("/error/message").as_str().unwrap().contains("inactive"), "{path}");
    }
}

#[actix_web::test]
async fn postback_url_requires_an_active_endpoint() {
    let bed = TestBed::new().await;
    let charge = |url: &str| format!(r#"{{"amount":10,"postback_url":"{url}"}}"#);
    let refused = (400, "postback_url_not_registered".to_owned());
    for url in [URL, "nonsense", "https://internal.example", ""] {
        assert_eq!(post(&bed, "/v1/charges", "postback-key", &charge(url)).await.error(), refused, "{url}");
    }
    let made = register(&bed, URL, r#"["payout.failed"]"#).await;
    let created = post(&bed, "/v1/charges", "postback-key", &charge(URL)).await;
    assert_eq!(created.status, 201, "{created:?}");
    with_method(&bed, Method::PATCH, &at(&made), r#"{"active":false}"#).await;
    assert_eq!(post(&bed, "/v1/charges", "postback-key-2", &charge(URL)).await.error(), refused);
    assert_eq!(post(&bed, "/v1/charges", "postback-key", &charge(URL)).await.body, created.body, "the stored response");
    with_method(&bed, Method::PATCH, &at(&made), r#"{"active":true}"#).await;
    post(&bed, &format!("/v1/sandbox/charges/{}/pay", created.id()), "", "").await;
    deliver(&bed).await;
    let sent = bed.receivers.sent.lock().unwrap().clone();
    let event: Value = serde_json::from_slice(&sent.first().unwrap().1).unwrap();
    assert_eq!((sent.len(), event.pointer("/data/id")), (1, Some(&created.at("/id"))));
    *bed.receivers.are_closed.lock().unwrap() = true;
    assert_eq!(post(&bed, "/v1/charges", "postback-key-3", &charge(URL)).await.error(), refused);
}
