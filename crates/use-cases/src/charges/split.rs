//! Resolves the recipients of a charge's split. The request names each recipient by e-mail address. The recipients are
//! checked when the charge is created, and not again when it is paid.

use cais_domain::merchant::account::{Account, AccountStatus, Kyc};
use cais_domain::rate::Percentage;
use cais_domain::split::{Share, Split};
use futures_util::future::try_join_all;

use crate::ports::Ports;
use crate::store_error::StoreError;

/// A share in a merchant's request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RequestedShare {
    /// The e-mail of the receiving account, case-insensitive.
    pub recipient_email: String,
    /// The percentage of the net amount, greater than zero. All shares of a charge sum to at most 100.
    pub percentage: Percentage,
}

/// Returns the requested split, or the index of the first share whose recipient is not eligible.
pub(super) async fn resolve(
    ports: &Ports,
    creator: &Account,
    requested: &[RequestedShare],
) -> Result<Result<Split, usize>, StoreError> {
    let recipients = try_join_all(requested.iter().map(|share| async move {
        ports.queries.find_account_by_email(&share.recipient_email.trim().to_lowercase()).await
    }));
    let mut shares = Vec::with_capacity(requested.len());
    for (index, (share, recipient)) in requested.iter().zip(recipients.await?).enumerate() {
        match recipient.filter(|recipient| may_share(creator, recipient)) {
            Some(recipient) => shares.push(Share { recipient: recipient.id, percentage: share.percentage.clone() }),
            None => return Ok(Err(index)),
        }
    }
    // The parser of the request has already checked the rules of a split, so no error is expected.
    Split::try_new(shares)
        .map(Ok)
        .map_err(|error| StoreError::Internal(format!("the split of a checked request is invalid: {error}")))
}

/// Returns whether the account may receive a share. A recipient is another account that is active and has approved KYC.
fn may_share(creator: &Account, recipient: &Account) -> bool {
    recipient.id != creator.id && recipient.status == AccountStatus::Active && recipient.kyc == Kyc::Approved
}
