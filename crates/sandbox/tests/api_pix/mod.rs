//! Validates requests and answers of the API Pix and of Efí's extensions against `schema.json`.
//!
//! The schema has the fields in use, with the patterns and states of the Central Bank's `OpenAPI` 2.9.0 and of Efí's
//! documents. The schema corrects known defects of the published file, such as unanchored patterns.

use std::sync::LazyLock;

use regex_lite::Regex;
use reqwest::Url;
use serde_json::{Value, json};

static SCHEMA: LazyLock<Value> = LazyLock::new(|| serde_json::from_str(include_str!("schema.json")).unwrap());

/// Returns the violations of a request. `target` is the path with its query. Requests of other interfaces have none.
pub fn violations_of_request(method: &str, target: &str, body: &str) -> Vec<String> {
    let Some(url) = own_url(target) else { return Vec::new() };
    let Some(operation) = operation(method, &url) else { return vec![format!("{method} {target} is no operation")] };
    let mut found = Vec::new();
    let query: Value = url.query_pairs().map(|(name, value)| (name.into_owned(), Value::from(&*value))).collect();
    if let Some(name) = operation.get("query") {
        check(definition(name), &query, "query", &mut found);
    }
    let body = if body.is_empty() { Value::Null } else { serde_json::from_str(body).unwrap_or(json!("no JSON")) };
    let schema = operation.get("request").map_or_else(|| definition(&json!("Vazio")), definition);
    check(schema, &body, "body", &mut found);
    found
}

/// Returns the violations of an answer. A refusal has one of the documented shapes.
pub fn violations_of_answer(method: &str, target: &str, status: u16, body: &Value) -> Vec<String> {
    let Some(url) = own_url(target) else { return Vec::new() };
    let name = match operation(method, &url) {
        _ if status >= 400 => Some(json!("Recusa")),
        operation => operation.and_then(|operation| operation["answers"].get(status.to_string()).cloned()),
    };
    let Some(name) = name else { return vec![format!("{method} {target} has no answer {status}")] };
    let mut found = Vec::new();
    check(definition(&name), body, "answer", &mut found);
    found
}

/// Returns the address; `None` for other interfaces on the same port.
fn own_url(target: &str) -> Option<Url> {
    let url = Url::parse("http://localhost").unwrap().join(target).unwrap();
    ["/v2/", "/v3/"].iter().any(|start| url.path().starts_with(start)).then_some(url)
}

fn operation(method: &str, url: &Url) -> Option<&'static Value> {
    let is_it = |operation: &&Value| operation["method"] == method && matches(&operation["path"], url.path());
    SCHEMA["operations"].as_array().unwrap().iter().find(is_it)
}

fn definition(name: &Value) -> &'static Value {
    &SCHEMA["definitions"][name.as_str().unwrap()]
}

fn matches(pattern: &Value, text: &str) -> bool {
    Regex::new(pattern.as_str().unwrap()).unwrap().is_match(text)
}

/// Collects the violations of the keywords that the schema uses. `pattern` applies to numbers too.
fn check(schema: &Value, value: &Value, at: &str, found: &mut Vec<String>) {
    if let Some(name) = schema.get("$ref") {
        return check(definition(name), value, at, found);
    }
    if let Some(shapes) = schema.get("anyOf") {
        let fits = |shape: &Value| {
            let mut of_shape = Vec::new();
            check(shape, value, at, &mut of_shape);
            of_shape.is_empty()
        };
        if !shapes.as_array().unwrap().iter().any(fits) {
            found.push(format!("{at} has no listed shape: {value}"));
        }
        return;
    }
    let has_type = match schema.get("type").and_then(Value::as_str) {
        Some("object") => value.is_object(),
        Some("array") => value.is_array(),
        Some("string") => value.is_string(),
        Some("integer") => value.is_i64(),
        Some("null") => value.is_null(),
        Some(other) => unreachable!("the schema has an unknown type: {other}"),
        None => true,
    };
    let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let length = text.chars().count();
    for (keyword, holds) in [
        ("type", has_type),
        ("enum", schema.get("enum").is_none_or(|listed| listed.as_array().unwrap().contains(value))),
        ("pattern", schema.get("pattern").is_none_or(|pattern| matches(pattern, &text))),
        (
            "maxLength",
            schema.get("maxLength").is_none_or(|max| u64::try_from(length).unwrap() <= max.as_u64().unwrap()),
        ),
    ] {
        if !holds {
            found.push(format!("{at} violates {keyword}: {value}"));
        }
    }
    let items = value.as_array().map(Vec::as_slice).unwrap_or_default();
    if schema.get("maxItems").is_some_and(|max| u64::try_from(items.len()).unwrap() > max.as_u64().unwrap()) {
        found.push(format!("{at} has too many items"));
    }
    if let Some(schema) = schema.get("items") {
        for (index, item) in items.iter().enumerate() {
            check(schema, item, &format!("{at}[{index}]"), found);
        }
    }
    let Some(fields) = value.as_object() else { return };
    for name in schema.get("required").and_then(Value::as_array).into_iter().flatten() {
        if !fields.contains_key(name.as_str().unwrap()) {
            found.push(format!("{at} lacks {name}"));
        }
    }
    for (name, field) in fields {
        match schema.get("properties").and_then(|properties| properties.get(name)) {
            Some(schema) => check(schema, field, &format!("{at}.{name}"), found),
            None if schema.get("additionalProperties") == Some(&json!(false)) => {
                found.push(format!("{at} has the unknown field {name}"));
            }
            None => {}
        }
    }
}

#[test]
fn schema_refuses_each_wrong_request_and_answer() {
    let txid = "7978c0c97ea847e78e8849634473c1f1";
    let cob = json!({"calendario": {"expiracao": 3600}, "valor": {"original": "10.50"}, "chave": "ana@example.com"});
    let put = format!("/v2/cob/{txid}");
    let wrong = |pointer: &str, value: Value| {
        let mut body = cob.clone();
        *body.pointer_mut(pointer).unwrap() = value;
        violations_of_request("PUT", &put, &body.to_string()).join("; ")
    };
    assert_eq!(violations_of_request("PUT", &put, &cob.to_string()), [""; 0]);
    assert_eq!(wrong("/valor/original", json!("10.5")), r#"body.valor.original violates pattern: "10.5""#);
    assert_eq!(
        wrong("/valor/original", json!(10.5)),
        "body.valor.original violates type: 10.5; body.valor.original violates pattern: 10.5"
    );
    assert_eq!(wrong("/valor", json!({})), r#"body.valor lacks "original""#);
    assert_eq!(wrong("/calendario/expiracao", json!(-1)), "body.calendario.expiracao violates pattern: -1");
    assert_eq!(wrong("/calendario", json!({"expiracao": 1, "x": 2})), "body.calendario has the unknown field x");
    assert!(wrong("/chave", json!("x".repeat(78))).starts_with("body.chave violates maxLength"));
    assert_eq!(violations_of_request("PUT", "/v2/cob/short", "{}"), ["PUT /v2/cob/short is no operation"]);
    assert_eq!(violations_of_request("GET", "/v2/pix?inicio=2026-01-01&fim=2026-01-01T00%3A00%3A00Z", "").len(), 1);
    assert_eq!(violations_of_request("GET", &put, "{}").len(), 1, "a read has no body");
    assert_eq!(violations_of_request("GET", "/v1/payment", "x"), [""; 0], "another interface");

    let refusal = json!({"nome": "txid_duplicado", "mensagem": "…"});
    assert_eq!(violations_of_answer("PUT", &put, 409, &refusal), [""; 0]);
    assert_eq!(violations_of_answer("PUT", &put, 400, &json!({"message": "no"})).len(), 1);
    assert_eq!(violations_of_answer("PUT", &put, 200, &json!({})).len(), 1, "a creation is a 201");
    let missing = violations_of_answer("PUT", &put, 201, &json!({"status": "PAGA"}));
    assert!(
        missing.contains(&r#"answer.status violates enum: "PAGA""#.to_owned()) && missing.len() == 6,
        "{missing:?}"
    );
}
