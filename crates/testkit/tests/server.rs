//! Tests the harness around the real program: start, call, kill, restart on the same data, and end.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use cais_testkit::server::{Cais, Engine};

async fn starts_and_ends(engine: Engine) {
    let mut cais = Cais::start(engine).await.unwrap();
    assert_eq!(cais.http().get("/healthz").await.unwrap().status, 200);
    let refused = cais.http().get("/v1/charges").await.unwrap();
    assert_eq!((refused.status, refused.error_code().as_deref()), (401, Some("missing_api_key")));

    let key = cais.create_key("ana@shop.example", "all").unwrap();
    let charges = cais.http_as(&key).get("/v1/charges").await.unwrap();
    assert_eq!(charges.status, 200, "{}", cais.log());
    assert!(charges.header("x-request-id").is_some());
    assert_eq!(cais.http_admin().unwrap().get("/metrics").await.unwrap().status, 200);

    cais.crash_and_restart().await.unwrap();
    assert_eq!(cais.http_as(&key).get("/v1/charges").await.unwrap().status, 200);
    assert!(cais.terminate().unwrap().success(), "{}", cais.log());
    assert!(cais.http().get("/healthz").await.is_err());
    cais.launch().await.unwrap();
    assert_eq!(cais.http_as(&key).get("/v1/charges").await.unwrap().status, 200);

    let (code, printed) = cais.cli_raw(&["no-such-command"]).unwrap();
    assert_ne!(code, Some(0), "{printed}");
    let folder = cais.data_dir().to_owned();
    drop(cais);
    assert!(!folder.exists());
}

#[tokio::test]
async fn service_on_sqlite_starts_restarts_and_ends() {
    starts_and_ends(Engine::Sqlite).await;
}

#[tokio::test]
async fn service_on_postgres_starts_restarts_and_ends() {
    starts_and_ends(Engine::Postgres).await;
}
