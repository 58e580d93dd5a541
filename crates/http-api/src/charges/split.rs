//! The `split` of `POST /v1/charges`: the recipients and their percentages.

use cais_domain::rate::Percentage;
use cais_strict_json::{Fields, Issues, Node};
use cais_use_cases::charges::create::AskedShare;

use crate::rules;

/// Longest e-mail of a recipient, in characters.
pub const MAX_RECIPIENT_EMAIL: usize = 200;

/// Reads the items of a split. Problems are added to `issues`; items with a problem are left out.
#[must_use]
pub fn read(items: &[Node<'_>], issues: &Issues) -> Vec<AskedShare> {
    let mut emails: Vec<String> = Vec::with_capacity(items.len());
    let mut percentages: Vec<Percentage> = Vec::with_capacity(items.len());
    let mut shares = Vec::with_capacity(items.len());
    for (index, item) in items.iter().enumerate() {
        let path = format!("split[{index}]");
        let Some(mut fields) = Fields::of(item, &path, issues) else { continue };
        let email = fields.required("recipient_email", |node| rules::email(node, MAX_RECIPIENT_EMAIL));
        if let Some(email) = &email {
            if emails.contains(email) {
                fields.complain("recipient_email", "is given more than once");
            }
            emails.push(email.clone());
        }
        let percentage = fields.required("percentage", rules::share);
        percentages.extend(percentage.clone());
        fields.finish();
        let share = email.zip(percentage);
        shares.extend(share.map(|(recipient_email, percentage)| AskedShare { recipient_email, percentage }));
    }
    if !Percentage::fit_in_whole(&percentages) {
        issues.add("split", "must have percentages that sum to at most 100");
    }
    shares
}
