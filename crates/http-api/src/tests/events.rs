//! Tests events over HTTP.

use super::receivers::deliver;
use super::*;

const EVENTS: &str = "/v1/events";

fn sequences(page: &Seen) -> Vec<i64> {
    let rows = page.at("/data");
    rows.as_array().unwrap().iter().map(|row| row.get("sequence").unwrap().as_i64().unwrap()).collect()
}

#[actix_web::test]
async fn event_is_returned_as_sent() {
    let bed = TestBed::new().await;
    register(&bed, "https://shop.example/hooks", r#"["charge.paid"]"#).await;
    let charge = fund(&bed, "10").await;
    deliver(&bed).await;
    let (url, body) = bed.receivers.sent.lock().unwrap().first().cloned().unwrap();
    assert_eq!(url, "https://shop.example/hooks");
    let event: Value = serde_json::from_slice(&body).unwrap();
    let id = event.get("id").unwrap().as_str().unwrap();
    let seen = get(&bed, &format!("{EVENTS}/{id}")).await;
    assert_eq!((seen.status, &seen.body), (200, &body));
    assert_eq!(seen.at("/data"), get(&bed, &format!("/v1/charges/{charge}")).await.json());
    assert_eq!(
        (seen.at("/type"), seen.at("/sequence"), seen.at("/api_version")),
        ("charge.paid".into(), 1.into(), "1.1.0".into())
    );
    let listed = String::from_utf8(get(&bed, EVENTS).await.body).unwrap();
    assert!(listed.contains(str::from_utf8(&body).unwrap()), "byte for byte in lists too");
}

#[actix_web::test]
async fn events_after_a_sequence_are_oldest_first() {
    let bed = TestBed::new().await;
    for _ in 0..5 {
        fund(&bed, "10").await;
    }
    assert_eq!(sequences(&get(&bed, EVENTS).await), [5, 4, 3, 2, 1]);
    let first = get(&bed, "/v1/events?after_sequence=1&limit=2").await;
    assert_eq!((sequences(&first), first.at("/has_more")), (vec![2, 3], true.into()));
    let next = first.at("/next_starting_after").as_str().unwrap().to_owned();
    let rest = get(&bed, &format!("/v1/events?after_sequence=1&limit=2&starting_after={next}")).await;
    assert_eq!(
        (sequences(&rest), rest.at("/has_more"), rest.at("/next_starting_after")),
        (vec![4, 5], false.into(), Value::Null)
    );
    assert_eq!(sequences(&get(&bed, "/v1/events?after_sequence=5").await), [0; 0]);
    assert_eq!(sequences(&get(&bed, "/v1/events?after_sequence=0&type=charge.paid&limit=1").await), [1]);
    assert_eq!(sequences(&get(&bed, "/v1/events?type=payout.failed").await), [0; 0]);
    let newest = get(&bed, "/v1/events?limit=2").await;
    let next = newest.at("/next_starting_after").as_str().unwrap().to_owned();
    assert_eq!(sequences(&get(&bed, &format!("/v1/events?starting_after={next}")).await), [3, 2, 1]);
}

#[actix_web::test]
async fn invalid_event_queries_are_rejected() {
    let bed = TestBed::new().await;
    let seen = get(&bed, "/v1/events?type=charge.made&after_sequence=-1&limit=0&starting_after=x&order=asc").await;
    assert_eq!(seen.paths(), ["order", "type", "after_sequence", "limit", "starting_after"]);
    let unknown = get(&bed, "/v1/events?starting_after=evt_01h455vb4pex5vsknk084sn02q").await;
    assert_eq!((unknown.status, unknown.paths()), (400, vec!["starting_after".to_owned()]));
    assert_eq!(get(&bed, "/v1/events/nope").await.paths(), ["id"]);
    assert_eq!(get(&bed, "/v1/events/evt_01h455vb4pex5vsknk084sn02q").await.error(), (404, "not_found".to_owned()));
}

#[actix_web::test]
async fn resent_event_goes_to_current_subscribers() {
    let bed = TestBed::new().await;
    fund(&bed, "10").await;
    let id = get(&bed, EVENTS).await.at("/data/0/id").as_str().unwrap().to_owned();
    let path = format!("{EVENTS}/{id}/resend");
    assert_eq!(
        post(&bed, &path, "", "").await.error(),
        (409, "invalid_state".to_owned()),
        "no endpoint subscribes to the event"
    );
    register(&bed, "https://shop.example/a", r#"["charge.paid"]"#).await;
    register(&bed, "https://shop.example/b", r#"["*"]"#).await;
    register(&bed, "https://shop.example/c", r#"["payout.failed"]"#).await;
    let sent = post(&bed, &path, "", "").await;
    assert_eq!(sent.status, 202, "{sent:?}");
    let deliveries = sent.at("/data").as_array().unwrap().clone();
    assert_eq!(deliveries.len(), 2);
    for delivery in &deliveries {
        assert_eq!(
            (delivery.get("event_id").unwrap(), delivery.get("status").unwrap()),
            (&Value::from(id.as_str()), &"pending".into())
        );
    }
    deliver(&bed).await;
    let mut urls: Vec<String> = bed.receivers.sent.lock().unwrap().iter().map(|(url, _)| url.clone()).collect();
    urls.sort();
    assert_eq!(urls, ["https://shop.example/a", "https://shop.example/b"]);
    let unknown = format!("{EVENTS}/evt_01h455vb4pex5vsknk084sn02q/resend");
    assert_eq!(post(&bed, &unknown, "", "").await.error(), (404, "not_found".to_owned()));
    assert_eq!(post(&bed, &path, "", r#"{"to":"all"}"#).await.paths(), ["to"]);
}
