//! Tests that the `OpenAPI` document is complete and consistent. For example, every example matches its schema.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod fields;

use std::collections::BTreeSet;

use cais_domain::event::EventType;
use serde_json::Value;

use super::*;
use crate::describe::failures::DECLARED;
use crate::error::ErrorCode;
use crate::resources::csv::Row as _;
use crate::resources::statement::Entry;
use crate::resources::transaction::TransactionRow;

fn parsed() -> Value {
    serde_json::from_str(&document().unwrap()).unwrap()
}

/// Returns the path, the method and the operation object of every operation.
fn operations(document: &Value) -> Vec<(String, String, Value)> {
    let paths = document.get("paths").unwrap().as_object().unwrap();
    let each = paths.iter().flat_map(|(path, item)| {
        let item = item.as_object().unwrap();
        item.iter().map(|(method, operation)| (path.clone(), method.clone(), operation.clone()))
    });
    each.collect()
}

#[test]
fn document_is_deterministic_and_states_its_versions() {
    assert_eq!(document().unwrap(), document().unwrap());
    let document = parsed();
    assert_eq!(document.pointer("/info/version").unwrap(), "1.1.0");
    assert_eq!(document.pointer("/openapi").unwrap(), "3.1.0");
    let schemes: Vec<_> =
        document.pointer("/components/securitySchemes").unwrap().as_object().unwrap().keys().collect();
    assert_eq!(schemes, ["bearer", "x-api-key"]);
}

/// Returns the target of `value` if `value` is a reference (`$ref`), else `value` itself.
fn resolved<'d>(document: &'d Value, value: &'d Value) -> &'d Value {
    let Some(reference) = value.get("$ref").and_then(Value::as_str) else { return value };
    document.pointer(reference.strip_prefix('#').unwrap()).unwrap_or_else(|| unknown("the document", reference))
}

#[test]
fn operations_have_ids_tags_responses_and_path_parameters() {
    let document = parsed();
    let tags: BTreeSet<_> = TAGS.iter().map(|(name, _)| *name).collect();
    let mut ids = BTreeSet::new();
    for (path, method, operation) in operations(&document) {
        let id = operation.get("operationId").unwrap().as_str().unwrap().to_owned();
        assert!(ids.insert(id.clone()), "{id} twice");
        assert!(tags.contains(operation.pointer("/tags/0").unwrap().as_str().unwrap()), "{id}");
        assert!(!operation.get("responses").unwrap().as_object().unwrap().is_empty(), "{id}");
        let none = Vec::new();
        let parameters = operation.get("parameters").and_then(Value::as_array).unwrap_or(&none);
        let in_path = parameters.iter().filter(|parameter| parameter.get("in").unwrap() == "path").count();
        assert_eq!(in_path, path.matches('{').count(), "{method} {path}");
        assert!(operation.get("security").is_some(), "{method} {path}");
    }
}

#[test]
fn error_codes_are_listed_under_their_status() {
    let document = parsed();
    let all = operations(&document);
    for code in ErrorCode::ALL
        .iter()
        .filter(|code| !ErrorCode::WITHOUT_ROUTE.contains(code) && **code != ErrorCode::NotImplemented)
    {
        let pointer = format!("/responses/{}", code.status().as_u16());
        let example = format!("/content/application~1json/examples/{}", code.name());
        let stands = all.iter().filter_map(|(_, _, operation)| operation.pointer(&pointer)).any(|response| {
            let example = resolved(&document, response).pointer(&example);
            example.is_some_and(|example| resolved(&document, example).get("value").is_some())
        });
        assert!(stands, "{}", code.name());
    }
}

#[test]
fn references_all_have_targets() {
    let document = parsed();
    let mut pending = vec![&document];
    let mut seen = 0;
    while let Some(value) = pending.pop() {
        match value {
            Value::Array(items) => pending.extend(items),
            Value::Object(members) => {
                pending.extend(members.values());
                seen += usize::from(members.contains_key("$ref"));
                resolved(&document, value);
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }
    assert!(seen > 500, "only {seen} references");
}

#[test]
fn examples_have_exactly_the_fields_of_their_schemas() {
    let document = parsed();
    let mut seen = 0;
    for (path, method, operation) in operations(&document) {
        let responses = operation.get("responses").unwrap().as_object().unwrap();
        let bodies = responses.values().chain(operation.get("requestBody")).map(|body| resolved(&document, body));
        for content in bodies.filter_map(|body| body.pointer("/content/application~1json")) {
            let Some(schema) = content.get("schema") else { continue };
            let one = content.get("example").into_iter();
            let named = content.get("examples").and_then(Value::as_object).into_iter().flat_map(|all| all.values());
            let named = named.map(|example| resolved(&document, example).get("value").unwrap());
            for example in one.chain(named) {
                compare(&document, schema, example, &format!("{method} {path}"));
                seen += 1;
            }
        }
    }
    assert!(seen > 50, "only {seen} examples");
}

#[test]
fn event_types_have_a_webhook_and_typed_data() {
    let document = parsed();
    let webhooks = document.get("webhooks").unwrap().as_object().unwrap();
    for kind in EventType::ALL {
        let schema = webhooks.get(kind.as_str()).unwrap().pointer("/post/requestBody/content/application~1json/schema");
        let event = resolved(&document, schema.unwrap());
        let types = event.pointer("/properties/type/enum").unwrap().as_array().unwrap();
        assert!(types.iter().any(|name| name == kind.as_str()), "{}", kind.as_str());
        let text =
            |kind: EventType| webhooks.get(kind.as_str()).unwrap().pointer("/post/description").unwrap().as_str();
        let same = EventType::ALL.into_iter().filter(|other| text(*other) == text(kind)).count();
        assert_eq!(same, 1, "the description of {} is not unique", kind.as_str());
        let data = resolved(&document, event.pointer("/properties/data").unwrap());
        assert!(data.get("properties").is_some(), "{}", kind.as_str());
    }
    let union = document.pointer("/components/schemas/Event/oneOf").unwrap().as_array().unwrap();
    let listed: BTreeSet<&str> = union
        .iter()
        .flat_map(|one| resolved(&document, one).pointer("/properties/type/enum").unwrap().as_array().unwrap())
        .map(|name| name.as_str().unwrap())
        .collect();
    assert_eq!((listed.len(), webhooks.len()), (EventType::ALL.len(), EventType::ALL.len()));
}

/// Fails unless the value has all required fields of its schema, no unknown fields, and correct types.
fn compare(document: &Value, schema: &Value, value: &Value, place: &str) {
    if let Some(reference) = schema.get("$ref").and_then(Value::as_str) {
        let target = document.pointer(reference.strip_prefix('#').unwrap());
        return compare(document, target.unwrap_or_else(|| unknown(place, reference)), value, place);
    }
    if let Some(options) = schema.get("oneOf").and_then(Value::as_array) {
        let kind = value.get("type");
        let of_type = options.iter().find(|option| {
            let kinds = resolved(document, option).pointer("/properties/type/enum").and_then(Value::as_array);
            match kinds {
                Some(kinds) => kind.is_some_and(|kind| kinds.contains(kind)),
                None => (option.get("type").and_then(Value::as_str) == Some("null")) == value.is_null(),
            }
        });
        return compare(document, of_type.unwrap(), value, place);
    }
    let named = schema.get("type").unwrap();
    let types = named.as_array().cloned().unwrap_or_else(|| vec![named.clone()]);
    let actual = match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(number) if number.is_i64() && types.iter().any(|name| name == "integer") => "integer",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    };
    assert!(types.iter().any(|name| name == actual), "{place}: {value} is not {types:?}");
    if let Value::Array(items) = value {
        for item in items {
            compare(document, schema.get("items").unwrap(), item, place);
        }
    }
    let Value::Object(members) = value else { return };
    // A schema without `properties` accepts any object.
    let Some(fields) = schema.get("properties").and_then(Value::as_object) else { return };
    for (name, member) in members {
        let field = fields.get(name).unwrap_or_else(|| unknown(place, name));
        compare(document, field, member, &format!("{place} {name}"));
    }
    let none = Vec::new();
    for name in schema.get("required").and_then(Value::as_array).unwrap_or(&none) {
        assert!(members.contains_key(name.as_str().unwrap()), "{place}: {name} is missing");
    }
}

#[expect(clippy::panic, reason = "a test fails by panicking")]
fn unknown(place: &str, name: &str) -> ! {
    panic!("{place}: `{name}` is not declared")
}

#[test]
fn charge_operations_declare_the_contract_statuses() {
    let document = parsed();
    let statuses = |pointer: &str| {
        let responses = document.pointer(pointer).unwrap().get("responses").unwrap().as_object().unwrap();
        responses.keys().filter(|status| status.as_str() >= "400").cloned().collect::<Vec<_>>()
    };
    let with = |more: &[&str]| {
        let mut all: Vec<String> = DECLARED.iter().chain(more).map(|status| (*status).to_owned()).collect();
        all.sort();
        all
    };
    assert_eq!(statuses("/paths/~1v1~1charges/get"), with(&["405"]));
    assert_eq!(statuses("/paths/~1v1~1charges/post"), with(&["405", "408", "413", "415"]));
}

#[test]
fn responses_have_their_headers() {
    let document = parsed();
    for (path, method, operation) in operations(&document) {
        for (status, response) in operation.get("responses").unwrap().as_object().unwrap() {
            let headers = resolved(&document, response).get("headers");
            let has = |name: &str| {
                let header = headers.and_then(|headers| headers.get(name));
                header.is_some_and(|header| resolved(&document, header).get("schema").is_some())
            };
            let place = format!("{method} {path} {status}");
            for name in OF_SUCCESS {
                assert_eq!(has(name), status.starts_with('2'), "{place} {name}");
            }
            assert_eq!(has("Retry-After"), ["409", "429", "502", "503"].contains(&status.as_str()), "{place}");
            let creates = [
                "/v1/charges",
                "/v1/payouts",
                "/v1/charges/{id}/refunds",
                "/v1/crypto/deposits",
                "/v1/crypto/withdrawals",
            ]
            .contains(&path.as_str());
            let is_stored = status.starts_with('2')
                || (status == "422" && !["/v1/charges", "/v1/crypto/deposits"].contains(&path.as_str()));
            assert_eq!(has("idempotent-replayed"), creates && method == "post" && is_stored, "{place}");
        }
    }
}

/// The document must not use `multipleOf`: common validators compare it in binary floating point and reject 19.90.
#[test]
fn amounts_are_decimal_without_binary_rules() {
    let text = document().unwrap();
    assert!(!text.contains("\"double\"") && !text.contains("multipleOf"));
}

/// Request bodies must not have defaults: generators treat a property with a default as always present, and require it in requests.
#[test]
fn request_bodies_have_no_defaults() {
    let document = parsed();
    for (name, schema) in document.pointer("/components/schemas").unwrap().as_object().unwrap() {
        let fields = schema.get("properties").and_then(Value::as_object).into_iter().flatten();
        for (field, schema) in fields {
            assert!(schema.get("default").is_none(), "{name}.{field}");
        }
    }
}

#[test]
fn tags_have_a_fixed_order() {
    let document = parsed();
    let tags: Vec<_> = document.pointer("/tags").unwrap().as_array().unwrap().iter().collect();
    let names: Vec<&str> = tags.iter().map(|tag| tag.get("name").unwrap().as_str().unwrap()).collect();
    assert_eq!(
        names,
        ["charges", "payouts", "transactions", "balance", "infractions", "crypto", "webhooks", "events", "sandbox"]
    );
}

#[test]
fn lists_with_files_declare_csv() {
    let document = parsed();
    for (path, names) in [("~1v1~1balance~1entries", Entry::NAMES), ("~1v1~1transactions", TransactionRow::NAMES)] {
        let example = document.pointer(&format!("/paths/{path}/get/responses/200/content/text~1csv/example"));
        let text = example.unwrap().as_str().unwrap();
        assert_eq!(text.split("\r\n").next().unwrap(), names.join(","));
        assert_eq!(text.matches("\r\n").count(), 3, "{text}");
    }
}
