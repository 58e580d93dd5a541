//! `POST /charges`: every field at its limits and one past them.

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use crate::support::{Engine, Reply, Shop, on_both, shared};

on_both! { amounts texts expiries external_ids splits postbacks objects sizes content_types issues_are_reported_together }

/// Sends one body and checks its result and the blamed field.
async fn check(shop: &Shop, body: &str, status: u16, code: &str, path: &str) -> Value {
    let reply = shop.create(body).await;
    let shown: String = body.chars().take(200).collect();
    assert_eq!((reply.status, reply.code().as_str()), (status, code), "{shown}\n{}", reply.text());
    if code == "VALIDATION_ERROR" {
        assert_eq!(reply.issues(), [path], "{shown}\n{}", reply.text());
    }
    reply.json()
}

async fn good(shop: &Shop, body: &str) -> Value {
    check(shop, body, 201, "", "").await
}

async fn bad(shop: &Shop, body: &str, path: &str) {
    check(shop, body, 400, "VALIDATION_ERROR", path).await;
}

/// `{"amount":10, …}`
fn with(name: &str, value: &Value) -> String {
    format!(r#"{{"amount":10,"{name}":{value}}}"#)
}

async fn amounts(engine: Engine) {
    let shop = shared(engine).await.shop();
    for (written, shown) in [
        ("2", "2.00"),
        ("2.00", "2.00"),
        ("2.000", "2.00"),
        ("10.5", "10.50"),
        ("1e2", "100.00"),
        ("1E+2", "100.00"),
        ("1000e-2", "10.00"),
        ("0.35e1", "3.50"),
        ("1234.56", "1234.56"),
        ("50000", "50000.00"),
        ("50000.00", "50000.00"),
    ] {
        let reply = shop.create(format!(r#"{{"amount":{written}}}"#)).await;
        reply.expect(201);
        assert!(reply.text().contains(&format!(r#""amount":{shown},"#)), "{written}: {}", reply.text());
    }
    for written in [
        "1.99",
        "2.005",
        "10.505",
        "0",
        "-0",
        "-5",
        "1e-3",
        r#""2""#,
        "null",
        "true",
        "[10]",
        r#"{"value":10}"#,
        "1000000000000",
        "1e12",
        "1e400",
        "9999999999999999999999.99",
        "2e-400",
    ] {
        bad(&shop, &format!(r#"{{"amount":{written}}}"#), "amount").await;
    }
    bad(&shop, "{}", "amount").await;
    for written in ["50000.01", "999999999999.99"] {
        check(&shop, &format!(r#"{{"amount":{written}}}"#), 422, "transaction_limit_exceeded", "").await;
    }
    // Not JSON numbers at all.
    for written in ["02", "2.", ".5", "+2", "NaN", "Infinity", "0x10", "2,5"] {
        bad(&shop, &format!(r#"{{"amount":{written}}}"#), "").await;
    }
}

async fn texts(engine: Engine) {
    let shop = shared(engine).await.shop();
    for (name, limit) in [("description", 140), ("payer_name", 200), ("payer_document", 20)] {
        for character in ["x", "ç", "語", "😀"] {
            let longest = json!(character.repeat(limit));
            let charge = good(&shop, &with(name, &longest)).await;
            if name == "description" {
                assert_eq!(charge[name], longest);
            }
            bad(&shop, &with(name, &json!(character.repeat(limit + 1))), name).await;
        }
        good(&shop, &with(name, &Value::Null)).await;
        for wrong in [json!(5), json!(true), json!(["x"]), json!({"x": 1})] {
            bad(&shop, &with(name, &wrong), name).await;
        }
        for control in ["a\u{0}b", "a\u{1}b", "a\u{7f}b", "a\u{85}b", "\u{1b}[0m"] {
            bad(&shop, &with(name, &json!(control)), name).await;
        }
    }
    let lines = good(&shop, &with("description", &json!("one\ntwo\r\n\"three\" \\ <b>"))).await;
    assert_eq!(lines["description"], "one\ntwo\r\n\"three\" \\ <b>");
    let plain = good(&shop, r#"{"amount":10,"description":"caf\u00e9 \ud83d\ude00"}"#).await;
    assert_eq!(plain["description"], "café 😀");
    bad(&shop, r#"{"amount":10,"description":"\ud83d"}"#, "description").await;
}

async fn expiries(engine: Engine) {
    let shop = shared(engine).await.shop();
    for (written, seconds) in [("60", 60), ("86400", 86_400), ("3600.0", 3_600), ("null", 3_600)] {
        let charge = good(&shop, &format!(r#"{{"amount":10,"expires_in":{written}}}"#)).await;
        assert_eq!(life_s(&charge), seconds, "{charge}");
    }
    assert_eq!(life_s(&good(&shop, r#"{"amount":10}"#).await), 3_600);
    for written in ["59", "86401", "60.5", r#""60""#, "0", "-60", "1e30", "true", "[60]"] {
        bad(&shop, &format!(r#"{{"amount":10,"expires_in":{written}}}"#), "expires_in").await;
    }
}

/// Returns the seconds from creation to expiry, rounded to ignore the latency of the acquirer.
fn life_s(charge: &Value) -> i64 {
    let instant = |name: &str| charge[name].as_str().unwrap().parse::<jiff::Timestamp>().unwrap().as_millisecond();
    let life_ms = instant("expires_at") - instant("created_at");
    let seconds = life_ms / 1_000;
    // The acquirer counts from its own instant of creation, slightly later.
    [60, 3_600, 86_400].into_iter().find(|whole| (*whole - 1..*whole + 10).contains(&seconds)).unwrap_or(seconds)
}

async fn external_ids(engine: Engine) {
    let shop = shared(engine).await.shop();
    for text in ["x".to_owned(), "語".repeat(120), "a b/c?d#e%f".to_owned()] {
        let charge = good(&shop, &with("external_id", &json!(text))).await;
        assert_eq!(charge["external_id"], json!(text));
    }
    good(&shop, &with("external_id", &Value::Null)).await;
    for wrong in [json!(""), json!("x".repeat(121)), json!("語".repeat(121)), json!("a\nb"), json!("a\u{0}b"), json!(7)]
    {
        bad(&shop, &with("external_id", &wrong), "external_id").await;
    }
}

async fn splits(engine: Engine) {
    let shop = shared(engine).await.shop();
    let item = |email: &str, percentage: &str| format!(r#"{{"recipient_email":"{email}","percentage":{percentage}}}"#);
    let body = |items: &[String]| format!(r#"{{"amount":10,"split":[{}]}}"#, items.join(","));
    let numbered = |count: usize| (0..count).map(|index| item(&format!("s{index}@x.com"), "1")).collect::<Vec<_>>();

    good(&shop, r#"{"amount":10,"split":[]}"#).await;
    good(&shop, r#"{"amount":10,"split":null}"#).await;
    // 64 characters for the name, and labels of at most 63: 200 in all.
    let longest = format!("{}@{}.{}.{}.x.com", "l".repeat(64), "d".repeat(63), "e".repeat(33), "f".repeat(31));
    assert_eq!(longest.chars().count(), 200);
    for items in [
        vec![item("a@x.com", "0.0001")],
        vec![item("a@x.com", "100")],
        vec![item("a@x.com", "60"), item("b@x.com", "40.0000")],
        vec![item(&longest, "1")],
        numbered(5),
    ] {
        check(&shop, &body(&items), 403, "split_disabled", "").await;
    }
    for (items, path) in [
        (vec![item("a@x.com", "0")], "split[0].percentage"),
        (vec![item("a@x.com", "-1")], "split[0].percentage"),
        (vec![item("a@x.com", "100.0001")], "split[0].percentage"),
        (vec![item("a@x.com", "1.00001")], "split[0].percentage"),
        (vec![item("a@x.com", r#""5""#)], "split[0].percentage"),
        (vec![item("a@x.com", "1"), item("nobody", "1")], "split[1].recipient_email"),
        (vec![item(&format!("a@{}.com", "x".repeat(200)), "1")], "split[0].recipient_email"),
        (vec![r#"{"percentage":5}"#.to_owned()], "split[0].recipient_email"),
        (vec![r#"{"recipient_email":"a@x.com"}"#.to_owned()], "split[0].percentage"),
        (vec![r#"{"recipient_email":"a@x.com","percentage":5,"share":1}"#.to_owned()], "split[0].share"),
        (vec!["5".to_owned()], "split[0]"),
        (numbered(6), "split"),
    ] {
        bad(&shop, &body(&items), path).await;
    }
    bad(&shop, r#"{"amount":10,"split":"x"}"#, "split").await;
    // The blamed path within `split` is not specified.
    for items in
        [vec![item("a@x.com", "60"), item("b@x.com", "40.0001")], vec![item("a@x.com", "1"), item("a@x.com", "1")]]
    {
        let reply = shop.create(body(&items)).await;
        reply.refused(400, "VALIDATION_ERROR");
        assert!(reply.issues().iter().all(|path| path.starts_with("split")), "{}", reply.text());
    }
    check(&shop, r#"{"amount":10,"split_rule_id":"rule_1"}"#, 422, "split_not_available", "").await;
}

async fn postbacks(engine: Engine) {
    let shop = shared(engine).await.shop();
    let url = |length: usize| format!("https://shop.example/{}", "x".repeat(length - 21));
    good(&shop, &with("postback_url", &Value::Null)).await;
    for text in ["https://shop.example/hook".to_owned(), url(500), "nope".to_owned()] {
        check(&shop, &with("postback_url", &json!(text)), 400, "postback_url_not_registered", "").await;
    }
    for wrong in [json!(url(501)), json!(5)] {
        bad(&shop, &with("postback_url", &wrong), "postback_url").await;
    }
}

async fn objects(engine: Engine) {
    let shop = shared(engine).await.shop();
    bad(&shop, r#"{"amount":10,"amout":10}"#, "amout").await;
    bad(&shop, r#"{"amount":10,"amount":10}"#, "amount").await;
    bad(&shop, r#"{"amount":10,"description":"a","description":"b"}"#, "description").await;
    bad(
        &shop,
        r#"{"amount":10,"split":[{"percentage":1,"percentage":2,"recipient_email":"a@x.com"}]}"#,
        "split[0].percentage",
    )
    .await;
    let deep = format!("{}{}", "[".repeat(20_000), "]".repeat(20_000));
    for body in [
        "",
        " ",
        "null",
        "5",
        r#""x""#,
        "[]",
        r#"[{"amount":10}]"#,
        "{",
        r#"{"amount":10"#,
        r#"{"amount":10}}"#,
        r#"{"amount":10,}"#,
        "{'amount':10}",
        r#"{"amount":10} x"#,
        "\u{feff}{\"amount\":10}",
    ] {
        bad(&shop, body, "").await;
    }
    shop.create(deep).await.refused(400, "VALIDATION_ERROR");
    let broken: &[u8] = b"{\"amount\":10,\"description\":\"\xff\"}";
    let request = shop.creation(&crate::support::unique("key"), "").body(broken);
    let reply = Reply::of(request).await;
    reply.refused(400, "VALIDATION_ERROR");
    assert_eq!(reply.issues(), [""]);
    good(&shop, " \n\t{ \"amount\" : 10 }\r\n").await;
}

async fn sizes(engine: Engine) {
    const LIMIT: usize = 64 * 1024;
    let shop = shared(engine).await.shop();
    let padded = |size: usize| format!("{}{}", r#"{"amount":10}"#, " ".repeat(size - 13));
    good(&shop, &padded(LIMIT)).await;
    check(&shop, &padded(LIMIT + 1), 413, "payload_too_large", "").await;
    check(&shop, &padded(LIMIT * 32), 413, "payload_too_large", "").await;

    // Without a length that could be refused before the body is read.
    for (size, status) in [(LIMIT, 201), (LIMIT + 1, 413)] {
        assert_eq!(in_chunks(&shop, &padded(size)).await, status, "{size} bytes in chunks");
    }
}

/// Sends `POST /charges` with `Transfer-Encoding: chunked`. Returns the status.
async fn in_chunks(shop: &Shop, body: &str) -> u16 {
    let address = shop.base.trim_start_matches("http://");
    let mut connection = tokio::net::TcpStream::connect(address).await.unwrap();
    let (key, own) = (&shop.key, crate::support::unique("key"));
    let head = format!(
        "POST /v1/charges HTTP/1.1\r\nhost: {address}\r\nx-api-key: {key}\r\nidempotency-key: {own}\r\n\
         content-type: application/json\r\ntransfer-encoding: chunked\r\nconnection: close\r\n\r\n"
    );
    let chunks = body.as_bytes().chunks(4_096);
    let chunks = chunks.map(|chunk| format!("{:x}\r\n{}\r\n", chunk.len(), str::from_utf8(chunk).unwrap()));
    let request = head + &chunks.collect::<String>() + "0\r\n\r\n";
    // A refusing server may close before it has read the whole request.
    drop(connection.write_all(request.as_bytes()).await);
    let mut answer = [0; 12];
    connection.read_exact(&mut answer).await.unwrap();
    str::from_utf8(&answer[9..]).unwrap().parse().unwrap()
}

async fn content_types(engine: Engine) {
    let shop = shared(engine).await.shop();
    let post = async |content_type: Option<&str>| {
        let request = shop.request(reqwest::Method::POST, "/charges");
        let request = request.header("idempotency-key", crate::support::unique("key")).body(r#"{"amount":10}"#);
        Reply::of(content_type.iter().fold(request, |request, value| request.header("content-type", *value))).await
    };
    for good in ["application/json", "application/json; charset=utf-8", "Application/JSON;charset=UTF-8"] {
        post(Some(good)).await.expect(201);
    }
    for bad in
        [None, Some("text/plain"), Some("application/x-www-form-urlencoded"), Some("application/jsonp"), Some("json")]
    {
        post(bad).await.refused(415, "unsupported_media_type");
    }
    let zipped = shop.creation(&crate::support::unique("key"), r#"{"amount":10}"#).header("content-encoding", "gzip");
    Reply::of(zipped).await.refused(415, "unsupported_media_type");
}

async fn issues_are_reported_together(engine: Engine) {
    let shop = shared(engine).await.shop();
    let body = json!({
        "amount": 1, "description": "x".repeat(141), "expires_in": 1, "external_id": "", "color": "blue",
        "split": [{"recipient_email": "nobody", "percentage": 0}],
    });
    let reply = shop.create(body.to_string()).await;
    reply.refused(400, "VALIDATION_ERROR");
    let mut paths = reply.issues();
    paths.sort_unstable();
    let expected = [
        "amount",
        "color",
        "description",
        "expires_in",
        "external_id",
        "split[0].percentage",
        "split[0].recipient_email",
    ];
    assert_eq!(paths, expected, "{}", reply.text());
}
