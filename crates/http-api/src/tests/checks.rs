//! Tests the order of checks, and the common headers of responses.

use std::sync::atomic::Ordering;

use actix_web::http::Method;
use cais_domain::charge::{Charge, ChargeTerms};
use cais_domain::merchant::account::{Account, AccountStatus};
use cais_domain::merchant::api_key::Scopes;
use cais_domain::text::{LineBreaks, Text};
use cais_ports::{PageRequest, Store as _};
use cais_testkit::builders::{an_account, pending_charge, steps};

use super::bed::{LIMIT, TOKEN};
use super::*;

#[actix_web::test]
async fn paths_below_v1_require_a_key() {
    let bed = TestBed::new().await;
    for (method, path) in [
        (Method::GET, "/v1"),
        (Method::GET, "/v1/"),
        (Method::GET, "/v1/nowhere"),
        (Method::POST, "/v1/charges"),
        (Method::DELETE, "/v1/charges"),
        (Method::PATCH, "/v1/boletos/1"),
        (Method::POST, "/v1/sandbox/charges/x/pay"),
    ] {
        let seen = send(&bed, TestRequest::default().method(method.clone()).uri(path)).await;
        assert_eq!(seen.error(), (401, "missing_api_key".to_owned()), "{method} {path}");
        assert!(seen.header("x-ratelimit-limit").is_none(), "{method} {path}");
        assert_eq!(seen.header("x-request-id"), seen.at("/request_id").as_str());
        assert_eq!(seen.header("www-authenticate"), Some("Bearer"));
    }
}

#[actix_web::test]
async fn invalid_keys_are_rejected() {
    let bed = TestBed::new().await;
    let other = bed.key_with(Scopes::all()).await;
    let unknown = format!("key_{}_{}", "0".repeat(12), "0".repeat(43));
    let wrong_secret = format!("{}_{}", bed.key.rsplit_once('_').unwrap().0, "0".repeat(43));
    for key in ["", "nonsense", &unknown, &wrong_secret] {
        let seen = send(&bed, TestRequest::get().uri("/v1/balance").insert_header(("x-api-key", key))).await;
        assert_eq!(seen.error(), (401, "invalid_api_key".to_owned()), "{key}");
    }
    let both = |key: &str| {
        let request = TestRequest::get().uri("/v1/balance").insert_header(("x-api-key", bed.key.as_str()));
        request.insert_header(("authorization", format!("Bearer {key}")))
    };
    assert_eq!(send(&bed, both(&other)).await.error(), (401, "invalid_api_key".to_owned()));
    assert_eq!(send(&bed, both(&bed.key)).await.status, 200);
}

#[actix_web::test]
async fn request_with_many_errors_fails_in_the_order_of_checks() {
    let bed = TestBed::with(Account { status: AccountStatus::Suspended, ..an_account() }, true).await;
    let reader = bed.key_with(Scopes::parse("charges:read").unwrap()).await;
    let build = |path: &str, key: &str| {
        TestRequest::post().uri(path).insert_header(("x-api-key", key)).insert_header(("content-type", "text/plain"))
    };
    let big = "x".repeat(64 * 1024 + 1);
    let charge = "/v1/charges";

    bed.rates.leave(0);
    let seen = send(&bed, build("/v1/nowhere", &reader).set_payload(big.clone())).await;
    assert_eq!(seen.error(), (429, "rate_limit_exceeded".to_owned()));
    assert_eq!((seen.header("retry-after"), seen.at("/error/retry_after").as_u64()), (Some("42"), Some(42)));
    assert_eq!(seen.at("/error/retryable"), true);

    bed.rates.leave(LIMIT);
    let seen = send(&bed, build("/v1/nowhere", &reader).set_payload(big.clone())).await;
    assert_eq!(seen.error(), (404, "not_found".to_owned()));
    let seen = send(&bed, build("/v1/balance", &reader).set_payload(big.clone())).await;
    assert_eq!((seen.error(), seen.header("allow")), ((405, "method_not_allowed".to_owned()), Some("GET, HEAD")));
    let seen = send(&bed, build(charge, &reader).set_payload(big.clone())).await;
    assert_eq!(seen.error(), (403, "insufficient_scope".to_owned()));
    assert!(seen.at("/error/message").as_str().unwrap().contains("charges:write"));
    let seen = send(&bed, build(charge, &bed.key).set_payload(big)).await;
    assert_eq!(seen.error(), (413, "payload_too_large".to_owned()));
    let seen = send(&bed, build(charge, &bed.key).set_payload("nonsense")).await;
    assert_eq!(seen.error(), (415, "unsupported_media_type".to_owned()));
    assert_eq!(post(&bed, charge, "", "nonsense").await.error(), (400, "idempotency_key_required".to_owned()));
    assert_eq!(post(&bed, charge, "short", "nonsense").await.error(), (400, "invalid_idempotency_key".to_owned()));
    assert_eq!(post(&bed, charge, "long-enough", "nonsense").await.error(), (400, "VALIDATION_ERROR".to_owned()));
    let rule = r#"{"amount":10,"split_rule_id":"x","postback_url":"https://a.example"}"#;
    assert_eq!(post(&bed, charge, "long-enough", rule).await.error(), (422, "split_not_available".to_owned()));
    // The suspension is found before the unknown postback URL. Both are checked only if no response is stored under the key.
    let url = r#"{"amount":10,"postback_url":"https://a.example"}"#;
    assert_eq!(post(&bed, charge, "long-enough", url).await.error(), (403, "account_suspended".to_owned()));
    assert_eq!(get(&bed, charge).await.status, 200, "a suspended account may read");
}

/// The router of actix decodes percent-escapes before it compares a path. `middleware::match_as_sent` prevents that.
#[actix_web::test]
async fn path_with_escaped_letters_matches_no_route() {
    let bed = TestBed::new().await;
    for path in ["/v1/char%67es", "/%761/charges", "/v1/charges%2F"] {
        assert_eq!(get(&bed, path).await.error(), (404, "not_found".to_owned()), "{path}");
    }
    let id = "chg_01h455vb4pex5vsknk084sn02q";
    assert_eq!(get(&bed, &format!("/v1/charges/{id}/c%61ncel")).await.status, 404);
    for (name, status) in [("ext:%41", 404), ("ext:%2541", 404), ("ext:%ff", 400), ("%4%31", 400)] {
        assert_eq!(get(&bed, &format!("/v1/charges/{name}")).await.status, status, "{name}");
    }
    let callback = format!("/callbacks/main/{}", TOKEN.replace('-', "%2D"));
    assert_eq!(send(&bed, TestRequest::post().uri(&callback)).await.error(), (404, "not_found".to_owned()));
}

#[actix_web::test]
async fn authenticated_responses_have_rate_limit_and_request_id() {
    let bed = TestBed::new().await;
    let mut ids = std::collections::BTreeSet::new();
    for (index, path) in
        ["/v1/balance", "/v1/nowhere", "/v1/cards", "/v1/charges/nope", "/v1/charges?limit=0"].iter().enumerate()
    {
        let seen = get(&bed, path).await;
        let remaining = (LIMIT - 1 - u32::try_from(index).unwrap()).to_string();
        let reset = (bed.state.ports.clock.now().as_second() + 42).to_string();
        assert_eq!(seen.header("x-ratelimit-limit"), Some("600"), "{path}");
        assert_eq!(seen.header("x-ratelimit-remaining"), Some(remaining.as_str()), "{path}");
        assert_eq!(seen.header("x-ratelimit-reset"), Some(reset.as_str()), "{path}");
        let id = seen.header("x-request-id").unwrap().to_owned();
        assert!(id.starts_with("req_") && ids.insert(id), "{path}");
    }
}

#[actix_web::test]
async fn handler_panic_returns_internal_error_with_headers() {
    let bed = TestBed::new().await;
    let created = post(&bed, "/v1/charges", "panic-key", r#"{"amount":10,"description":"panic"}"#).await;
    assert_eq!(created.error(), (500, "internal_error".to_owned()));
    assert!(!String::from_utf8(created.body.clone()).unwrap().contains("as asked"));
    assert_eq!(created.header("x-request-id"), created.at("/request_id").as_str());
    assert_eq!(created.header("x-ratelimit-remaining"), Some("599"));
    let description = Text::parse("panic", 140, LineBreaks::Refused).unwrap();
    let charge = pending_charge(bed.account.id);
    let charge = Charge { terms: ChargeTerms { description: Some(description), ..charge.terms.clone() }, ..charge };
    bed.store.commit(steps::open_charge(&charge)).await.unwrap();
    for path in [format!("/v1/charges/{}", charge.id), "/v1/charges".to_owned()] {
        let seen = get(&bed, &path).await;
        assert_eq!(seen.error(), (500, "internal_error".to_owned()), "{path}");
        assert!(seen.header("x-request-id").is_some() && seen.header("x-ratelimit-limit").is_some(), "{path}");
    }
}

#[actix_web::test]
async fn request_without_store_is_503_with_retry_after() {
    let bed = TestBed::new().await;
    assert_eq!(get(&bed, "/v1/balance").await.status, 200);
    bed.store.set_unreachable(true);
    let seen = get(&bed, "/v1/balance").await;
    assert_eq!(seen.error(), (503, "service_unavailable".to_owned()));
    assert_eq!(seen.header("retry-after").unwrap(), seen.at("/error/retry_after").to_string());
    bed.clock.advance(std::time::Duration::from_mins(1));
    assert_eq!(
        get(&bed, "/v1/balance").await.error(),
        (503, "service_unavailable".to_owned()),
        "the key cannot be looked up"
    );
}

#[actix_web::test]
async fn reserved_paths_return_501_with_a_key() {
    let bed = TestBed::new().await;
    for (method, path) in [
        (Method::GET, "/v1/boletos"),
        (Method::POST, "/v1/boletos"),
        (Method::DELETE, "/v1/boletos/1/2"),
        (Method::PATCH, "/v1/cards"),
        (Method::OPTIONS, "/v1/cards/x"),
    ] {
        let request =
            TestRequest::default().method(method.clone()).uri(path).insert_header(("x-api-key", bed.key.as_str()));
        let seen = send(&bed, request.set_payload("nonsense")).await;
        assert_eq!(seen.error(), (501, "not_implemented".to_owned()), "{method} {path}");
    }
    assert_eq!(get(&bed, "/v1/boletosx").await.status, 404);
}

#[actix_web::test]
async fn head_request_is_served_like_a_get() {
    let bed = TestBed::new().await;
    let request =
        TestRequest::default().method(Method::HEAD).uri("/v1/balance").insert_header(("x-api-key", bed.key.as_str()));
    assert_eq!(send(&bed, request).await.status, 200);
}

#[actix_web::test]
async fn draining_service_is_alive_but_not_ready() {
    let bed = TestBed::new().await;
    assert_eq!(send(&bed, TestRequest::get().uri("/readyz")).await.status, 200);
    bed.state.draining.store(true, Ordering::SeqCst);
    assert_eq!(send(&bed, TestRequest::get().uri("/readyz")).await.error(), (503, "service_unavailable".to_owned()));
    assert_eq!(send(&bed, TestRequest::get().uri("/healthz")).await.status, 200);
}

#[actix_web::test]
async fn responses_have_their_security_and_cache_headers() {
    let bed = TestBed::new().await;
    for (path, has_key, caching) in [
        ("/healthz", false, None),
        ("/v1/openapi.json", true, Some("public, no-cache")),
        ("/v1/balance", true, Some("no-store")),
        ("/v1/balance", false, None),
    ] {
        let request = TestRequest::get().uri(path);
        let request = if has_key { request.insert_header(("x-api-key", bed.key.as_str())) } else { request };
        let seen = send(&bed, request).await;
        assert_eq!(seen.header("x-content-type-options"), Some("nosniff"), "{path}");
        assert_eq!(seen.header("referrer-policy"), Some("same-origin"), "{path}");
        assert_eq!(seen.header("cache-control"), caching, "{path}");
    }
}

/// The proxies of 192.0.2.0/24 are trusted.
#[actix_web::test]
async fn address_list_applies_to_client_behind_trusted_proxy() {
    let bed = TestBed::new().await;
    let key = bed.key_from("203.0.113.0/24").await;
    for (peer, forwarded, status) in [
        ("203.0.113.9:1", None, 200),
        ("198.51.100.1:1", Some("203.0.113.9"), 401),
        ("192.0.2.1:1", Some("203.0.113.9"), 200),
        ("192.0.2.1:1", Some("203.0.113.9, 198.51.100.1"), 401),
        ("192.0.2.1:1", None, 401),
    ] {
        let request = TestRequest::get().uri("/v1/balance").peer_addr(peer.parse().unwrap());
        let request = request.insert_header(("x-api-key", key.as_str()));
        let request = match forwarded {
            Some(forwarded) => request.insert_header(("x-forwarded-for", forwarded)),
            None => request,
        };
        assert_eq!(send(&bed, request).await.status, status, "{peer} {forwarded:?}");
    }
}

#[actix_web::test]
async fn address_that_guesses_keys_is_limited_before_the_store() {
    let bed = TestBed::new().await;
    let send_with_key = async |peer: &str, key: &str| {
        let request = TestRequest::get().uri("/v1/balance").peer_addr(peer.parse().unwrap());
        send(&bed, request.insert_header(("x-api-key", key))).await
    };
    let (guesser, other) = ("198.51.100.1:1", "198.51.100.2:1");
    let unknown = format!("key_{}_{}", "0".repeat(12), "0".repeat(43));
    assert_eq!(send_with_key(guesser, &bed.key).await.status, 200);
    // The bucket gains tokens during the loop, so the number of failures before the refusal is not fixed.
    let mut refused = None;
    for _ in 0..10_000 {
        let seen = send_with_key(guesser, &unknown).await;
        if seen.status != 401 {
            refused = Some(seen);
            break;
        }
    }
    let refused = refused.unwrap();
    assert_eq!(refused.error(), (429, "rate_limit_exceeded".to_owned()));
    assert!(refused.header("retry-after").is_some(), "{refused:?}");
    // A key that was valid recently is accepted without reading the store, and other addresses are not limited.
    assert_eq!(send_with_key(guesser, &bed.key).await.status, 200);
    assert_eq!(send_with_key(other, &unknown).await.error(), (401, "invalid_api_key".to_owned()));
}

/// The limit applies to each kind of failure, because each kind writes log lines.
#[actix_web::test]
async fn address_without_a_valid_key_is_limited() {
    let bed = TestBed::new().await;
    for (number, key) in [(1, None), (2, Some("nope"))] {
        let mut refused = None;
        for _ in 0..10_000 {
            let request = TestRequest::get().uri("/v1/balance");
            let request = request.peer_addr(format!("198.51.100.{number}:1").parse().unwrap());
            let request = key.into_iter().fold(request, |request, key| request.insert_header(("x-api-key", key)));
            let seen = send(&bed, request).await;
            if seen.status != 401 {
                refused = Some(seen);
                break;
            }
        }
        assert_eq!(refused.unwrap().error(), (429, "rate_limit_exceeded".to_owned()), "{key:?}");
    }
}

#[actix_web::test]
async fn answered_request_is_logged_without_its_query() {
    let bed = TestBed::new().await;
    let get = |path: &str| TestRequest::get().uri(path).insert_header(("x-api-key", bed.key.as_str()));
    let long = format!("/v1/charges/{}", "x".repeat(500));
    let responses = [
        send(&bed, get("/v1/charges?starting_after=11144477735")).await,
        send(&bed, get("/v1/balance")).await,
        send(&bed, get(&long)).await,
        send(&bed, TestRequest::get().uri("/v1/balance")).await,
        send(&bed, TestRequest::get().uri("/healthz")).await,
    ];
    bed.state.requests.store(&bed.state.ports).await.unwrap();
    let page = PageRequest { limit: 10, starting_after: None };
    let account = bed.account.id;
    let logged = bed.state.ports.queries.list_requests(account, page).await.unwrap().rows;
    let seen: Vec<(&str, u16)> = logged.iter().rev().map(|row| (row.path.as_str(), row.status)).collect();
    let long: String = long.chars().take(200).collect();
    assert_eq!(seen, [("/v1/charges", 400), ("/v1/balance", 200), (long.as_str(), 400)]);
    let ids: Vec<String> = logged.iter().rev().map(|row| row.id.to_string()).collect();
    let own_ids = responses.iter().take(3).map(|response| response.header("x-request-id").unwrap().to_owned());
    assert_eq!(ids, own_ids.collect::<Vec<_>>());
    assert!(logged.iter().all(|row| row.method == "GET" && bed.key.contains(row.key.as_str())));
}
