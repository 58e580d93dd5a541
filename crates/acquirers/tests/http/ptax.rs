//! Tests the Central Bank's rate of the US dollar.

use std::time::Duration;

use cais_acquirers::{Ptax, PtaxConfig};
use cais_domain::crypto::{Rate, Side};
use cais_ports::{AcquirerError, ExchangeRates as _, UsdRate};
use jiff::Timestamp;
use serde_json::json;

use crate::answers::{BUDGET, html, http, json_reply, kind, reason};
use crate::bad_luck::{CONNECT, UNTRUSTING, assert_outcomes};
use crate::server::{Act, Server};

/// A Monday, before the publication of its rate.
const MONDAY: &str = "2026-11-23T11:00:00Z";

fn ptax(base_url: &str) -> Ptax {
    keeping(base_url, Duration::ZERO)
}

fn keeping(base_url: &str, keep_for: Duration) -> Ptax {
    Ptax::new(&PtaxConfig { base_url: format!("{base_url}/odata"), connect_timeout: CONNECT, keep_for }).unwrap()
}

fn at(text: &str) -> Timestamp {
    text.parse().unwrap()
}

async fn read(body: &'static str) -> Result<UsdRate, AcquirerError> {
    let server =
        Server::start(move |_, _| Act::Reply(http(200, "application/json;odata.metadata=minimal;charset=UTF-8", body)))
            .await;
    ptax(&server.url()).usd_rate(at(MONDAY), BUDGET).await
}

#[tokio::test]
async fn last_rate_of_ten_days_is_read() {
    let server = Server::start(|_, _| {
        json_reply(
            200,
            &json!({"@odata.context": "https://x/$metadata#_CotacaoDolarPeriodo", "value": [
                {"cotacaoCompra": 5.1264, "cotacaoVenda": 5.127, "dataHoraCotacao": "2026-11-19 13:06:03.857125"},
                {"cotacaoCompra": 5.40500, "cotacaoVenda": 5.40560, "dataHoraCotacao": "2026-11-20 13:02:37.601"},
                {"cotacaoCompra": 5.2, "cotacaoVenda": 5.3, "dataHoraCotacao": "2026-11-18 13:10:10"},
            ]}),
        )
    })
    .await;
    let rate = ptax(&server.url()).usd_rate(at(MONDAY), BUDGET).await.unwrap();
    assert_eq!(rate.published_at, at("2026-11-20T16:02:37.601Z"));
    assert_eq!((rate.of(Side::Deposit), rate.of(Side::Withdrawal)), (&rate.buy, &rate.sell));
    assert_eq!((rate.buy, rate.sell), (Rate::parse("5.405").unwrap(), Rate::parse("5.4056").unwrap()));
    let path = server.seen().pop().unwrap().path.replace("%40", "@").replace("%24", "$").replace("%27", "'");
    assert_eq!(
        path,
        concat!(
            "/odata/CotacaoDolarPeriodo(dataInicial=@dataInicial,dataFinalCotacao=@dataFinalCotacao)",
            "?@dataInicial='11-13-2026'&@dataFinalCotacao='11-23-2026'&$top=100&$format=json"
        )
    );
}

#[tokio::test]
async fn rate_is_requested_once_in_its_time() {
    let server = Server::start(|_, nth| match nth {
        0 | 1 => json_reply(
            200,
            &json!({"value": [{"cotacaoCompra": 5.4, "cotacaoVenda": 5.5, "dataHoraCotacao": "2026-11-20 13:02:37.601"}]}),
        ),
        _ => html(429),
    })
    .await;
    let minute = Duration::from_mins(1);
    let ptax = keeping(&server.url(), minute);
    let monday = at(MONDAY);
    let first = ptax.usd_rate(monday, BUDGET).await.unwrap();
    assert_eq!(first.published_at, at("2026-11-20T16:02:37.601Z"), "the age of the rate stays visible");
    assert_eq!(ptax.usd_rate(monday + Duration::from_secs(59), BUDGET).await, Ok(first));
    assert_eq!(server.seen().len(), 1);
    let second = ptax.usd_rate(monday + minute, BUDGET).await.unwrap();
    assert_eq!(ptax.usd_rate(monday + minute, BUDGET).await, Ok(second));
    assert_eq!(server.seen().len(), 2);
    assert!(ptax.usd_rate(monday, BUDGET).await.is_err(), "the clock was set back, so the rate is requested again");
}

/// The Central Bank's day ends at midnight in São Paulo, three hours after that of UTC.
#[tokio::test]
async fn period_ends_on_the_day_in_sao_paulo() {
    for (now, last) in [("2026-11-24T02:59:59Z", "11-23-2026"), ("2026-11-24T03:00:00Z", "11-24-2026")] {
        let server = Server::start(|_, _| json_reply(200, &json!({"value": []}))).await;
        assert_eq!(kind(&ptax(&server.url()).usd_rate(at(now), BUDGET).await), "unavailable");
        let path = server.seen().pop().unwrap().path;
        assert!(path.contains(&format!("%40dataFinalCotacao=%27{last}%27")), "{path}");
    }
}

#[tokio::test]
async fn period_without_rates_is_unavailable() {
    let result = read(r#"{"value":[]}"#).await;
    assert_eq!(result, Err(AcquirerError::Unavailable("no rate in the last 10 days".to_owned())));
}

#[tokio::test]
async fn numbers_may_be_texts() {
    let body =
        r#"{"value":[{"cotacaoCompra":"5.40500","cotacaoVenda":"5.4056","dataHoraCotacao":"2026-11-20 13:02:37.6"}]}"#;
    assert_eq!(read(body).await.map(|rate| rate.sell), Ok(Rate::parse("5.4056").unwrap()));
}

/// An unreadable row may be the last one.
#[tokio::test]
async fn unreadable_rate_leaves_the_last_one_unknown() {
    for body in [
        r#"{"value":[{"cotacaoCompra":5.4,"cotacaoVenda":5.5,"dataHoraCotacao":"2026-11-20 13:02:37"},{"cotacaoCompra":5.4}]}"#,
        r#"{"value":[{"cotacaoCompra":0,"cotacaoVenda":5.5,"dataHoraCotacao":"2026-11-20 13:02:37"}]}"#,
        r#"{"value":[{"cotacaoCompra":-5.4,"cotacaoVenda":5.5,"dataHoraCotacao":"2026-11-20 13:02:37"}]}"#,
        r#"{"value":[{"cotacaoCompra":5.6,"cotacaoVenda":5.5,"dataHoraCotacao":"2026-11-20 13:02:37"}]}"#,
        r#"{"value":[{"cotacaoCompra":"5,4","cotacaoVenda":5.5,"dataHoraCotacao":"2026-11-20 13:02:37"}]}"#,
        r#"{"value":[{"cotacaoCompra":5.4,"cotacaoVenda":5.5,"dataHoraCotacao":"yesterday"}]}"#,
        r#"{"value":[{"cotacaoCompra":5.4,"cotacaoVenda":5.5}]}"#,
        r#"{"value":{}}"#,
        "{}",
    ] {
        let result = read(body).await;
        assert_eq!(kind(&result), "unknown", "{body}: {}", reason(&result));
    }
}

#[tokio::test]
async fn rate_reports_the_right_outcome_of_bad_luck() {
    let answer = json!({"value": [
        {"cotacaoCompra": 5.405, "cotacaoVenda": 5.4056, "dataHoraCotacao": "2026-11-20 13:02:37.601"}
    ]});
    assert_outcomes(UNTRUSTING, answer, |url, budget: Duration| async move {
        ptax(&url).usd_rate(at(MONDAY), budget).await
    })
    .await;
    let server = Server::start(|_, _| html(200)).await;
    assert_eq!(kind(&ptax(&server.url()).usd_rate(at(MONDAY), BUDGET).await), "unknown");
    assert!(Ptax::new(&PtaxConfig::default()).is_ok());
}
