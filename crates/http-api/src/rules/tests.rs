//! Tests the rules for fields: accepted values, and the messages for rejected values.

use super::*;

fn message<T>(result: Result<T, Problem>) -> String {
    result.map_or_else(Problem::into_owned, |_| "fine".to_owned())
}

fn text_node(text: &str) -> Node<'_> {
    Node::Text(text.into())
}

#[test]
fn amounts_are_accepted_or_rejected_by_rule() {
    let least = Money::from_centavos(200);
    for (text, expected) in [
        ("2", "fine"),
        ("2.000", "fine"),
        ("200e-2", "fine"),
        ("999999999999.99", "fine"),
        ("1.99", "must be at least 2.00"),
        ("-5", "must be at least 2.00"),
        ("10.505", "must have at most two decimals"),
        ("1000000000000", "is too large: at most 12 digits before the decimal point"),
    ] {
        assert_eq!(message(money(&Node::Number(text), least)), expected, "{text}");
    }
    assert_eq!(message(money(&text_node("10"), least)), "must be a number");
    assert_eq!(message(money(&Node::Bool(true), least)), "must be a number");
}

#[test]
fn shares_are_accepted_or_rejected_by_rule() {
    for (text, expected) in [
        ("100", "fine"),
        ("0.0001", "fine"),
        ("0", "must be greater than 0"),
        ("-1", "must be between 0 and 100"),
        ("100.0001", "must be between 0 and 100"),
        ("1.00001", "must have at most four decimals"),
    ] {
        assert_eq!(message(share(&Node::Number(text))), expected, "{text}");
    }
}

#[test]
fn emails_are_accepted_or_rejected_by_rule() {
    for good in ["ana@shop.example", "A.n-a+tag@localhost", "o'neil@x-y.example"] {
        assert_eq!(message(email(&text_node(good), 200)), "fine", "{good}");
    }
    for bad in [
        "",
        "ana",
        "@shop.example",
        "ana@",
        "a..b@x",
        ".a@x",
        "a@b@c",
        "a b@x",
        "ana@-x.example",
        "ana@x..example",
        "aná@x",
    ] {
        assert_eq!(message(email(&text_node(bad), 200)), "must be an e-mail address", "{bad}");
    }
    assert_eq!(email(&text_node("Ana@Shop.Example"), 200).as_deref(), Ok("ana@shop.example"));
}
