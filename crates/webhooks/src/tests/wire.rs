//! Tests the format of requests, and ordinary answers.

use std::collections::{HashMap, HashSet};
use std::process::Command;

use cais_ports::secret_cipher::SigningSecret;
use cais_ports::webhooks::{AttemptError, Outgoing, WebhookSender as _};
use jiff::Timestamp;
use reqwest::header::HeaderMap;
use standardwebhooks::Webhook;

use super::server::{Act, Seen, Server, answer};
use super::{BODY, PATIENT, at, event_id, outcome, send, send_at, sender, webhook_url};
use crate::signing::signatures;

fn ok() -> Act {
    Act::Reply(answer("200 OK", "", "thanks"))
}

#[tokio::test]
async fn webhook_is_one_signed_post() {
    let server = Server::always(ok()).await;
    let sent = send(&sender(PATIENT), &format!("{}?tenant=a%20b#not-sent", server.url())).await;
    assert_eq!(outcome(&sent), "200 ok");
    assert_eq!((sent.response_body.as_deref(), sent.retry_after), (Some("thanks"), None));

    let [seen]: [Seen; 1] = server.seen().try_into().unwrap();
    assert_eq!((seen.method.as_str(), seen.target.as_str(), &*seen.body), ("POST", "/hook?tenant=a%20b", BODY));
    let secrets = [SigningSecret([1; 32]), SigningSecret([2; 32])];
    for (name, wanted) in [
        ("content-type", "application/json".to_owned()),
        ("user-agent", format!("Cais/{}", env!("CARGO_PKG_VERSION"))),
        ("host", format!("127.0.0.1:{}", server.port())),
        ("content-length", BODY.len().to_string()),
        ("webhook-id", event_id().to_string()),
        ("webhook-timestamp", "1760000000".to_owned()),
        ("webhook-signature", signatures(&secrets, &event_id().to_string(), 1_760_000_000, BODY)),
    ] {
        assert_eq!(seen.header(name), wanted, "{name}");
    }
    let known = ["accept", "content-length", "content-type", "host", "user-agent"];
    let known: HashSet<_> = known.into_iter().chain(["webhook-id", "webhook-signature", "webhook-timestamp"]).collect();
    assert_eq!(seen.headers.keys().map(String::as_str).collect::<HashSet<_>>(), known);
}

#[tokio::test]
async fn published_library_verifies_the_webhook() {
    let server = Server::always(ok()).await;
    #[expect(clippy::disallowed_methods, reason = "the library compares with the wall clock and accepts no other")]
    let now = Timestamp::now();
    assert_eq!(outcome(&send_at(&sender(PATIENT), &server.url(), now, BODY).await), "200 ok");
    let [seen]: [Seen; 1] = server.seen().try_into().unwrap();
    let headers: HeaderMap = (&seen.headers.into_iter().collect::<HashMap<_, _>>()).try_into().unwrap();
    for (byte, wanted) in [(1, true), (2, true), (3, false)] {
        let receiver = Webhook::new(&SigningSecret([byte; 32]).reveal()).unwrap();
        assert_eq!(receiver.verify(&seen.body, &headers).is_ok(), wanted, "{byte}");
        assert!(receiver.verify(b"{}", &headers).is_err());
    }
}

#[tokio::test]
async fn every_status_is_classified() {
    for (status, wanted) in [
        (200, "200 ok"),
        (201, "201 ok"),
        (204, "204 ok"),
        (299, "299 ok"),
        (300, "300 redirected"),
        (304, "304 redirected"),
        (400, "400 status_not_2xx"),
        (404, "404 status_not_2xx"),
        (410, "410 status_not_2xx"),
        (429, "429 status_not_2xx"),
        (500, "500 status_not_2xx"),
        (503, "503 status_not_2xx"),
        (999, "999 status_not_2xx"),
    ] {
        let server = Server::always(Act::Reply(answer(&format!("{status} X"), "", ""))).await;
        assert_eq!(outcome(&send(&sender(PATIENT), &server.url()).await), wanted);
        assert_eq!(server.seen().len(), 1);
    }
}

#[tokio::test]
async fn retry_after_is_read_only_from_failures() {
    let date = (at() + jiff::SignedDuration::from_secs(90)).strftime("%a, %d %b %Y %H:%M:%S GMT").to_string();
    for (status, value, wanted_ms) in [
        ("503 X", "120", Some(120_000)),
        ("429 X", "7", Some(7_000)),
        // A date has whole seconds, but the instant of the attempt has fractions.
        ("503 X", date.as_str(), Some(89_001)),
        ("429 X", date.as_str(), Some(89_001)),
        ("500 X", "5", Some(5_000)),
        ("503 X", "soon", None),
        ("200 OK", "120", None),
    ] {
        let server = Server::always(Act::Reply(answer(status, &format!("retry-after: {value}\r\n"), ""))).await;
        let sent = send(&sender(PATIENT), &server.url()).await;
        assert_eq!(sent.retry_after.map(|pause| pause.as_millis()), wanted_ms, "{status} {value}");
        assert_eq!(sent.response_body, None);
    }
}

#[tokio::test]
async fn connections_are_reused_also_after_failures() {
    let server = Server::start(None, |_, nth| {
        Act::Reply(answer(if nth % 2 == 0 { "200 OK" } else { "500 X" }, "", &"x".repeat(10_000)))
    })
    .await;
    let sender = sender(PATIENT);
    for nth in 0..20 {
        let wanted = if nth % 2 == 0 { "200 ok" } else { "500 status_not_2xx" };
        assert_eq!(outcome(&send(&sender, &server.url()).await), wanted);
    }
    assert_eq!((server.seen().len(), server.connections()), (20, 1));
}

#[tokio::test]
async fn closed_connection_is_replaced() {
    let server = Server::always(Act::ReplyThenClose(answer("200 OK", "connection: close\r\n", ""))).await;
    let sender = sender(PATIENT);
    for _ in 0..5 {
        assert_eq!(outcome(&send(&sender, &server.url()).await), "200 ok");
    }
    assert_eq!((server.seen().len(), server.connections()), (5, 5));
}

#[tokio::test]
async fn webhook_without_secret_is_not_sent() {
    let server = Server::always(ok()).await;
    let url = webhook_url(&server.url());
    let sent = sender(PATIENT).send(Outgoing { url: &url, id: event_id(), at: at(), secrets: &[], body: BODY }).await;
    assert_eq!((sent.error, sent.status_code), (Some(AttemptError::Unsigned), None));
    assert_eq!(server.connections(), 0);
}

/// A proxy in the environment would resolve names, so it must be ignored. The environment belongs to the whole process,
/// so another process runs `webhook_is_one_signed_post` with the proxy.
#[tokio::test]
async fn proxy_of_the_environment_is_not_used() {
    let proxy = Server::always(Act::Reply(answer("502 The proxy", "", ""))).await;
    let address = format!("http://127.0.0.1:{}", proxy.port());
    let run = move || {
        let mut again = Command::new(std::env::current_exe().unwrap());
        again.args(["--exact", "tests::wire::webhook_is_one_signed_post"]).env_remove("NO_PROXY");
        for name in ["HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"] {
            again.env(name, &address);
        }
        again.env_remove("no_proxy").output().unwrap()
    };
    let output = tokio::task::spawn_blocking(run).await.unwrap();
    let printed = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success() && printed.contains("1 passed"), "{printed}");
    assert_eq!(proxy.connections(), 0);
}
