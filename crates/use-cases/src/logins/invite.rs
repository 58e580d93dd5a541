//! Creates one-time links. With such a link, a user sets a password. A link is for a new operator, for an account's
//! holder who has no login yet, or for a user who lost the password or the authenticator.

use cais_domain::ids::{AccountId, UserId};
use cais_ports::{Actor, ChangeSet, CommitError, Invitation, Reservation, ReservationKey, Role, Totp, User, Write};
use jiff::{SignedDuration, Timestamp};

use super::token::SecretToken;
use crate::Ports;
use crate::accounts::AccountEmail;
use crate::audit::{self, AuditedChange, Fields};
use crate::store_error::{MAX_COMMIT_RETRIES, StoreError, commit_unless_stale};

/// The `purpose` argument of the keyed hash of a link's secret.
pub(super) const LINK_PURPOSE: &str = "dashboard-link";
/// The validity of a link.
const LINK_VALIDITY: SignedDuration = SignedDuration::from_hours(24);

/// The token of a link: the user's id with a secret. The link leads to the page `/welcome/{token}`.
pub type LinkToken = SecretToken<cais_domain::ids::kind::User>;

/// The reason why no link was created.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum InviteError {
    /// A user with this e-mail already exists.
    #[error("a user with the e-mail {0} exists already")]
    Exists(AccountEmail),
    /// No account and no operator has the e-mail.
    #[error("neither an account nor an operator has the e-mail {0}")]
    NotFound(AccountEmail),
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Creates an operator, and returns the token of a one-time link. The operator has no password until the link is used.
///
/// # Errors
/// [`InviteError`].
pub async fn create_operator(ports: &Ports, by: &Actor, email: AccountEmail) -> Result<LinkToken, InviteError> {
    insert(ports, by, "operator.create", email, Role::Operator).await
}

/// Creates a link for the holder of an account or for an operator. If the holder has no login yet, the login is
/// created. Until the link is used, the old password and the old authenticator stay valid. When the link is used, the
/// password is replaced, the authenticator is removed, and all sessions end.
///
/// # Errors
/// [`InviteError`].
pub async fn login_link(ports: &Ports, by: &Actor, email: AccountEmail) -> Result<LinkToken, InviteError> {
    for _ in 0..MAX_COMMIT_RETRIES {
        let Some(user) = ports.queries.find_user_by_email(email.as_str()).await.map_err(StoreError::from)? else {
            let account = ports.queries.find_account_by_email(email.as_str()).await.map_err(StoreError::from)?;
            let account = account.ok_or_else(|| InviteError::NotFound(email.clone()))?;
            return insert(ports, by, "user.login_link", email, Role::Merchant(account.id)).await;
        };
        let mut change = ChangeSet::new(ports.clock.now());
        let token = LinkToken::draw(ports, user.id);
        change.writes.push(audited(ports, by, "user.login_link", &user, change.at));
        change.writes.push(Write::update(User { invitation: Some(invitation(ports, &token, change.at)), ..user }));
        if commit_unless_stale(ports, change).await? {
            return Ok(token);
        }
    }
    Err(StoreError::contended().into())
}

async fn insert(
    ports: &Ports,
    by: &Actor,
    action: &'static str,
    email: AccountEmail,
    role: Role,
) -> Result<LinkToken, InviteError> {
    let mut change = ChangeSet::new(ports.clock.now());
    let id = UserId::new(ports.ids.next_uuid());
    let token = LinkToken::draw(ports, id);
    let user = User {
        id,
        email: email.as_str().to_owned(),
        role,
        password: None,
        totp: Totp::Missing,
        invitation: Some(invitation(ports, &token, change.at)),
        created_at: change.at,
        version: 0,
    };
    change.reserve.push(Reservation {
        key: ReservationKey::UserEmail(user.email.clone()),
        // A reservation needs an account, and an operator has none. So the operator's id is used; no account has this
        // id.
        account: role.account().unwrap_or(AccountId::new(id.uuid())),
        owner: id.to_string(),
    });
    change.writes.push(audited(ports, by, action, &user, change.at));
    change.writes.push(Write::insert(user));
    match ports.store.commit(change).await {
        Ok(_) => Ok(token),
        Err(CommitError::Taken { .. }) => Err(InviteError::Exists(email)),
        Err(error) => Err(StoreError::from(error).into()),
    }
}

fn invitation(ports: &Ports, token: &LinkToken, now: Timestamp) -> Invitation {
    let expires_at = now.saturating_add(LINK_VALIDITY).unwrap_or(Timestamp::MAX);
    Invitation { hash: token.hash(ports, LINK_PURPOSE), expires_at }
}

fn audited(ports: &Ports, by: &Actor, action: &'static str, user: &User, at: Timestamp) -> Write {
    let change = AuditedChange {
        action,
        subject: user.id.to_string(),
        account: user.role.account(),
        before: None,
        after: Some(Fields::new().text("email", &user.email).into_json()),
    };
    audit::record(ports, by, at, change)
}
