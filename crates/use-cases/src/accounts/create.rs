//! Opens an account.

use cais_domain::document::Document;
use cais_domain::fee::FeeSchedule;
use cais_domain::ids::AccountId;
use cais_domain::merchant::account::{Account, AccountStatus, Features, Kyc, Limits};
use cais_domain::text::Text;
use cais_ports::{Actor, ChangeSet, CommitError, Reservation, ReservationKey, Write};

use super::AccountEmail;
use crate::Ports;
use crate::audit::{self, AuditedChange};

/// The request for a new account.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CreateAccount {
    /// The e-mail, unique among accounts.
    pub email: AccountEmail,
    /// The display name.
    pub name: Text,
    /// The CPF or CNPJ of the holder.
    pub document: Document,
    /// `true` if KYC is approved at once.
    pub approve: bool,
}

/// The reason why an account was not opened.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CreateAccountError {
    /// Another account has this e-mail.
    #[error("an account with the e-mail {email} exists already: {id}")]
    Exists {
        /// The e-mail.
        email: AccountEmail,
        /// The public id of the account with this e-mail.
        id: String,
    },
    /// The store failed. If the error is `Unavailable`, the account may exist.
    #[error("the account could not be stored")]
    Store(#[source] CommitError),
}

/// Returns the new account, and the changes that open it, reserve its e-mail and write a row of the audit log. KYC is
/// pending unless `command.approve` is set.
pub(crate) fn prepare(ports: &Ports, operator: &Actor, command: &CreateAccount) -> (Account, ChangeSet) {
    let now = ports.clock.now();
    let opened = Account {
        id: AccountId::new(ports.ids.next_uuid()),
        email: command.email.as_str().to_owned(),
        name: command.name.as_str().to_owned(),
        document: command.document.clone(),
        status: AccountStatus::Active,
        kyc: Kyc::Pending,
        features: Features::default(),
        fees: FeeSchedule::default(),
        limits: Limits::default(),
        release_delay_s: 0,
        crypto_spread: None,
        acquirers: Vec::new(),
        created_at: now,
        version: 0,
    };
    let account = if command.approve { opened.approve() } else { opened };
    let mut change = ChangeSet::new(now);
    change.reserve.push(Reservation {
        key: ReservationKey::Email(account.email.clone()),
        account: account.id,
        owner: account.id.to_string(),
    });
    change.writes.push(Write::insert(account.clone()));
    let audited = AuditedChange {
        action: "account.create",
        subject: account.id.to_string(),
        account: Some(account.id),
        before: None,
        after: Some(ports.representation.account(&account)),
    };
    change.writes.push(audit::record(ports, operator, now, audited));
    (account, change)
}

/// Opens the account and reserves its e-mail.
///
/// # Errors
/// [`CreateAccountError`].
pub async fn create(ports: &Ports, operator: &Actor, command: CreateAccount) -> Result<Account, CreateAccountError> {
    let (account, change) = prepare(ports, operator, &command);
    match ports.store.commit(change).await {
        Ok(_) => Ok(Account { version: 1, ..account }),
        Err(CommitError::Taken { by, .. }) => Err(CreateAccountError::Exists { email: command.email, id: by }),
        Err(error) => Err(CreateAccountError::Store(error)),
    }
}
