//! Tests lists of sent Pix: period, filters, and pages.

use serde_json::{Value, json};

use crate::bed::{Bed, instant_sends};

const PERIOD: &str = "inicio=2020-01-01T00:00:00Z&fim=2100-01-01T00:00:00Z";

fn ids(list: &Value) -> Vec<&str> {
    list["pix"].as_array().unwrap().iter().map(|sent| sent["idEnvio"].as_str().unwrap()).collect()
}

#[tokio::test]
async fn pages_of_sends_have_no_gap_or_overlap() {
    let bed = Bed::with(instant_sends()).await;
    for id in ["e", "d", "c", "b", "a"] {
        assert_eq!(bed.send(id, "1.00", "a@example.com").await.status, 201);
    }
    let mut seen = Vec::new();
    for page in 0..3 {
        let path = format!("/v2/gn/pix/enviados?{PERIOD}&paginacao.paginaAtual={page}&paginacao.itensPorPagina=2");
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
        seen.extend(ids(&answer.body).into_iter().map(str::to_owned));
    }
    assert_eq!(seen, ["e", "d", "c", "b", "a"]);
    let first = bed.get(&format!("/v2/gn/pix/enviados?{PERIOD}&paginacao.itensPorPagina=1")).await.body;
    assert_eq!(first["pix"], json!([bed.sent("e").await]));
}

#[tokio::test]
async fn sends_are_filtered_by_time_status_and_recipient() {
    let bed = Bed::with(instant_sends()).await;
    for (id, key) in
        [("ok", "52998224725"), ("no", "fail@sandbox.cais"), ("late", "slow@sandbox.cais"), ("firm", "12ABC34501DE35")]
    {
        assert_eq!(bed.send(id, "1.00", key).await.status, 201);
    }
    let cases = [
        ("status=REALIZADO", vec!["ok", "firm"]),
        ("status=NAO_REALIZADO", vec!["no"]),
        ("status=EM_PROCESSAMENTO", vec!["late"]),
        ("cpf=52998224725", vec!["ok"]),
        ("cnpj=12ABC34501DE35", vec!["firm"]),
        ("cpf=52998224725&status=NAO_REALIZADO", vec![]),
        ("exibirCodigoBanco=true", vec!["ok", "no", "late", "firm"]),
    ];
    for (filter, expected) in cases {
        let list = bed.get(&format!("/v2/gn/pix/enviados?{PERIOD}&{filter}")).await;
        assert_eq!((list.status, ids(&list.body)), (200, expected), "{filter}");
    }
    bed.control.set_clock_offset(60).unwrap();
    assert_eq!(bed.send("later", "1.00", "a@example.com").await.status, 201);
    let requested_at = bed.sent("later").await["horario"]["solicitacao"].clone();
    let requested_at = requested_at.as_str().unwrap();
    let list =
        bed.get(&format!("/v2/gn/pix/enviados?inicio={requested_at}&fim={requested_at}&status=REALIZADO")).await.body;
    assert_eq!(ids(&list), ["later"], "both ends are included");
    assert_eq!(
        (&list["parametros"]["inicio"], &list["parametros"]["status"]),
        (&json!(requested_at), &json!("REALIZADO"))
    );
}

#[tokio::test]
async fn bad_query_is_refused_with_its_parameter() {
    let bed = Bed::start().await;
    let cases = [
        ("", vec!["inicio", "fim"]),
        ("inicio=yesterday&fim=2026-01-01T00:00:00Z", vec!["inicio"]),
        ("inicio=2026-01-02T00:00:00Z&fim=2026-01-01T00:00:00Z", vec!["fim"]),
        ("PERIOD&status=DEVOLVIDO", vec!["status"]),
        ("PERIOD&cpf=12345678909&cnpj=12ABC34501DE35", vec!["cpf"]),
        ("PERIOD&exibirCodigoBanco=sim", vec!["exibirCodigoBanco"]),
        ("PERIOD&paginacao.itensPorPagina=1001", vec!["paginacao.itensPorPagina"]),
        ("PERIOD&x=1", vec!["x"]),
    ];
    for (query, violated) in cases {
        let answer = bed.get(&format!("/v2/gn/pix/enviados?{}", query.replace("PERIOD", PERIOD))).await;
        assert_eq!(
            (answer.status, answer.kind(), answer.violated()),
            (400, "PixEnviadoConsultaInvalida", violated),
            "{query}"
        );
    }
}
