//! The shares of other accounts in a charge, as pages show them.

use std::collections::BTreeMap;

use cais_domain::charge::Charge;
use cais_domain::ids::AccountId;
use cais_use_cases::Ports;

use crate::failure::Failure;
use crate::format::{brl, percent};
use crate::texts::Language;

/// A share in a charge.
pub(crate) struct Share {
    /// The recipient's account.
    pub(crate) account: AccountId,
    /// The recipient's e-mail.
    pub(crate) email: String,
    pub(crate) percentage: String,
    /// The amount, which the payment fixes; `None` before the payment.
    pub(crate) amount: Option<String>,
}

/// A cache of the e-mails of accounts. Each account is read once.
#[derive(Default)]
pub(crate) struct Emails(BTreeMap<AccountId, String>);

impl Emails {
    /// Returns the e-mail of an account.
    pub(crate) async fn of(&mut self, ports: &Ports, id: AccountId) -> Result<String, Failure> {
        if let Some(email) = self.0.get(&id) {
            return Ok(email.clone());
        }
        let email = ports.queries.find_account(id).await?.ok_or(Failure::NotFound)?.email;
        self.0.insert(id, email.clone());
        Ok(email)
    }
}

/// Returns the shares of a charge, in the order of the request that created the charge.
pub(crate) async fn shares(
    ports: &Ports,
    charge: &Charge,
    emails: &mut Emails,
    language: Language,
) -> Result<Vec<Share>, Failure> {
    let parts = charge.state.settlement().map(|settlement| settlement.parts.as_slice()).unwrap_or_default();
    let mut shares = Vec::new();
    for (place, share) in charge.terms.split.shares().iter().enumerate() {
        shares.push(Share {
            account: share.recipient,
            email: emails.of(ports, share.recipient).await?,
            percentage: percent(&share.percentage, language),
            amount: parts.get(place).map(|part| brl(*part, language)),
        });
    }
    Ok(shares)
}
