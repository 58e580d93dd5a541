//! Tests listing charges: the period, the filters, and pages.

use serde_json::{Value, json};

use crate::bed::{Bed, txid};

const PERIOD: &str = "inicio=2020-01-01T00:00:00Z&fim=2100-01-01T00:00:00Z";

fn txids(list: &Value) -> Vec<&str> {
    list["cobs"].as_array().unwrap().iter().map(|cob| cob["txid"].as_str().unwrap()).collect()
}

#[tokio::test]
async fn pages_of_charges_have_no_gap_or_overlap() {
    let bed = Bed::start().await;
    for number in 0..5 {
        bed.create(number, "1.00").await;
    }
    let mut seen = Vec::new();
    for page in 0..3 {
        let path = format!("/v2/cob?{PERIOD}&paginacao.paginaAtual={page}&paginacao.itensPorPagina=2");
        let answer = bed.get(&path).await;
        assert_eq!(answer.status, 200, "{answer:?}");
        assert_eq!(
            answer.body["parametros"],
            json!({
                "inicio": "2020-01-01T00:00:00Z",
                "fim": "2100-01-01T00:00:00Z",
                "paginacao": {
                    "paginaAtual": page, "itensPorPagina": 2, "quantidadeDePaginas": 3, "quantidadeTotalDeItens": 5,
                },
            })
        );
        seen.extend(txids(&answer.body).into_iter().map(str::to_owned));
    }
    let expected: Vec<_> = (0..5).map(|number| txid(number).as_str().to_owned()).collect();
    assert_eq!(seen, expected);
    let beyond = bed.get(&format!("/v2/cob?{PERIOD}&paginacao.paginaAtual=9")).await;
    assert_eq!((beyond.status, txids(&beyond.body).len()), (200, 0));
    let default = bed.get(&format!("/v2/cob?{PERIOD}")).await;
    assert_eq!(default.body["parametros"]["paginacao"]["itensPorPagina"], 100);
}

#[tokio::test]
async fn period_includes_both_ends() {
    let bed = Bed::start().await;
    let first = bed.create(1, "1.00").await;
    bed.control.set_clock_offset(60).unwrap();
    bed.create(2, "1.00").await;
    let created = bed.get(&format!("/v2/cob/{first}")).await.body["calendario"]["criacao"].clone();
    let created = created.as_str().unwrap();
    let list = bed.get(&format!("/v2/cob?inicio={created}&fim={created}")).await.body;
    assert_eq!(txids(&list), [first.as_str()]);
}

#[tokio::test]
async fn charges_are_filtered_by_debtor_status_and_location() {
    let bed = Bed::start().await;
    let debtors = [
        json!({ "cpf": "12345678909", "nome": "a" }),
        json!({ "cnpj": "12ABC34501DE35", "nome": "b" }),
        json!({ "cpf": "52998224725", "nome": "c" }),
    ];
    for (number, debtor) in (0..).zip(debtors) {
        let mut body = bed.cob("1.00");
        body["devedor"] = debtor;
        assert_eq!(bed.put(&format!("/v2/cob/{}", txid(number)), &body).await.status, 201);
    }
    bed.control.pay(&txid(2), None).unwrap();
    let cases = [
        ("cpf=12345678909", vec![0]),
        ("cnpj=12ABC34501DE35", vec![1]),
        ("status=CONCLUIDA", vec![2]),
        ("status=ATIVA", vec![0, 1]),
        ("status=REMOVIDA_PELO_PSP", vec![]),
        ("status=ATIVA&cpf=52998224725", vec![]),
        ("locationPresente=true", vec![0, 1, 2]),
        ("locationPresente=false", vec![]),
    ];
    for (filter, expected) in cases {
        let list = bed.get(&format!("/v2/cob?{PERIOD}&{filter}")).await.body;
        let expected: Vec<_> = expected.into_iter().map(txid).collect();
        assert_eq!(txids(&list), expected.iter().map(cais_domain::txid::Txid::as_str).collect::<Vec<_>>(), "{filter}");
    }
}

#[tokio::test]
async fn bad_query_is_refused_with_its_parameter() {
    let bed = Bed::start().await;
    let cases = [
        ("fim=2026-01-01T00:00:00Z", vec!["inicio"]),
        ("", vec!["inicio", "fim"]),
        ("inicio=yesterday&fim=2026-01-01T00:00:00Z", vec!["inicio"]),
        ("inicio=2026-01-02T00:00:00Z&fim=2026-01-01T00:00:00Z", vec!["fim"]),
        ("PERIOD&cpf=12345678909&cnpj=12ABC34501DE35", vec!["cpf"]),
        ("PERIOD&cpf=1", vec!["cpf"]),
        ("PERIOD&status=EXPIRADA", vec!["status"]),
        ("PERIOD&locationPresente=sim", vec!["locationPresente"]),
        ("PERIOD&paginacao.paginaAtual=-1", vec!["paginacao.paginaAtual"]),
        ("PERIOD&paginacao.itensPorPagina=-1", vec!["paginacao.itensPorPagina"]),
        ("PERIOD&paginacao.itensPorPagina=0", vec!["paginacao.itensPorPagina"]),
        ("PERIOD&paginacao.itensPorPagina=1001", vec!["paginacao.itensPorPagina"]),
        ("PERIOD&page=1", vec!["page"]),
        ("PERIOD&status=ATIVA&status=ATIVA", vec!["status"]),
    ];
    for (query, violated) in cases {
        let answer = bed.get(&format!("/v2/cob?{}", query.replace("PERIOD", PERIOD))).await;
        assert_eq!(
            (answer.status, answer.kind(), answer.violated()),
            (400, "CobConsultaInvalida", violated),
            "{query}"
        );
    }
}
