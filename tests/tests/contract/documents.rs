//! Endpoints without a key: health, interface description and its page. Metrics are elsewhere.

use reqwest::Method;

use crate::support::{Engine, Node, Reply, on_both, shared};

on_both! { health description_matches_the_answers page_loads_no_foreign_resources metrics_are_on_the_admin_address }

async fn get(node: &Node, path: &str) -> Reply {
    Reply::of(crate::support::client().get(format!("{}{path}", node.base()))).await
}

async fn health(engine: Engine) {
    let node = shared(engine).await;
    for path in ["/healthz", "/readyz"] {
        assert_eq!(get(&node, path).await.status, 200, "{path}");
    }
}

async fn description_matches_the_answers(engine: Engine) {
    let node = shared(engine).await;
    let shop = node.shop();
    let document = get(&node, "/v1/openapi.json").await.expect(200);
    assert!(document["openapi"].as_str().unwrap().starts_with("3."), "{}", document["openapi"]);
    assert_eq!(document["info"]["version"], "1.1.0");

    let paths = document["paths"].as_object().unwrap();
    for wanted in ["/v1/charges", "/v1/charges/{id}", "/v1/charges/{id}/cancel", "/v1/balance"] {
        assert!(paths.contains_key(wanted), "{wanted} is not described");
    }
    let charge = shop.charge_id("10").await;
    for (path, operations) in paths {
        let real = path.replace("{id}", &charge).replace("{delivery_id}", "dlv_01h455vb4pex5vsknk084sn02q");
        for method in operations.as_object().unwrap().keys() {
            let method = Method::from_bytes(method.to_uppercase().as_bytes()).unwrap();
            let request = shop.client.request(method.clone(), format!("{}{real}", shop.base)).bearer_auth(&shop.key);
            let reply = Reply::of(request).await.status;
            assert!(!matches!(reply, 404 | 405 | 500 | 502 | 503), "{method} {path}: {reply}");
        }
    }
    let described = document["components"]["schemas"]["Charge"]["properties"].as_object().unwrap();
    let real = shop.fetch(&charge).await;
    let mut fields: Vec<&String> = described.keys().collect();
    fields.sort_unstable();
    assert_eq!(fields, crate::support::names(&real), "the described charge is the real one");
}

async fn page_loads_no_foreign_resources(engine: Engine) {
    let node = shared(engine).await;
    let first = get(&node, "/docs").await;
    let page = match first.header("location") {
        Some(there) => {
            get(&node, &format!("/{}", there.trim_start_matches(&node.base()).trim_start_matches('/'))).await
        }
        None => first,
    };
    assert_eq!(page.status, 200, "{}", page.text());
    assert!(page.header("content-type").unwrap().starts_with("text/html"));
    let html = page.text();
    for attribute in ["src=", "href=", "url("] {
        for found in html.split(attribute).skip(1) {
            let target = found.trim_start_matches(['"', '\'']);
            let elsewhere = ["http:", "https:", "//"].iter().any(|scheme| target.starts_with(scheme));
            assert!(!elsewhere, "{attribute}{}", target.chars().take(80).collect::<String>());
            let target: String = target.chars().take_while(|letter| !"\"' >)".contains(*letter)).collect();
            if !target.is_empty() && !target.starts_with("data:") && !target.starts_with('#') {
                let path =
                    if target.starts_with('/') { target } else { format!("/docs/{}", target.trim_start_matches("./")) };
                assert_eq!(get(&node, &path).await.status, 200, "{path}");
            }
        }
    }
}

async fn metrics_are_on_the_admin_address(engine: Engine) {
    let node = shared(engine).await;
    node.shop().get("/charges").await.expect(200);
    let admin = node.cais.http_admin().unwrap();
    let metrics = admin.get("/metrics").await.unwrap();
    assert_eq!(metrics.status, 200);
    let text = String::from_utf8(metrics.body).unwrap();
    let all = |marker: &str| -> Vec<String> {
        let lines = text.lines().filter_map(|line| line.strip_prefix(marker)?.split(' ').next());
        lines.map(ToOwned::to_owned).collect()
    };
    let described = all("# HELP ");
    let bare: Vec<_> = all("# TYPE ").into_iter().filter(|name| !described.contains(name)).collect();
    assert!(bare.is_empty(), "no HELP text: {bare:?}");
    for name in [
        "cais_build_info{",
        "cais_commit_seconds_bucket{",
        "cais_http_request_seconds_bucket{",
        "process_cpu_seconds_total ",
        "process_open_fds ",
        "process_resident_memory_bytes ",
        "process_start_time_seconds ",
    ] {
        assert!(text.lines().any(|line| line.starts_with(name)), "{name} is missing in\n{text}");
    }
    assert_eq!(get(&node, "/metrics").await.status, 404);
    assert_ne!(admin.get("/v1/charges").await.unwrap().status, 200, "the API is not on the admin address");
    let leaks = text.lines().filter(|line| line.contains("key_") || line.contains("chg_")).count();
    assert_eq!(leaks, 0, "no keys or ids in labels");
}
