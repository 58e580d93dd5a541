//! Opens an account, together with the login of its holder.

use cais_domain::document::Document;
use cais_domain::login::password::{self, PasswordError};
use cais_domain::text::Text;
use cais_ports::{CommitError, Reservation, ReservationKey, Role, Secret, Totp, User, Write};

use super::{Browser, LoginError, Logins, person};
use crate::accounts::AccountEmail;
use crate::accounts::create::{self, CreateAccount};

/// The request for an account.
#[derive(Debug, Clone)]
pub struct SignUp {
    /// The e-mail of the account and of its login.
    pub email: AccountEmail,
    /// The display name of the account.
    pub name: Text,
    /// The CPF or CNPJ of the holder.
    pub document: Document,
    /// The password of the login.
    pub password: Secret,
}

/// The reason why a sign-up failed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SignUpError {
    /// The password violates a rule.
    #[error(transparent)]
    WeakPassword(#[from] PasswordError),
    /// The login could not be created.
    #[error(transparent)]
    Login(#[from] LoginError),
}

/// Opens the account with pending KYC. If the e-mail is in use, nothing changes, but the result is `Ok` after the same
/// work. So the answer does not show whether an account has the e-mail.
///
/// # Errors
/// [`SignUpError`].
pub async fn sign_up(logins: &Logins, browser: &Browser, command: SignUp) -> Result<(), SignUpError> {
    let SignUp { email, name, document, password } = command;
    password::check(password.expose(), email.as_str())?;
    let ports = &logins.ports;
    if !logins.throttle.take(email.as_str(), browser.address, ports.clock.now()) {
        return Err(LoginError::Throttled.into());
    }
    let hash = logins.passwords.hash(&password).await.map_err(LoginError::Password)?;
    let actor = person(email.as_str(), browser);
    let request = CreateAccount { email: email.clone(), name, document, approve: false };
    let (account, mut change) = create::prepare(ports, &actor, &request);
    let user = User {
        id: cais_domain::ids::UserId::new(ports.ids.next_uuid()),
        email: account.email.clone(),
        role: Role::Merchant(account.id),
        password: Some(hash),
        totp: Totp::Missing,
        invitation: None,
        created_at: change.at,
        version: 0,
    };
    change.reserve.push(Reservation {
        key: ReservationKey::UserEmail(user.email.clone()),
        account: account.id,
        owner: user.id.to_string(),
    });
    change.writes.push(Write::insert(user));
    match ports.store.commit(change).await {
        Ok(_) => Ok(()),
        Err(CommitError::Taken { .. }) => {
            tracing::info!(client = %browser.address_text(), "sign-up with an e-mail in use; nothing was changed");
            Ok(())
        }
        Err(error) => Err(LoginError::Store(error).into()),
    }
}
