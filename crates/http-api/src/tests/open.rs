//! Tests the routes that need no key, and the documented scope of all other routes.

use std::collections::BTreeSet;
use std::io::Read as _;

use actix_web::http::Method;
use cais_domain::merchant::api_key::Scopes;
use cais_testkit::builders::an_account;
use flate2::read::GzDecoder;

use super::*;

/// Limit of the compressed `OpenAPI` document, so that the page `/docs` loads fast.
const MAX_DOCUMENT_BYTES: usize = 300 * 1024;

#[actix_web::test]
async fn document_is_served_byte_for_byte() {
    let bed = TestBed::new().await;
    let first = send(&bed, TestRequest::get().uri("/v1/openapi.json")).await;
    assert_eq!((first.status, first.header("content-type")), (200, Some("application/json")));
    assert_eq!(String::from_utf8(first.body.clone()).unwrap(), super::super::openapi::document().unwrap());
    assert_eq!(send(&bed, TestRequest::get().uri("/v1/openapi.json")).await.body, first.body);
    assert_eq!(
        send(&bed, TestRequest::post().uri("/v1/openapi.json")).await.error(),
        (405, "method_not_allowed".to_owned())
    );
}

/// Requests every operation of the document twice. The first key has all scopes except the documented one, and the second key has only that
/// scope. An operation that is not served would return 404 or 405. Only a path with an id may return 404, because the
/// resource does not exist.
#[actix_web::test]
async fn operations_are_served_under_their_documented_scope() {
    let bed = TestBed::new().await;
    let document: Value = serde_json::from_str(&super::super::openapi::document().unwrap()).unwrap();
    let paths = document.get("paths").unwrap().as_object().unwrap();
    let mut served = 0;
    for (path, item) in paths {
        let by_id_alone = [
            ("/v1/infractions/", "inf_01h455vb4pex5vsknk084sn02q"),
            ("/v1/sandbox/infractions/", "inf_01h455vb4pex5vsknk084sn02q"),
            ("/v1/webhook-endpoints/", "whe_01h455vb4pex5vsknk084sn02q"),
            ("/v1/events/", "evt_01h455vb4pex5vsknk084sn02q"),
        ];
        let id = by_id_alone.iter().find(|(before, _)| path.starts_with(before)).map_or("ext:x", |(_, id)| *id);
        let concrete = path.replace("{id}", id).replace("{delivery_id}", "dlv_01h455vb4pex5vsknk084sn02q");
        for (method, operation) in item.as_object().unwrap() {
            let text = operation.get("description").unwrap().as_str().unwrap();
            let scope = text.rsplit_once("Scope: `").unwrap().1.trim_end_matches("`.");
            let own = Scopes::parse(scope).unwrap();
            let others = Scopes::all().to_string();
            let others: Vec<&str> = others.split(',').map(str::trim).filter(|other| *other != scope).collect();
            let (permitted, refused) =
                (bed.key_with(own).await, bed.key_with(Scopes::parse(&others.join(",")).unwrap()).await);
            let send_with_key = async |key: &str| {
                bed.rates.leave(super::bed::LIMIT);
                let method = Method::from_bytes(method.to_uppercase().as_bytes()).unwrap();
                let request = TestRequest::default().method(method).uri(&concrete).insert_header(("x-api-key", key));
                send(&bed, request.insert_header(("content-type", "application/json")).set_payload("")).await
            };
            let seen = send_with_key(&refused).await;
            assert_eq!(seen.error(), (403, "insufficient_scope".to_owned()), "{method} {path}");
            assert!(seen.at("/error/message").as_str().unwrap().contains(scope), "{method} {path}: {seen:?}");
            let seen = send_with_key(&permitted).await;
            let by_name = path.contains("{id}") && seen.status == 404;
            assert!(!matches!(seen.status, 403..=405) || by_name, "{method} {path}: {seen:?}");
            served += 1;
        }
    }
    assert!(served > 30, "only {served}");
}

#[actix_web::test]
async fn metrics_are_on_the_admin_address_only() {
    let bed = TestBed::with(an_account(), false).await;
    assert_eq!(send(&bed, TestRequest::get().uri("/metrics")).await.error(), (404, "not_found".to_owned()));
    let admin = app(&bed.state, Listener::Admin).await;
    let seen = send_to(&admin, TestRequest::get().uri("/metrics")).await;
    assert_eq!(seen.status, 200);
    assert!(seen.header("content-type").unwrap().starts_with("text/plain"));
    assert_eq!(send_to(&admin, TestRequest::get().uri("/healthz")).await.status, 200);
    assert_eq!(send_to(&admin, TestRequest::get().uri("/readyz")).await.status, 200);
    assert_eq!(send_to(&admin, TestRequest::get().uri("/docs")).await.status, 404);
    let seen = send_to(&admin, TestRequest::get().uri("/v1/balance")).await;
    assert_eq!(seen.error(), (401, "missing_api_key".to_owned()));
    let known = TestRequest::get().uri("/v1/balance").insert_header(("x-api-key", bed.key.as_str()));
    assert_eq!(send_to(&admin, known).await.error(), (404, "not_found".to_owned()));
}

#[actix_web::test]
async fn service_without_store_is_alive_but_not_ready() {
    let bed = TestBed::new().await;
    bed.store.set_unreachable(true);
    let seen = send(&bed, TestRequest::get().uri("/readyz")).await;
    assert_eq!(seen.error(), (503, "service_unavailable".to_owned()));
    assert_eq!(seen.at("/error/message"), "The service is temporarily unavailable.", "only the log line has the cause");
    assert_eq!(send(&bed, TestRequest::get().uri("/healthz")).await.status, 200);
}

#[actix_web::test]
async fn documentation_loads_nothing_from_other_hosts() {
    let bed = TestBed::new().await;
    let seen = send(&bed, TestRequest::get().uri("/docs")).await;
    assert_eq!((seen.status, seen.header("location")), (308, Some("/docs/")));
    let index = send(&bed, TestRequest::get().uri("/docs/")).await;
    assert_eq!(index.status, 200);
    assert!(index.header("content-type").unwrap().starts_with("text/html"));
    assert!(index.header("content-security-policy").unwrap().starts_with("default-src 'self'"));
    let page = String::from_utf8(index.body).unwrap();
    assert!(page.contains("<title>Cais API</title>"), "{page}");
    assert!(!page.contains("http://") && !page.contains("https://") && !page.contains("\"//"), "{page}");
    let parts: BTreeSet<_> = ["src=\"", "href=\""]
        .iter()
        .flat_map(|before| page.split(before).skip(1))
        .map(|rest| rest.split('"').next().unwrap())
        .collect();
    assert!(parts.len() >= 3, "{parts:?}");
    for part in parts {
        let path = if part.starts_with('/') { part.to_owned() } else { format!("/docs/{part}") };
        let seen = send(&bed, TestRequest::get().uri(&path)).await;
        assert_eq!(seen.status, 200, "{path}");
        if part.contains("initializer") {
            let script = String::from_utf8(seen.body).unwrap();
            assert!(script.contains("/v1/openapi.json") && script.contains("validatorUrl: \"none\""), "{script}");
            assert!(!script.contains("https://"), "{script}");
        }
    }
    assert_eq!(send(&bed, TestRequest::get().uri("/docs/nothing.js")).await.error(), (404, "not_found".to_owned()));
}

/// `swagger-initializer.js` displays the security schemes without resolving references.
#[actix_web::test]
async fn security_schemes_of_the_document_have_no_references() {
    let bed = TestBed::new().await;
    let schemes = send(&bed, TestRequest::get().uri("/v1/openapi.json")).await.at("/components/securitySchemes");
    assert!(schemes.as_object().is_some_and(|schemes| !schemes.is_empty()), "{schemes}");
    assert!(!schemes.to_string().contains("$ref"), "{schemes}");
}

#[actix_web::test]
async fn document_and_pages_are_compressed_and_revalidated() {
    let bed = TestBed::new().await;
    for path in ["/v1/openapi.json", "/docs/", "/docs/swagger-ui-bundle.js"] {
        let get = || TestRequest::get().uri(path);
        let plain = send(&bed, get()).await;
        assert_eq!((plain.status, plain.header("content-encoding")), (200, None), "{path}");
        assert_eq!(plain.header("cache-control"), Some("public, no-cache"), "{path}");
        assert_eq!(plain.header("vary"), Some("accept-encoding"), "{path}");
        for refused in ["br", "gzip;q=0", "gzip; q=0.0", "gzip;Q=0"] {
            let seen = send(&bed, get().insert_header(("accept-encoding", refused))).await;
            assert_eq!(seen.header("content-encoding"), None, "{path} {refused}");
        }
        let small = send(&bed, get().insert_header(("accept-encoding", "br, gzip;q=0.8"))).await;
        assert_eq!(small.header("content-encoding"), Some("gzip"), "{path}");
        assert!(small.body.len() < plain.body.len(), "{path}");
        let most = if path == "/v1/openapi.json" { MAX_DOCUMENT_BYTES } else { usize::MAX };
        assert!(small.body.len() <= most, "{path}: {} bytes", small.body.len());
        let mut unpacked = Vec::new();
        GzDecoder::new(&*small.body).read_to_end(&mut unpacked).unwrap();
        assert!(unpacked == plain.body, "{path}: the unpacked bytes differ");
        let etag = plain.header("etag").unwrap();
        assert_eq!(small.header("etag"), Some(etag), "{path}");
        let (strong, several) = (etag.trim_start_matches("W/"), format!("\"a\", {etag}"));
        for (known, status) in [(etag, 304), (strong, 304), ("W/\"other\"", 200), (&*several, 304), ("*", 304)] {
            let seen = send(&bed, get().insert_header(("if-none-match", known))).await;
            assert_eq!((seen.status, seen.body.is_empty()), (status, status == 304), "{path} {known}");
            assert_eq!(seen.header("etag"), Some(etag), "{path} {known}");
        }
    }
}

#[actix_web::test]
async fn root_without_dashboard_names_the_documentation() {
    let bed = TestBed::new().await;
    let seen = send(&bed, TestRequest::get().uri("/")).await;
    assert_eq!(seen.error(), (404, "not_found".to_owned()));
    assert!(seen.at("/error/message").to_string().contains("/docs"));
}
