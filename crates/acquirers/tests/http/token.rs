//! Tests the access token: one request for all callers, renewal, refusal, failure.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use cais_ports::Acquirer;
use tokio::sync::Semaphore;
use tokio::task::JoinSet;

use crate::answers::{
    BUDGET, acquirer, cob, config, html, http, json_reply, kind, order, problem, reason, token, token_bytes, txid,
};
use crate::server::{Act, Server};

const CALLERS: usize = 64;

/// Returns the outcomes of concurrent callers.
async fn storm(server: &Server) -> Vec<&'static str> {
    let acquirer = Arc::new(acquirer(&server.url()));
    let mut tasks = JoinSet::new();
    for _ in 0..CALLERS {
        let acquirer = Arc::clone(&acquirer);
        tasks.spawn(async move { kind(&acquirer.find_charge(&txid(), BUDGET).await) });
    }
    tasks.join_all().await
}

#[tokio::test]
async fn concurrent_callers_share_one_token_request() {
    let server = Server::start(|_, _| json_reply(200, &cob())).await;
    assert_eq!(storm(&server).await, vec!["ok"; CALLERS]);
    assert_eq!(server.tokens(), 1);
}

#[tokio::test]
async fn concurrent_refused_callers_renew_token_once() {
    let issued = AtomicUsize::new(0);
    let server = Server::start_raw(None, move |seen, _| {
        if seen.path == "/oauth/token" {
            let number = issued.fetch_add(1, Ordering::SeqCst);
            return token(&format!("t{number}"), "3600");
        }
        match seen.header("authorization") {
            "Bearer t1" => json_reply(200, &cob()),
            _ => problem(401, "AcessoNegado"),
        }
    })
    .await;
    assert_eq!(storm(&server).await, vec!["ok"; CALLERS]);
    assert_eq!(server.tokens(), 2);
}

/// The refusal of the first caller's token arrives late, after another caller renewed the token.
#[tokio::test]
async fn late_refusal_keeps_the_new_token() {
    let gate = Arc::new(Semaphore::new(0));
    let closed = Arc::clone(&gate);
    let refusal = http(401, "application/problem+json", "{}");
    let server = Server::start_raw(None, move |seen, nth| match (seen.path.as_str(), nth) {
        ("/oauth/token", nth) => token(&format!("t{nth}"), "3600"),
        (_, 0) => Act::ReplyAfter(Arc::clone(&closed), refusal.clone()),
        (_, _) if seen.header("authorization") == "Bearer t0" => Act::Reply(refusal.clone()),
        (_, _) => json_reply(200, &cob()),
    })
    .await;
    let acquirer = acquirer(&server.url());
    let (txid, other) = (txid(), txid());
    let late = acquirer.find_charge(&txid, BUDGET);
    let early = async {
        while server.methods().is_empty() {
            tokio::task::yield_now().await;
        }
        let result = acquirer.find_charge(&other, BUDGET).await;
        gate.add_permits(1);
        result
    };
    let (late, early) = tokio::join!(late, early);
    assert_eq!((kind(&late), kind(&early)), ("ok", "ok"));
    assert_eq!(server.methods(), "GET GET GET GET");
    assert_eq!(server.tokens(), 2);
}

#[tokio::test]
async fn concurrent_callers_share_one_failure() {
    let gate = Arc::new(Semaphore::new(0));
    let closed = Arc::clone(&gate);
    let server =
        Server::start_raw(None, move |_, _| Act::ReplyAfter(Arc::clone(&closed), http(500, "text/html", ""))).await;
    let callers = storm(&server);
    let release = async {
        while server.tokens() == 0 {
            tokio::task::yield_now().await;
        }
        gate.add_permits(CALLERS);
    };
    let (outcomes, ()) = tokio::join!(callers, release);
    assert_eq!(outcomes, vec!["unavailable"; CALLERS]);
    assert_eq!(server.tokens(), 1);
}

#[tokio::test]
async fn cancelled_caller_does_not_cancel_the_token_request() {
    let gate = Arc::new(Semaphore::new(0));
    let closed = Arc::clone(&gate);
    let server = Server::start_raw(None, move |seen, _| {
        if seen.path == "/oauth/token" {
            return Act::ReplyAfter(Arc::clone(&closed), token_bytes("t", "3600"));
        }
        json_reply(200, &cob())
    })
    .await;
    let acquirer = acquirer(&server.url());
    let result = acquirer.find_charge(&txid(), Duration::from_millis(50)).await;
    assert_eq!(kind(&result), "unavailable");
    gate.add_permits(1);
    let result = acquirer.find_charge(&txid(), BUDGET).await;
    assert_eq!(kind(&result), "ok", "{}", reason(&result));
    assert_eq!(server.tokens(), 1);
}

#[tokio::test]
async fn token_is_used_until_its_renewal() {
    for (expires_in, wanted) in [("3600", 1), ("\"3600\"", 1), ("null", 1), ("0", 3)] {
        let server = Server::start_raw(None, move |seen, _| {
            if seen.path == "/oauth/token" {
                return token("t", expires_in);
            }
            json_reply(200, &cob())
        })
        .await;
        let acquirer = acquirer(&server.url());
        for _ in 0..3 {
            let result = acquirer.find_charge(&txid(), BUDGET).await;
            assert_eq!(kind(&result), "ok", "{expires_in}: {}", reason(&result));
        }
        assert_eq!(server.tokens(), wanted, "{expires_in}");
    }
}

/// The second token request gets no answer, so only the old token can be used during the renewal.
#[tokio::test]
async fn renewal_does_not_delay_callers() {
    let server = Server::start_raw(None, move |seen, nth| match (seen.path.as_str(), nth) {
        ("/oauth/token", 0) => token("t", "4"),
        ("/oauth/token", _) => Act::Hang,
        _ => json_reply(200, &cob()),
    })
    .await;
    let acquirer = acquirer(&server.url());
    while server.tokens() < 2 {
        acquirer.find_charge(&txid(), BUDGET).await.unwrap();
    }
    let asked = server.seen().len();
    acquirer.find_charge(&txid(), BUDGET).await.unwrap();
    assert_eq!((server.tokens(), server.seen().len()), (2, asked + 1));
}

#[tokio::test]
async fn failed_token_request_sends_no_api_request() {
    for (name, answer) in [
        ("401", problem(401, "AcessoNegado")),
        ("400", Act::Reply(http(400, "application/json", r#"{"error":"invalid_client"}"#))),
        ("403", html(403)),
        ("500", html(500)),
        ("302", Act::Reply(b"HTTP/1.1 302 X\r\nlocation: /v2\r\ncontent-length: 0\r\n\r\n".to_vec())),
        ("HTML", html(200)),
        ("nothing in it", Act::Reply(http(200, "application/json", "{}"))),
        ("empty", Act::Reply(http(200, "application/json", r#"{"access_token":""}"#))),
        ("another type", Act::Reply(http(200, "application/json", r#"{"access_token":"t","token_type":"mac"}"#))),
        ("not a life", token("t", "\"soon\"")),
        ("two lines", token("a\\nb", "3600")),
        ("too long", token(&"t".repeat(10_000), "3600")),
        ("cut", Act::Cut),
        ("no answer", Act::Hang),
    ] {
        let server = Server::start_raw(None, move |_, _| answer.clone()).await;
        let mut config = config(&server.url());
        config.timeouts.token = Duration::from_millis(300);
        let acquirer = cais_acquirers::BacenAcquirer::new(&config).unwrap();
        let result = acquirer.create_charge(&order(), BUDGET).await;
        assert_eq!(kind(&result), "unavailable", "{name}: {}", reason(&result));
        assert!(reason(&result).contains("no access token"), "{name}: {}", reason(&result));
        assert_eq!(server.methods(), "", "{name}");
    }
}
