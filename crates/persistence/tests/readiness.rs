//! Tests that the store reports readiness only while it is ready.

use cais_persistence::{Persistence, StoreConfig};
use cais_ports::{QueryError, Store as _};
use cais_testkit::builders::{a_callback, steps};
use cais_testkit::postgres::Cluster;
use tokio::runtime::Runtime;

use crate::postgres::database;
use crate::stores::{config, ids, wait_until_ready};

#[test]
fn too_few_connections_for_webhooks_are_not_ready() {
    let url = database();
    let sql = |text: &str| Cluster::shared().unwrap().sql(&url, text).unwrap();
    let role = format!("role_of_{}", url.rsplit('/').next().unwrap());
    sql(&format!("CREATE ROLE {role} LOGIN"));
    sql(&format!("GRANT ALL ON ALL TABLES IN SCHEMA public TO {role}"));
    let url = url.replace("postgres@", &format!("{role}@"));
    Runtime::new().unwrap().block_on(async {
        let store = Persistence::open(&StoreConfig { read_connections: 1, ..config(&url) }, &ids()).unwrap();
        // The links of the queue connect at their first use. By then, all permitted connections are in use.
        sql(&format!(
            "DO $$ BEGIN EXECUTE format('ALTER ROLE {role} CONNECTION LIMIT %s', \
             (SELECT count(*) FROM pg_stat_activity WHERE usename = '{role}')); END $$"
        ));
        let lacks = "webhooks have no connection to the database";
        wait_until_ready(&store, |answer| *answer == Err(QueryError::Unavailable(lacks.to_owned()))).await;
        store.commit(steps::receive(&a_callback())).await.unwrap();
        sql(&format!("ALTER ROLE {role} CONNECTION LIMIT 20"));
        wait_until_ready(&store, Result::is_ok).await;
        store.close().await;
    });
}
