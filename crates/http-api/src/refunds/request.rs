//! The body of `POST /v1/charges/{id}/refunds`, field by field.

use cais_domain::end_to_end_id::EndToEndId;
use cais_domain::external_id::ExternalId;
use cais_domain::text::{LineBreaks, Text};
use cais_strict_json::{Fields, Issues, Node};
use cais_use_cases::refunds::create::MAX_REASON;
use utoipa::ToSchema;

use crate::input::JsonBody;
use crate::resources::values::{AmountFrom, AnyAmount};
use crate::rules;

/// The fields of a new refund. None is required.
#[derive(Debug, Clone, PartialEq, Eq, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewRefund {
    /// The end-to-end id of the payment to refund; the charge may then have any status. Default: the payment that paid the
    /// charge. If `end_to_end_id` names an overpayment, its excess is refunded first. Only refunds beyond the excess count
    /// towards the charge's refunded amount.
    #[schema(value_type = Option<String>, min_length = 32, max_length = 32)]
    pub end_to_end_id: Option<EndToEndId>,
    /// BRL, at most two decimals. Default: all that is not refunded yet, of the payment that `end_to_end_id` names, or else
    /// of the charge.
    #[schema(inline)]
    pub amount: Option<AnyAmount>,
    /// Shown to the payer.
    #[schema(value_type = Option<String>, max_length = 140)]
    pub reason: Option<Text>,
    /// The caller's own identifier, unique within the account.
    #[schema(value_type = Option<String>, min_length = 1, max_length = 120)]
    pub external_id: Option<ExternalId>,
}

impl JsonBody for NewRefund {
    fn read(body: &Node<'_>, issues: &Issues) -> Option<Self> {
        let mut fields = Fields::of(body, "", issues)?;
        let end_to_end_id = fields.optional("end_to_end_id", rules::end_to_end_id);
        let amount = fields.optional("amount", AmountFrom::read);
        let reason = fields.optional("reason", |node| rules::text(node, MAX_REASON, LineBreaks::Allowed));
        let external_id = fields.optional("external_id", rules::external_id);
        fields.finish();
        Some(Self { end_to_end_id, amount, reason, external_id })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cais_strict_json::read as read_json;

    fn problems(body: &str) -> Vec<String> {
        let issues = Issues::default();
        let node = read_json(body.as_bytes(), &issues);
        let _new = NewRefund::read(&node, &issues);
        issues.into_vec().into_iter().map(|issue| format!("{} {}", issue.path, issue.message)).collect()
    }

    #[test]
    fn refund_body_has_no_required_and_no_unknown_fields() {
        assert_eq!(problems("{}"), [""; 0]);
        assert_eq!(problems(r#"{"amount":null,"reason":null,"external_id":null}"#), [""; 0]);
        assert_eq!(
            problems(&format!(r#"{{"amount":0.01,"reason":"{}","external_id":"r"}}"#, "é".repeat(140))),
            [""; 0]
        );
        assert_eq!(
            problems(r#"{"end_to_end_id":"E123"}"#),
            ["end_to_end_id must have exactly 32 ASCII letters and digits"]
        );
        assert_eq!(
            problems(&format!(r#"{{"amount":0,"reason":"{}","external_id":"","charge":1}}"#, "é".repeat(141))),
            [
                "amount must be at least 0.01",
                "reason must have at most 140 characters",
                "external_id must not be empty",
                "charge is not a known field",
            ]
        );
        assert_eq!(problems(""), [" must be a JSON object, and is empty"]);
    }
}
