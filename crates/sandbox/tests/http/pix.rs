//! Tests received Pix: in the charge, alone, and in lists.

use serde_json::{Value, json};

use crate::bed::{Bed, money, txid};

const PERIOD: &str = "inicio=2020-01-01T00:00:00Z&fim=2100-01-01T00:00:00Z";

#[tokio::test]
async fn payment_concludes_charge_and_is_readable() {
    let bed = Bed::start().await;
    let (txid, e2e) = bed.paid(1, "10.50").await;
    let cob = bed.get(&format!("/v2/cob/{txid}")).await.body;
    assert_eq!(cob["status"], "CONCLUIDA");
    let pix = bed.get(&format!("/v2/pix/{e2e}")).await;
    assert_eq!(pix.status, 200);
    assert_eq!(cob["pix"], json!([pix.body]));
    assert_eq!(pix.body["endToEndId"], e2e.as_str());
    assert_eq!(pix.body["valor"], "10.50");
    assert_eq!(pix.body["componentesValor"], json!({ "original": { "valor": "10.50" } }));
    assert_eq!(pix.body["txid"], txid.as_str());
    assert_eq!(pix.body["chave"], bed.credentials.pix_key.as_str());
    assert_eq!(pix.body["devolucoes"], Value::Null);
    let unknown = bed.get(&format!("/v2/pix/{}", "E".repeat(32))).await;
    assert_eq!((unknown.status, unknown.kind()), (404, "PixNaoEncontrado"));
}

#[tokio::test]
async fn second_late_short_and_removed_payments_are_recorded() {
    let bed = Bed::start().await;
    let short = bed.create(1, "10.00").await;
    bed.control.pay(&short, Some(money("9.99"))).unwrap();
    assert_eq!(bed.get(&format!("/v2/cob/{short}")).await.body["status"], "ATIVA");
    bed.control.pay(&short, None).unwrap();
    bed.control.pay(&short, Some(money("0.01"))).unwrap();
    let cob = bed.get(&format!("/v2/cob/{short}")).await.body;
    let amounts: Vec<_> = cob["pix"].as_array().unwrap().iter().map(|pix| pix["valor"].as_str().unwrap()).collect();
    assert_eq!((cob["status"].as_str().unwrap(), amounts), ("CONCLUIDA", vec!["9.99", "10.00", "0.01"]));

    let late = bed.create(2, "10.00").await;
    bed.control.expire(&late).unwrap();
    bed.control.pay(&late, None).unwrap();
    assert_eq!(bed.get(&format!("/v2/cob/{late}")).await.body["status"], "CONCLUIDA");

    let removed = bed.create(3, "10.00").await;
    let path = format!("/v2/cob/{removed}");
    bed.patch(&path, &json!({ "status": "REMOVIDA_PELO_USUARIO_RECEBEDOR" })).await;
    bed.control.pay(&removed, None).unwrap();
    let cob = bed.get(&path).await.body;
    assert_eq!(cob["status"], "REMOVIDA_PELO_USUARIO_RECEBEDOR");
    assert_eq!(cob["pix"].as_array().unwrap().len(), 1);
    assert_eq!(bed.control.ledger().unwrap().received.count, 5);
}

#[tokio::test]
async fn cash_in_addition_is_paid_and_shown() {
    let bed = Bed::start().await;
    let mut body = bed.cob("10.00");
    let terms = json!({ "valor": "5.00", "modalidadeAgente": "AGTEC", "prestadorDoServicoDeSaque": "12345678" });
    body["valor"]["retirada"] = json!({ "troco": terms });
    assert_eq!(bed.put(&format!("/v2/cob/{}", txid(1)), &body).await.status, 201);
    let pix = bed.control.pay(&txid(1), None).unwrap();
    assert_eq!(pix.amount, money("15.00"));
    let pix = bed.get(&format!("/v2/pix/{}", pix.end_to_end_id)).await.body;
    let cash = json!({ "valor": "5.00", "modalidadeAgente": "AGTEC", "prestadorDeServicoDeSaque": "12345678" });
    assert_eq!(pix["componentesValor"], json!({ "original": { "valor": "10.00" }, "troco": cash }));
}

#[tokio::test]
async fn received_pix_are_listed_by_filter_and_page() {
    let bed = Bed::start().await;
    let (first, first_e2e) = bed.paid(1, "1.00").await;
    let mut body = bed.cob("2.00");
    body["devedor"] = json!({ "cpf": "12345678909", "nome": "Maria" });
    bed.put(&format!("/v2/cob/{}", txid(2)), &body).await;
    let second_e2e = bed.control.pay(&txid(2), None).unwrap().end_to_end_id;
    assert_eq!(bed.request_refund(&second_e2e, "r1", "0.50").await.status, 201);
    let (first_e2e, second_e2e) = (first_e2e.as_str(), second_e2e.as_str());
    let cases = [
        (String::new(), vec![first_e2e, second_e2e]),
        (format!("&txid={first}"), vec![first_e2e]),
        ("&txid=other".to_owned(), vec![]),
        ("&txIdPresente=true".to_owned(), vec![first_e2e, second_e2e]),
        ("&txIdPresente=false".to_owned(), vec![]),
        ("&devolucaoPresente=true".to_owned(), vec![second_e2e]),
        ("&devolucaoPresente=false".to_owned(), vec![first_e2e]),
        ("&cpf=12345678909".to_owned(), vec![second_e2e]),
        ("&cnpj=12ABC34501DE35".to_owned(), vec![]),
        ("&paginacao.itensPorPagina=1&paginacao.paginaAtual=1".to_owned(), vec![second_e2e]),
    ];
    for (filter, expected) in cases {
        let answer = bed.get(&format!("/v2/pix?{PERIOD}{filter}")).await;
        assert_eq!(answer.status, 200, "{filter} {answer:?}");
        let pix = answer.body["pix"].as_array().unwrap();
        let found: Vec<_> = pix.iter().map(|pix| pix["endToEndId"].as_str().unwrap()).collect();
        assert_eq!(found, expected, "{filter}");
    }
    let refused = bed.get(&format!("/v2/pix?{PERIOD}&txid=not-one&x=1")).await;
    assert_eq!((refused.status, refused.kind(), refused.violated()), (400, "PixConsultaInvalida", vec!["txid", "x"]));
}
