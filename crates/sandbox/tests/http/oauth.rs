//! Tests tokens: requests, scopes, expiry.

use serde_json::json;

use crate::bed::{Bed, read, txid};

#[tokio::test]
async fn token_is_issued_for_form_or_json() {
    let bed = Bed::start().await;
    let credentials = &bed.credentials;
    let post = || {
        bed.client.post(bed.url("/oauth/token")).basic_auth(&credentials.client_id, Some(&credentials.client_secret))
    };
    let form = post()
        .header("content-type", "application/x-www-form-urlencoded")
        .body("grant_type=client_credentials&scope=cob.read+pix.read");
    let form = read(form.send().await.unwrap()).await;
    assert_eq!(form.status, 200);
    assert_eq!(form.body["token_type"], "Bearer");
    assert_eq!(form.body["expires_in"], 3600);
    assert_eq!(form.body["scope"], "cob.read pix.read");
    let json = post().json(&json!({ "grant_type": "client_credentials" }));
    let json = read(json.send().await.unwrap()).await;
    assert_eq!(
        json.body["scope"],
        "cob.write cob.read pix.write pix.read webhook.write webhook.read pix.send gn.pix.send.read gn.balance.read \
         gn.infractions.read gn.infractions.write"
    );
    assert_ne!(json.body["access_token"], form.body["access_token"]);
}

#[tokio::test]
async fn bad_token_request_is_refused_in_rfc_form() {
    let bed = Bed::start().await;
    let (id, secret) = (bed.credentials.client_id.as_str(), bed.credentials.client_secret.as_str());
    let form = "application/x-www-form-urlencoded";
    let cases = [
        (id, "wrong", form, "grant_type=client_credentials", 401, "invalid_client"),
        ("wrong", secret, form, "grant_type=client_credentials", 401, "invalid_client"),
        (id, secret, form, "grant_type=password", 400, "unsupported_grant_type"),
        (id, secret, form, "", 400, "invalid_request"),
        (id, secret, form, "grant_type=client_credentials&more=1", 400, "invalid_request"),
        (id, secret, form, "grant_type=client_credentials&scope=cobv.read", 400, "invalid_scope"),
        (id, secret, "application/json", "grant_type=client_credentials", 400, "invalid_request"),
        (id, secret, "text/plain", "grant_type=client_credentials", 400, "invalid_request"),
    ];
    for (id, secret, content_type, body, status, error) in cases {
        let request = bed.client.post(bed.url("/oauth/token")).basic_auth(id, Some(secret));
        let request = request.header("content-type", content_type).body(body);
        let answer = read(request.send().await.unwrap()).await;
        assert_eq!((answer.status, answer.body["error"].as_str().unwrap()), (status, error), "{content_type} {body}");
        assert!(answer.body["error_description"].is_string());
    }
}

#[tokio::test]
async fn request_without_valid_token_is_refused() {
    let mut bed = Bed::start().await;
    let path = format!("/v2/cob/{}", txid(1));
    let bare = read(bed.client.get(bed.url(&path)).send().await.unwrap()).await;
    assert_eq!((bare.status, bare.kind()), (401, "AcessoNegado"));
    assert_eq!(bed.get(&path).await.status, 404);
    bed.control.set_clock_offset(3599).unwrap();
    assert_eq!(bed.get(&path).await.status, 404);
    bed.control.set_clock_offset(3601).unwrap();
    assert_eq!(bed.get(&path).await.status, 401);
    bed.token = "unknown".to_owned();
    assert_eq!(bed.get(&path).await.status, 401);
}

#[tokio::test]
async fn token_allows_only_its_scopes() {
    let mut bed = Bed::start().await;
    bed.token = bed.token_for(Some("cob.read")).await;
    let path = format!("/v2/cob/{}", txid(1));
    assert_eq!(bed.get(&path).await.status, 404);
    let answer = bed.put(&path, &bed.cob("1.00")).await;
    assert_eq!((answer.status, answer.kind()), (403, "AcessoNegado"));
}

#[tokio::test]
async fn own_paths_refuse_tokens_in_efi_form() {
    let mut bed = Bed::start().await;
    let refused = "insufficient_scope";
    let cases = [
        ("gn.pix.send.read", "/v2/gn/saldo", "gn.balance.read"),
        ("gn.balance.read", "/v2/gn/pix/enviados/id-envio/a", "gn.pix.send.read"),
        ("gn.balance.read", "/v2/gn/pix/enviados?inicio=x", "gn.pix.send.read"),
    ];
    for (granted, path, missing) in cases {
        bed.token = bed.token_for(Some(granted)).await;
        let answer = bed.get(path).await;
        let description = format!("the token lacks the scope {missing}");
        assert_eq!(
            (answer.status, answer.body),
            (403, json!({ "error": refused, "error_description": description })),
            "{path}"
        );
    }
    let answer = bed.send("a", "1.00", "a@example.com").await;
    assert_eq!((answer.status, &answer.body["error"]), (403, &json!(refused)));
    bed.token = "unknown".to_owned();
    let answer = bed.send("a", "1.00", "a@example.com").await;
    let description = "the token is unknown or has expired";
    assert_eq!(
        (answer.status, answer.body),
        (401, json!({ "error": "invalid_token", "error_description": description }))
    );
    assert_eq!(bed.control.ledger().unwrap().sent.count, 0);
}
