//! Paths, methods, identifiers in paths, and reserved paths.

use reqwest::Method;
use serde_json::json;

use crate::support::{Engine, Reply, on_both, shared};

on_both! { names_in_paths unknown_paths wrong_methods reserved_capabilities outside_of_the_version }

const UNKNOWN: &str = "chg_01h455vb4pex5vsknk084sn02q";

async fn names_in_paths(engine: Engine) {
    let shop = shared(engine).await.shop();
    for name in [
        "nonsense",
        "chg_",
        "chg_x",
        "CHG_01h455vb4pex5vsknk084sn02q",
        "chg_01H455VB4PEX5VSKNK084SN02Q",
        "pyt_01h455vb4pex5vsknk084sn02q",
        "chg_8zzzzzzzzzzzzzzzzzzzzzzzzz",
        "ext:",
        "chg_%00",
        "%ff",
        "ext:%ff",
        "ext:a%00b",
    ] {
        shop.get(&format!("/charges/{name}")).await.refused(400, "VALIDATION_ERROR");
        shop.post(&format!("/charges/{name}/cancel")).await.refused(400, "VALIDATION_ERROR");
    }
    for name in [UNKNOWN, "ext:nobody", "ext:a%2Fb", "ext:%E8%AA%9E"] {
        shop.get(&format!("/charges/{name}")).await.refused(404, "not_found");
        shop.post(&format!("/charges/{name}/cancel")).await.refused(404, "not_found");
    }
    for (external, encoded) in [
        ("order-1", "order-1"),
        ("a/b", "a%2Fb"),
        ("ç? #%25 &+", "%C3%A7%3F%20%23%2525%20%26%2B"),
        ("ext:x", "ext:x"),
        ("../..", "..%2F.."),
    ] {
        let body = json!({"amount": 10, "external_id": external}).to_string();
        let made = shop.create(body).await.expect(201);
        let found = shop.get(&format!("/charges/ext:{encoded}")).await.expect(200);
        assert_eq!((&found["id"], &found["external_id"]), (&made["id"], &json!(external)));
        let cancelled = shop.post(&format!("/charges/ext:{encoded}/cancel")).await.expect(200);
        assert_eq!((&cancelled["id"], &cancelled["status"]), (&made["id"], &json!("cancelled")));
    }
}

async fn unknown_paths(engine: Engine) {
    let shop = shared(engine).await.shop();
    for path in [
        "",
        "/",
        "/nothing",
        "/charge",
        "/charges/",
        "/charges/a/b/c",
        "/boletosx",
        "/cardsx",
        "/Charges",
        "/balance/x",
    ] {
        for method in [Method::GET, Method::POST] {
            let reply = Reply::of(shop.request(method.clone(), path)).await;
            reply.refused(404, "not_found");
        }
    }
}

async fn wrong_methods(engine: Engine) {
    let shop = shared(engine).await.shop();
    for (method, path) in [
        (Method::DELETE, "/charges".to_owned()),
        (Method::PUT, "/charges".to_owned()),
        (Method::PATCH, "/charges".to_owned()),
        (Method::POST, format!("/charges/{UNKNOWN}")),
        (Method::DELETE, format!("/charges/{UNKNOWN}")),
        (Method::GET, format!("/charges/{UNKNOWN}/cancel")),
        (Method::POST, "/balance".to_owned()),
        (Method::GET, "/sandbox/clock".to_owned()),
    ] {
        let reply = Reply::of(shop.request(method.clone(), &path)).await;
        reply.refused(405, "method_not_allowed");
    }
}

async fn reserved_capabilities(engine: Engine) {
    let shop = shared(engine).await.shop();
    for path in ["/boletos", "/boletos/bol_1", "/boletos/bol_1/cancel", "/cards", "/cards/1", "/boletos/"] {
        for method in [Method::GET, Method::POST, Method::PUT, Method::PATCH, Method::DELETE] {
            let reply = Reply::of(shop.request(method.clone(), path)).await;
            reply.refused(501, "not_implemented");
            assert_eq!(reply.json()["error"]["retryable"], false);
        }
        // The test uses a single method: requests without a key are limited per address, and other tests share the address.
        Reply::of(shop.anonymous(Method::GET, path)).await.refused(401, "missing_api_key");
    }
}

async fn outside_of_the_version(engine: Engine) {
    let shop = shared(engine).await.shop();
    for path in ["/nothing", "/v2/charges", "/charges", "/metrics", "/v1x"] {
        let request = shop.client.get(format!("{}{path}", shop.base)).bearer_auth(&shop.key);
        Reply::of(request).await.refused(404, "not_found");
    }
    let hooked = shop.client.post(format!("{}/callbacks/sandbox/wrong", shop.base)).body("{}");
    assert_eq!(Reply::of(hooked).await.status, 404, "a callback with a wrong token");
}
