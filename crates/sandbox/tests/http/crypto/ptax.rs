//! Tests the PTAX service: bulletins by the clock, weekends, staleness and jumps.

use serde_json::{Value, json};

use super::bed::{CryptoBed, Reply};

/// Returns the offset of the clock at which the current instant is `text`.
fn at(bed: &CryptoBed, text: &str) {
    let wanted: jiff::Timestamp = text.parse().unwrap();
    bed.control.set_clock_offset(0).unwrap();
    let now = bed.control.ledger().unwrap().now;
    bed.control.set_clock_offset(wanted.duration_since(now).as_secs()).unwrap();
}

async fn period(bed: &CryptoBed, from: &str, to: &str, more: &str) -> Reply {
    let call = "CotacaoDolarPeriodo(dataInicial=@dataInicial,dataFinalCotacao=@dataFinalCotacao)";
    let query = format!("@dataInicial='{from}'&@dataFinalCotacao='{to}'&$format=json{more}");
    let base = &bed.credentials.ptax_base_url;
    super::bed::read(bed.client.get(format!("{base}/{call}?{query}")).send().await.unwrap()).await
}

fn days(reply: &Reply) -> Vec<&str> {
    let rows = reply.body["value"].as_array().unwrap();
    rows.iter().map(|row| &row["dataHoraCotacao"].as_str().unwrap()[..10]).collect()
}

#[tokio::test]
async fn bulletins_exist_on_past_business_days_only() {
    let bed = CryptoBed::start().await;
    // A Friday, after the bulletin.
    at(&bed, "2026-11-20T18:00:00Z");
    let reply = period(&bed, "11-18-2026", "11-24-2026", "").await;
    assert_eq!(days(&reply), ["2026-11-18", "2026-11-19", "2026-11-20"]);
    assert!(
        reply
            .text
            .contains(r#""cotacaoCompra":5.4315,"cotacaoVenda":5.4321,"dataHoraCotacao":"2026-11-20 13:08:20.340""#),
        "{reply:?}"
    );
    // A Monday, before the bulletin.
    at(&bed, "2026-11-23T15:00:00Z");
    assert_eq!(days(&period(&bed, "11-20-2026", "11-23-2026", "").await), ["2026-11-20"]);
    assert_eq!(days(&period(&bed, "11-21-2026", "11-22-2026", "").await), Vec::<&str>::new());
}

#[tokio::test]
async fn day_is_read_by_alias_or_literal() {
    let bed = CryptoBed::start().await;
    at(&bed, "2026-11-20T18:00:00Z");
    let base = &bed.credentials.ptax_base_url;
    for call in [
        "CotacaoDolarDia(dataCotacao=@dataCotacao)?@dataCotacao='11-20-2026'&$format=json",
        "CotacaoDolarDia(dataCotacao='11-20-2026')",
    ] {
        let reply = super::bed::read(bed.client.get(format!("{base}/{call}")).send().await.unwrap()).await;
        assert_eq!(days(&reply), ["2026-11-20"], "{reply:?}");
    }
    for (call, status) in
        [("CotacaoDolarDia(dataCotacao='2026-11-20')", 400), ("CotacaoDolarDia()", 400), ("Moedas", 404)]
    {
        let reply = super::bed::read(bed.client.get(format!("{base}/{call}")).send().await.unwrap()).await;
        assert_eq!(reply.status, status, "{reply:?}");
        assert!(reply.text.starts_with("/*{") && reply.text.ends_with("}*/"), "{reply:?}");
    }
}

#[tokio::test]
async fn options_limit_and_order_the_bulletins() {
    let bed = CryptoBed::start().await;
    at(&bed, "2026-11-20T18:00:00Z");
    let newest = period(&bed, "11-01-2026", "11-20-2026", "&$top=1&$orderby=dataHoraCotacao%20desc").await;
    assert_eq!(days(&newest), ["2026-11-20"]);
    let second = period(&bed, "11-16-2026", "11-20-2026", "&$top=1&$skip=1&$select=cotacaoVenda,dataHoraCotacao").await;
    assert_eq!(days(&second), ["2026-11-17"]);
    assert_eq!(second.body["value"][0].get("cotacaoCompra"), None);
    for wrong in ["&$orderby=dataHoraCotacao+desc", "&$orderby=cotacaoVenda", "&$select=moeda", "&$filter=x", "&$top=a"]
    {
        assert_eq!(period(&bed, "11-16-2026", "11-20-2026", wrong).await.status, 400, "{wrong}");
    }
}

#[tokio::test]
async fn tester_sets_rates_staleness_and_holidays() {
    let bed = CryptoBed::start().await;
    at(&bed, "2026-11-20T18:00:00Z");
    let set = async |body: Value| bed.put("/sandbox/ptax", &body).await.status;
    let sells = async || {
        let reply = period(&bed, "11-18-2026", "11-20-2026", "").await;
        reply.body["value"].as_array().unwrap().iter().map(|row| row["cotacaoVenda"].to_string()).collect::<Vec<_>>()
    };
    assert_eq!(set(json!({ "sell": "54.321" })).await, 200);
    assert_eq!(sells().await, ["5.4321", "5.4321", "54.321"]);
    assert_eq!(set(json!({ "sell": 5.5, "buy": 5.4, "date": "2026-11-19" })).await, 200);
    assert_eq!(sells().await, ["5.4321", "5.5", "5.5"]);
    assert_eq!(set(json!({ "published_until": "2026-11-18" })).await, 200);
    assert_eq!(sells().await, ["5.4321"]);
    assert_eq!(set(json!({ "published_until": null, "holidays": ["2026-11-19"] })).await, 200);
    assert_eq!(sells().await, ["5.4321", "5.5"]);
    for body in [json!({ "sell": "x" }), json!({ "date": "2026-11-19" }), json!({ "holidays": "x" }), json!({ "a": 1 })]
    {
        assert_eq!(set(body.clone()).await, 400, "{body}");
    }
}
