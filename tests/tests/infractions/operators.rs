//! The operators' view: lists over all accounts, details, and the remaining time.

use reqwest::Method;
use serde_json::json;

use super::{dispute, dispute_with, resolve};
use crate::support::{Engine, eventually, id, on_both, own};

on_both! { lists_and_details alerts_before_the_deadline }

async fn lists_and_details(engine: Engine) {
    let node = own(engine, &[]).await;
    let (one, two) = (node.shop(), node.shop());
    let first = dispute(&one, &one.earn("10").await).await;
    let second = dispute(&two, &two.earn("20").await).await;
    resolve(&two, &second, "won").await;
    let ids = |arguments: &[&str]| {
        let listed = node.cli(&[&["infraction", "list"], arguments].concat());
        let rows = listed.as_array().or_else(|| listed["data"].as_array()).unwrap().clone();
        rows.iter().map(id).collect::<Vec<_>>()
    };
    assert_eq!(ids(&[]), [id(&second), id(&first)]);
    assert_eq!(ids(&["--account", &one.email]), [id(&first)]);
    assert_eq!(ids(&["--status", "won"]), [id(&second)]);
    let shown = node.cli(&["infraction", "show", &id(&first)]);
    assert_eq!((&shown["id"], &shown["status"]), (&first["id"], &json!("open")));
    assert_eq!(shown["end_to_end_id"], first["end_to_end_id"]);
    let (code, printed) = node.cais.cli_raw(&["infraction", "show", "inf_01arz3ndektsv4rrffq69g5fav"]).unwrap();
    assert_eq!(code, Some(1), "{printed}");
}

async fn alerts_before_the_deadline(engine: Engine) {
    let node = own(engine, &[]).await;
    let shop = node.shop();
    let opened = dispute_with(&shop, &shop.earn("10").await, &json!({ "deadline_s": 3 * 86_400 })).await.expect(201);
    for (offset_s, hours) in [(86_400 + 60, 48), (2 * 86_400 + 60, 24), (3 * 86_400 - 6 * 3_600 + 60, 6)] {
        shop.send(Method::PUT, "/sandbox/clock", &json!({ "offset_s": offset_s })).await.expect(200);
        eventually(&format!("the alert at {hours} hours"), || async {
            let log = node.cais.log();
            let alert = |line: &&str| {
                line.contains(&id(&opened)) && line.contains("deadline") && line.contains(&format!("{hours}"))
            };
            log.lines().find(alert).map(|_| ())
        })
        .await;
    }
    let metrics = node.cais.http_admin().unwrap().get("/metrics").await.unwrap();
    let metrics = String::from_utf8(metrics.body).unwrap();
    assert!(metrics.contains("infraction"), "{metrics}");
}
