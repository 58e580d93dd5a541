//! Tests lists of received Pix.

use cais_ports::Acquirer;
use serde_json::{Value, json};

use crate::answers::{
    BUDGET, TXID, acquirer, changed, day, devolucao, efi, html, json_reply, kind, nome, problem, reason,
};
use crate::server::{Act, Server};

fn pix(tail: &str, txid: Option<&str>) -> Value {
    let pix = json!({
        "endToEndId": format!("E12345678202611201500{tail}"), "valor": "10.50", "chave": "x",
        "horario": "2026-11-20T15:00:00Z", "devolucoes": [devolucao()]
    });
    changed(pix, "/txid", txid.map(Value::from))
}

#[tokio::test]
async fn received_pix_are_listed_by_page() {
    let server = Server::start(|seen, _| {
        let number = u32::from(!seen.path.contains("paginaAtual=0"));
        let rows = match number {
            0 => json!([pix("aaaaaaaaaaa", Some(TXID)), pix("bbbbbbbbbbb", None)]),
            _ => json!([pix("ccccccccccc", Some("static1"))]),
        };
        let paging = json!({
            "paginaAtual": number, "itensPorPagina": 100, "quantidadeDePaginas": 2, "quantidadeTotalDeItens": 3
        });
        json_reply(200, &json!({"parametros": {"paginacao": paging}, "pix": rows}))
    })
    .await;
    let both: [Box<dyn Acquirer>; 2] = [Box::new(acquirer(&server.url())), Box::new(efi(&server.url()))];
    for acquirer in both {
        let (mut found, mut next) = (Vec::new(), Some(0));
        while let Some(page) = next {
            let page = acquirer.list_received(day(page), BUDGET).await.unwrap();
            next = page.next;
            found.extend(page.rows.into_iter().map(|row| {
                let txid = row.txid.map_or("-".to_owned(), |txid| txid.to_string());
                let id = row.payment.end_to_end_id.as_str().split_at(21).1.to_owned();
                (txid, id, row.payment.amount.to_string(), row.payment.returns.len())
            }));
        }
        let row = |txid: &str, id: &str| (txid.to_owned(), id.to_owned(), "10.50".to_owned(), 1);
        assert_eq!(found, [row(TXID, "aaaaaaaaaaa"), row("-", "bbbbbbbbbbb"), row("-", "ccccccccccc")]);
    }
    let query = "inicio=2026-11-20T00%3A00%3A00Z&fim=2026-11-21T00%3A00%3A00Z&paginacao.paginaAtual=1&paginacao.itensPorPagina=1000";
    assert_eq!(server.seen().last().unwrap().path, format!("/v2/pix?{query}"));
}

#[tokio::test]
async fn received_pix_is_read_by_its_id() {
    let id = "E12345678202611201500aaaaaaaaaaa";
    let good = || pix("aaaaaaaaaaa", Some(TXID));
    for (answer, wanted) in [
        (json_reply(200, &good()), format!("{TXID} {id} 10.50 1")),
        (json_reply(200, &pix("aaaaaaaaaaa", None)), format!("- {id} 10.50 1")),
        (json_reply(200, &pix("aaaaaaaaaaa", Some("static1"))), format!("- {id} 10.50 1")),
        (problem(404, "PixNaoEncontrado"), "none".to_owned()),
        (nome(400, "pix_nao_encontrado"), "none".to_owned()),
        (html(404), "unknown".to_owned()),
        (json_reply(200, &pix("bbbbbbbbbbb", Some(TXID))), "unknown".to_owned()),
        (json_reply(200, &changed(good(), "/valor", Some(json!("10.5")))), "unknown".to_owned()),
        (json_reply(200, &changed(good(), "/valor", None)), "unknown".to_owned()),
        (json_reply(200, &json!([])), "unknown".to_owned()),
        (html(200), "unknown".to_owned()),
        (problem(500, "ErroInternoDoServidor"), "unknown".to_owned()),
        (problem(403, "AcessoNegado"), "unavailable".to_owned()),
        (Act::Cut, "unknown".to_owned()),
    ] {
        let server = Server::start(move |_, _| answer.clone()).await;
        let both: [Box<dyn Acquirer>; 2] = [Box::new(acquirer(&server.url())), Box::new(efi(&server.url()))];
        for acquirer in both {
            let result = acquirer.find_received(&crate::answers::pix(), BUDGET).await;
            let found = match &result {
                Ok(Some(found)) => {
                    let txid = found.txid.as_ref().map_or("-", |txid| txid.as_str());
                    let payment = &found.payment;
                    format!("{txid} {} {} {}", payment.end_to_end_id, payment.amount, payment.returns.len())
                }
                Ok(None) => "none".to_owned(),
                Err(_) => kind(&result).to_owned(),
            };
            assert_eq!(found, wanted, "{}", reason(&result));
            assert_eq!(server.seen().last().unwrap().path, format!("/v2/pix/{id}"));
        }
    }
}

#[tokio::test]
async fn page_of_a_hundred_rows_is_read() {
    let rows = vec![changed(pix("aaaaaaaaaaa", Some(TXID)), "/infoPagador", Some(json!("x".repeat(6_000)))); 100];
    let server = Server::start(move |_, _| json_reply(200, &json!({"pix": rows}))).await;
    let page = acquirer(&server.url()).list_received(day(0), BUDGET).await.unwrap();
    assert_eq!((page.rows.len(), page.next), (100, Some(1)));
}

#[tokio::test]
async fn row_of_possible_charge_is_never_skipped() {
    let broken = |txid| changed(pix("aaaaaaaaaaa", txid), "/valor", Some(json!("?")));
    let list = json!({"pix": [broken(None), broken(Some("static1")), pix("bbbbbbbbbbb", None)]});
    let server = Server::start(move |_, _| json_reply(200, &list)).await;
    assert_eq!(acquirer(&server.url()).list_received(day(0), BUDGET).await.unwrap().rows.len(), 1);

    let other_page = json!({"parametros": {"paginacao": {"paginaAtual": 1}}, "pix": []});
    for (answer, wanted) in [
        (json_reply(200, &json!({"parametros": {}})), "unknown"),
        (json_reply(200, &other_page), "unknown"),
        (json_reply(200, &json!([])), "unknown"),
        (html(200), "unknown"),
        (problem(400, "PixConsultaInvalida"), "unknown"),
        (problem(404, "NaoEncontrado"), "unknown"),
        (problem(403, "AcessoNegado"), "unavailable"),
        (Act::Cut, "unknown"),
        (json_reply(200, &json!({"pix": []})), "ok"),
    ] {
        let server = Server::start(move |_, _| answer.clone()).await;
        let result = acquirer(&server.url()).list_received(day(0), BUDGET).await;
        assert_eq!(kind(&result), wanted, "{}", reason(&result));
    }
}

#[tokio::test]
async fn unreadable_row_is_reported_with_the_others() {
    let broken = |field: &str, value| changed(pix("aaaaaaaaaaa", Some(TXID)), field, value);
    let id = "E12345678202611201500aaaaaaaaaaa";
    for (row, name, reason) in [
        (broken("/valor", Some(json!("10.5"))), id, "pix[1].valor is not an amount"),
        (broken("/horario", None), id, "pix[1].horario is not an instant"),
        (broken("/endToEndId", None), TXID, "pix[1].endToEndId is not an end-to-end id"),
        (broken("/valor", Some(json!(7))), id, "pix[1] cannot be read"),
        (json!(7), "pix[1]", "pix[1] cannot be read"),
    ] {
        let list = json!({"pix": [pix("bbbbbbbbbbb", None), row, pix("ccccccccccc", Some(TXID))]});
        let server = Server::start(move |_, _| json_reply(200, &list)).await;
        let page = acquirer(&server.url()).list_received(day(0), BUDGET).await.unwrap();
        let unreadable: Vec<_> = page.unreadable.iter().map(|row| (row.name.as_str(), row.reason.as_str())).collect();
        assert_eq!((page.rows.len(), unreadable), (2, vec![(name, &*format!("the answer's {reason}"))]));
    }
}
