//! The `split` of `POST /v1/charges`: the recipients and their percentages.

use cais_domain::rate::Percentage;
use cais_strict_json::{Fields, Issues, Node};
use cais_use_cases::charges::create::RequestedShare;
use utoipa::openapi::RefOr;
use utoipa::openapi::schema::{ObjectBuilder, Schema, Type};
use utoipa::{PartialSchema, ToSchema};

use crate::rules;

/// Longest e-mail of a recipient, in characters.
pub const MAX_RECIPIENT_EMAIL: usize = 200;

/// A recipient of a part of the net value.
#[derive(ToSchema)]
#[schema(as = SplitItem)]
#[serde(deny_unknown_fields)]
pub struct SplitItem {
    /// E-mail of an active account with approved KYC.
    #[schema(format = Email, max_length = 200)]
    pub recipient_email: String,
    /// Share of the net value in percent, at most four decimals.
    #[schema(value_type = SharePercentage, inline)]
    pub percentage: Percentage,
}

/// The schema of a share: above 0, at most 100.
pub struct SharePercentage;

impl PartialSchema for SharePercentage {
    fn schema() -> RefOr<Schema> {
        let number = ObjectBuilder::new().schema_type(Type::Number);
        number.exclusive_minimum(Some(0)).maximum(Some(100)).build().into()
    }
}

impl ToSchema for SharePercentage {}

impl From<SplitItem> for RequestedShare {
    fn from(SplitItem { recipient_email, percentage }: SplitItem) -> Self {
        Self { recipient_email, percentage }
    }
}

/// Reads the items of a split. Problems are added to `issues`. An item whose e-mail or percentage cannot be read is left out.
#[must_use]
pub fn read(items: &[Node<'_>], issues: &Issues) -> Vec<SplitItem> {
    let mut emails: Vec<String> = Vec::with_capacity(items.len());
    let mut percentages: Vec<Percentage> = Vec::with_capacity(items.len());
    let mut shares = Vec::with_capacity(items.len());
    for (index, item) in items.iter().enumerate() {
        let path = format!("split[{index}]");
        let Some(mut fields) = Fields::of(item, &path, issues) else { continue };
        let email = fields.required("recipient_email", |node| rules::email(node, MAX_RECIPIENT_EMAIL));
        if let Some(email) = &email {
            if emails.contains(email) {
                fields.report("recipient_email", "is given more than once");
            }
            emails.push(email.clone());
        }
        let percentage = fields.required("percentage", rules::share);
        percentages.extend(percentage.clone());
        fields.finish();
        let share = email.zip(percentage);
        shares.extend(share.map(|(recipient_email, percentage)| SplitItem { recipient_email, percentage }));
    }
    if !Percentage::fit_in_whole(&percentages) {
        issues.add("split", "must have percentages that sum to at most 100");
    }
    shares
}
