//! Who shares in a charge: accounts named by e-mail, judged when the charge is created.

use cais_domain::account::{Account, AccountStatus, Kyc};
use cais_domain::rate::Percentage;
use cais_domain::split::{Share, Split};
use futures_util::future::try_join_all;

use crate::ports::Ports;
use crate::trouble::Trouble;

/// A share as a merchant asks for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AskedShare {
    /// The e-mail of the account that gets it, in any case.
    pub recipient_email: String,
    /// How much of the net value; greater than zero. All of a charge sum to at most 100.
    pub percentage: Percentage,
}

/// The split that is asked for, or the position of the first share whose recipient may not have one.
pub(super) async fn resolve(
    ports: &Ports,
    creator: &Account,
    asked: &[AskedShare],
) -> Result<Result<Split, usize>, Trouble> {
    let recipients = try_join_all(asked.iter().map(|share| async move {
        ports.queries.find_account_by_email(&share.recipient_email.trim().to_lowercase()).await
    }));
    let mut shares = Vec::with_capacity(asked.len());
    for (index, (share, recipient)) in asked.iter().zip(recipients.await?).enumerate() {
        match recipient.filter(|recipient| may_share(creator, recipient)) {
            Some(recipient) => shares.push(Share { recipient: recipient.id, percentage: share.percentage.clone() }),
            None => return Ok(Err(index)),
        }
    }
    // What the merchant asked for was read within these rules before.
    Split::try_new(shares).map(Ok).map_err(|error| Trouble::Internal(format!("a split that was read: {error}")))
}

/// Beneficiaries are others, active, and known: what they get is theirs for good.
fn may_share(creator: &Account, recipient: &Account) -> bool {
    recipient.id != creator.id && recipient.status == AccountStatus::Active && recipient.kyc == Kyc::Approved
}
