//! Tests strict reading of JSON: numbers stay text, repeated keys are refused, and the depth is bounded.

use super::*;

fn problems(body: &[u8]) -> Vec<String> {
    let issues = Issues::default();
    let _node = read(body, &issues);
    issues.into_vec().into_iter().map(|issue| format!("{}: {}", issue.path, issue.message)).collect()
}

#[test]
fn values_keep_their_text() {
    let issues = Issues::default();
    let node = read(br#" {"a":[1.50e1,"x\u00e9\n",null,true,false,{}],"b":{"c":-0}} "#, &issues);
    let text = |text: &'static str| Node::Text(text.into());
    let expected = Node::Object(vec![
        (
            "a".into(),
            Node::List(vec![
                Node::Number("1.50e1"),
                text("xé\n"),
                Node::Null,
                Node::Bool(true),
                Node::Bool(false),
                Node::Object(vec![]),
            ]),
        ),
        ("b".into(), Node::Object(vec![("c".into(), Node::Number("-0"))])),
    ]);
    assert_eq!(node, expected);
    assert!(issues.is_empty());
}

#[test]
fn repeated_keys_are_found_at_any_depth_and_spelling() {
    assert_eq!(
        problems(br#"{"a":1,"b":[{"c":1,"\u0063":2,"c":3}],"a":2}"#),
        ["b[0].c: is given more than once", "b[0].c: is given more than once", "a: is given more than once"]
    );
}

#[test]
fn malformed_bodies_are_reported() {
    for (body, expected) in [
        (&b""[..], ": must be a JSON object, and is empty"),
        (b"{\"a\":\"\xff\"}", ": is not valid UTF-8"),
        (b"{", ": is not valid JSON (line 1, column 1)"),
        (b"{}x", ": is not valid JSON (line 1, column 3)"),
        (b"{\"a\":01}", ": is not valid JSON (line 1, column 7)"),
        (b"{\"a\":NaN}", ": is not valid JSON (line 1, column 6)"),
        (b"{\"a\":\"\n\"}", ": is not valid JSON (line 1, column 6)"),
        (b"\xef\xbb\xbf{}", ": is not valid JSON (line 1, column 1)"),
        (br#"{"a":"\ud800"}"#, "a: has an escape that is not a character"),
        (b"[[[[[[[[[1]]]]]]]]]", "[0][0][0][0][0][0][0][0]: is nested too deeply"),
    ] {
        assert_eq!(problems(body), [expected], "{}", String::from_utf8_lossy(body));
    }
}

#[test]
fn deep_nesting_is_rejected() {
    let deep = "[".repeat(30_000) + &"]".repeat(30_000);
    assert_eq!(problems(deep.as_bytes()).len(), 1);
}

#[test]
fn problems_and_their_paths_are_bounded() {
    let many = vec![r#"{"a":1,"a":1}"#; 1_000].join(",");
    assert_eq!(problems(format!("[{many}]").as_bytes()).len(), 64);
    let long = "x".repeat(10_000);
    let messages = problems(format!("{{\"{long}\":1,\"{long}\":1}}").as_bytes()).concat();
    assert!(messages.len() < 200, "{messages}");
}

/// Returns an object with this number of members, each with a different name.
fn object_of(members: usize) -> String {
    let members: Vec<String> = (0..members).map(|number| format!("\"m{number}\":[{number}]")).collect();
    format!("{{{}}}", members.join(","))
}

#[test]
fn object_with_too_many_members_is_rejected() {
    assert_eq!(problems(object_of(64).as_bytes()), Vec::<String>::new());
    assert_eq!(problems(object_of(65).as_bytes()), [": has more than 64 members"]);
    let nested = format!(r#"{{"a":[{},{}]}}"#, object_of(7_000), object_of(64));
    assert_eq!(problems(nested.as_bytes()), ["a[0]: has more than 64 members"]);
    assert_eq!(problems(br#"{"a":1,"a":2"#), [": is not valid JSON (line 1, column 12)"]);
}

/// Names are compared in pairs, so the limit of stored members bounds the comparisons.
#[test]
fn members_beyond_the_limit_are_not_stored() {
    for (given, kept) in [(0, 0), (64, 64), (65, 65), (7_000, 65)] {
        let text = object_of(given);
        let Members(members) = serde_json::from_str(&text).unwrap_or(Members(Vec::new()));
        assert_eq!(members.len(), kept, "{given}");
    }
}
