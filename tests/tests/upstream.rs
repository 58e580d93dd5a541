//! Acquirers that are down, slow, failing or losing replies; two acquirers; and forged callbacks.

#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test fails by panicking")]

use std::time::{Duration, Instant};

use serde_json::json;

use crate::support::{Engine, Institution, Node, Reply, borrowed, eventually, id, on_both, own, unique};

on_both! {
    faults_have_their_statuses lost_replies_make_no_second_charge next_acquirer_takes_over readers_get_the_stored_state
    callbacks_are_hints callback_from_another_network_is_rejected
}

/// The time limit of every POST.
const POST_DEADLINE: Duration = Duration::from_secs(10);
/// The tolerance for a busy machine.
const TOLERANCE: Duration = Duration::from_millis(500);

async fn with(engine: Engine, institutions: &[(&str, &Institution)]) -> Node {
    let environment: Vec<_> = institutions.iter().flat_map(|(name, psp)| psp.environment(name)).collect();
    own(engine, &borrowed(&environment)).await
}

/// Repeats a creation until it succeeds. Returns the reply.
async fn create_until_accepted(shop: &crate::support::Shop, key: &str, body: &str) -> Reply {
    eventually("the charge is made", || async {
        let reply = shop.create_with(key, body).await;
        (reply.status == 201).then_some(reply)
    })
    .await
}

async fn faults_have_their_statuses(engine: Engine) {
    let psp = Institution::start();
    let node = with(engine, &[("main", &psp)]).await;
    let shop = node.shop();
    let body = r#"{"amount":10}"#;
    shop.create(body).await.expect(201);
    for mode in ["down", "error", "slow", "drop_reply"] {
        let before = psp.charges().await;
        if mode == "slow" {
            psp.slow(30_000).await;
        } else {
            psp.faults(mode).await;
        }
        let key = unique("key");
        let begun = Instant::now();
        let failed = shop.create_with(&key, body).await;
        assert!(begun.elapsed() < POST_DEADLINE + TOLERANCE, "{mode}: {:?}", begun.elapsed());
        assert!(
            mode != "drop_reply" || failed.status == 201,
            "a created charge is found by a look-up: {}",
            failed.text()
        );
        match failed.status {
            201 => assert_eq!(mode, "drop_reply", "only a created charge can be found by a look-up"),
            502 => failed.refused(502, "acquirer_unavailable"),
            _ => {
                failed.refused(503, "service_unavailable");
                assert!(failed.header("retry-after").is_some());
            }
        }
        psp.faults("ok").await;
        let made = create_until_accepted(&shop, &key, body).await;
        assert_eq!(psp.charges().await, before + 1, "{mode}: exactly one charge");
        shop.fetch(&id(&made.json())).await;
    }
    assert_eq!(shop.all_charges().await.len(), 5);
    node.verify();
}

async fn lost_replies_make_no_second_charge(engine: Engine) {
    let psp = Institution::start();
    let node = with(engine, &[("main", &psp)]).await;
    let shop = node.shop();
    psp.faults("drop_reply").await;
    let body = json!({"amount": 10, "external_id": "order-1"}).to_string();
    let key = unique("key");
    let lost = shop.create_with(&key, body.clone()).await;
    assert!(matches!(lost.status, 201 | 503), "{}", lost.text());
    if lost.status == 503 {
        let hidden = shop.get("/charges/ext:order-1").await;
        hidden.refused(409, "external_id_in_progress");
        assert!(hidden.header("retry-after").is_some());
        assert_eq!(shop.all_charges().await.len(), 0, "unfinished charges are in no list");
    }
    psp.faults("ok").await;
    // A worker completes the request without a repeat. The answer is then stored for repeats.
    let found = eventually("the worker finishes the request", || async {
        let reply = shop.get("/charges/ext:order-1").await;
        (reply.status == 200).then(|| reply.json())
    })
    .await;
    let replay = create_until_accepted(&shop, &key, &body).await;
    assert_eq!((&replay.json()["id"], replay.header("idempotent-replayed")), (&found["id"], Some("true")));
    assert_eq!(psp.charges().await, 1);
    psp.pay(found["txid"].as_str().unwrap()).await;
    shop.until(&id(&found), "paid").await;
    assert_eq!(shop.available().await, "10.00");
    node.verify();
}

async fn next_acquirer_takes_over(engine: Engine) {
    let (one, two) = (Institution::start(), Institution::start());
    let node = with(engine, &[("a-first", &one), ("b-second", &two)]).await;
    let shop = node.shop();
    shop.create(r#"{"amount":10}"#).await.expect(201);
    assert_eq!((one.charges().await, two.charges().await), (1, 0), "in the order of their names");

    // The address has no listener now. A refused connection is a certain failure.
    drop(one);
    for _ in 0..12 {
        let begun = Instant::now();
        let made = shop.create(r#"{"amount":10}"#).await.expect(201);
        assert!(begun.elapsed() < POST_DEADLINE, "{:?}", begun.elapsed());
        two.pay(made["txid"].as_str().unwrap()).await;
        shop.until(&id(&made), "paid").await;
    }
    assert_eq!((two.charges().await, shop.available().await.as_str()), (12, "120.00"));
    let list = node.cli(&["acquirer", "list"]);
    let breakers: Vec<_> =
        list["data"].as_array().unwrap().iter().map(|row| row["breaker"].as_str().unwrap()).collect();
    assert!(matches!(breakers[..], ["open" | "half-open", "closed"]), "{list}");
    drop(two);
    let failed = shop.create(r#"{"amount":10}"#).await;
    failed.refused(502, "acquirer_unavailable");
    node.verify();
}

async fn readers_get_the_stored_state(engine: Engine) {
    let psp = Institution::start();
    let node = with(engine, &[("main", &psp)]).await;
    let shop = node.shop();
    let made = shop.charge("10").await;
    psp.slow(60_000).await;
    let begun = Instant::now();
    let read = shop.fetch(&id(&made)).await;
    assert_eq!(read, made);
    assert!(begun.elapsed() < Duration::from_secs(4), "3 s for upstream: {:?}", begun.elapsed());
    let begun = Instant::now();
    shop.all_charges().await;
    assert!(begun.elapsed() < Duration::from_secs(1), "lists make no upstream request: {:?}", begun.elapsed());

    psp.faults("ok").await;
    let before = psp.requests("cob_read").await;
    for _ in 0..20 {
        shop.fetch(&id(&made)).await;
    }
    let reads = psp.requests("cob_read").await - before;
    let seconds = begun.elapsed().as_secs() + 2;
    assert!(reads <= seconds, "{reads} reads of the acquirer within {seconds} s");
}

async fn callback_from_another_network_is_rejected(engine: Engine) {
    let psp = Institution::start();
    let mut environment = psp.environment("main");
    let more =
        [("CAIS_ACQUIRERS__MAIN__CALLBACK_ADDRESSES", "203.0.113.0/24"), ("CAIS_TRUSTED_PROXIES", "127.0.0.0/8")];
    environment.extend(more.map(|(name, value)| (name.to_owned(), value.to_owned())));
    let node = own(engine, &borrowed(&environment)).await;
    let shop = node.shop();
    let url = eventually("the callback address is registered", || psp.callback_url()).await;
    for (sender, status) in [("203.0.113.7", 200), ("198.51.100.7", 404)] {
        let request = shop.client.post(format!("{url}/pix")).header("x-forwarded-for", sender).body(r#"{"pix":[]}"#);
        assert_eq!(Reply::of(request).await.status, status, "{sender}");
    }
}

async fn callbacks_are_hints(engine: Engine) {
    let psp = Institution::start();
    let environment: Vec<_> = psp.environment("main");
    let environment = borrowed(&environment);
    let node = own(engine, &environment).await;
    let shop = node.shop();
    let url = eventually("the callback address is registered", || psp.callback_url()).await;
    let path = url.split_once("//").unwrap().1.split_once('/').unwrap().1.to_owned();
    let call = async |path: &str, body: Vec<u8>| {
        Reply::of(shop.client.post(format!("{}/{path}", node.base())).body(body)).await.status
    };

    let made = shop.charge("10").await;
    let txid = made["txid"].as_str().unwrap();
    let forged = json!({"pix": [{
        "endToEndId": "E12345678202601010000abcdefghijk", "txid": txid, "valor": "10.00",
        "horario": "2026-01-01T00:00:00.000Z", "chave": psp.credential("pix_key"),
    }]});
    for end in ["", "/pix"] {
        let path = format!("{}{end}", path.trim_end_matches('/').trim_end_matches("/pix"));
        assert_eq!(call(&path, forged.to_string().into_bytes()).await / 100, 2, "stored and answered");
    }
    for garbage in [&b""[..], b"{", b"null", b"\xff\xfe", br#"{"pix":"x"}"#, br#"{"pix":[{"txid":5}]}"#] {
        let status = call(&path, garbage.to_vec()).await;
        assert!(status / 100 == 2 || status == 400, "{status}: {garbage:?}");
    }
    let unknown = forged.to_string().replace(txid, "0123456789abcdefghijklmnopq");
    assert_eq!(call(&path, unknown.into_bytes()).await / 100, 2);
    assert_eq!(call(&path, vec![b' '; 5 << 20]).await, 413);
    let (place, token) = path.trim_end_matches("/pix").rsplit_once('/').unwrap();
    for wrong in
        [format!("{place}/{token}x"), format!("{place}/x"), format!("callbacks/other/{token}"), place.to_owned()]
    {
        assert_eq!(call(&wrong, forged.to_string().into_bytes()).await, 404, "{wrong}");
    }
    assert_eq!(shop.fetch(&id(&made)).await["status"], "pending", "a forged callback pays nothing");
    assert_eq!(shop.available().await, "0.00");

    // The real callback. The charge has no readers, so only the callback can report the payment.
    psp.pay(txid).await;
    shop.until_available("10.00").await;
    assert_eq!(shop.all_charges().await[0]["status"], "paid");
    for _ in 0..3 {
        call(&path, forged.to_string().into_bytes()).await;
    }
    eventually("every callback is answered", || async { (psp.ledger().await["callbacks"]["owed"] == 0).then_some(()) })
        .await;
    assert_eq!(shop.available().await, "10.00");
    node.verify();
}
