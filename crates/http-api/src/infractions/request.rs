//! The body of `POST /v1/infractions/{id}/defense`.

use cais_domain::infraction::{parse_defense_text, parse_evidence_url};
use cais_domain::text::Text;
use cais_strict_json::{Fields, Issues, Node, Problem};
use utoipa::ToSchema;

use crate::input::JsonBody;
use crate::rules;

/// A merchant's defense against an infraction.
#[derive(Debug, PartialEq, Eq, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewDefense {
    /// The text of the defense.
    #[schema(value_type = String, min_length = 1, max_length = 2000)]
    pub defense_text: Text,
    /// An https address of further evidence, which the acquirer receives with the text.
    #[schema(value_type = Option<String>, format = "uri", max_length = 500)]
    pub defense_evidence_url: Option<Text>,
}

impl JsonBody for NewDefense {
    fn read(body: &Node<'_>, issues: &Issues) -> Option<Self> {
        let mut fields = Fields::of(body, "", issues)?;
        let defense_text = fields.required("defense_text", words);
        let defense_evidence_url = fields.optional("defense_evidence_url", address);
        fields.finish();
        Some(Self { defense_text: defense_text?, defense_evidence_url })
    }
}

fn words(node: &Node<'_>) -> Result<Text, Problem> {
    parse_defense_text(rules::string(node)?).map_err(|error| error.to_string().into())
}

fn address(node: &Node<'_>) -> Result<Text, Problem> {
    parse_evidence_url(rules::string(node)?).map_err(|error| error.to_string().into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use cais_strict_json::read as read_json;

    fn problems(body: &str) -> Vec<String> {
        let issues = Issues::default();
        let node = read_json(body.as_bytes(), &issues);
        let _new = NewDefense::read(&node, &issues);
        issues.into_vec().into_iter().map(|issue| format!("{} {}", issue.path, issue.message)).collect()
    }

    fn with_text(text: &str) -> Vec<String> {
        problems(&format!(r#"{{"defense_text":"{text}"}}"#))
    }

    fn with_url(url: &str) -> Vec<String> {
        problems(&format!(r#"{{"defense_text":"x","defense_evidence_url":"{url}"}}"#))
    }

    #[test]
    fn defense_body_is_accepted_up_to_its_limits() {
        assert_eq!(with_text("x"), [""; 0]);
        assert_eq!(with_text("two\\nlines"), [""; 0]);
        assert_eq!(with_text(&"é".repeat(2_000)), [""; 0]);
        assert_eq!(with_text(&"é".repeat(2_001)), ["defense_text must have at most 2000 characters"]);
        assert_eq!(with_text(""), ["defense_text must not be empty"]);
        assert_eq!(with_text(" \\n"), ["defense_text must not be empty"]);
        assert_eq!(with_text("a\\u0000"), ["defense_text must not contain control characters"]);
        let long = |length: usize| format!("https://a.example/{}", "x".repeat(length - 18));
        assert_eq!(with_url(&long(500)), [""; 0]);
        assert_eq!(with_url(&long(501)), ["defense_evidence_url must have at most 500 characters"]);
        for bad in ["", "x", "http://a.example", "https://", "https://a b", "ftp://a.example"] {
            assert_eq!(with_url(bad), ["defense_evidence_url must be an https URL"], "{bad}");
        }
    }

    #[test]
    fn evidence_url_with_credentials_is_rejected() {
        for bad in
            ["user:pass@a.example/x", "user@a.example", "@a.example", "a.example:443@b.example", ":x@a.example?q"]
        {
            let problem = "defense_evidence_url must not have a user or password";
            assert_eq!(with_url(&format!("https://{bad}")), [problem], "{bad}");
        }
        for good in ["a.example/@user", "a.example?to=me@b.example", "a.example#@", "a.example:8443/x"] {
            assert_eq!(with_url(&format!("https://{good}")), [""; 0], "{good}");
        }
    }

    #[test]
    fn defense_body_problems_are_all_reported() {
        assert_eq!(
            problems(r#"{"defense_evidence_url":7,"text":"x"}"#),
            ["defense_text is required", "defense_evidence_url must be a string", "text is not a known field"]
        );
        assert_eq!(problems(r#"{"defense_text":"x","defense_evidence_url":null}"#), [""; 0]);
    }
}
