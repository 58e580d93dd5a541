//! Creates an API key and returns its secret. The secret cannot be read later.

use std::net::IpAddr;

use cais_domain::ids::{AccountId, KeyId};
use cais_domain::merchant::api_key::{ApiKeyToken, KeyPrefix, KeySecret, Scopes};
use cais_domain::text::Text;
use cais_ports::{Actor, ApiKeyRecord, ChangeSet, CommitError, Write};
use ipnet::IpNet;
use jiff::{SignedDuration, Timestamp};

use super::authenticate::PURPOSE;
use crate::Ports;
use crate::accounts::{AccountEmail, ChangeAccountError, update};
use crate::audit::{self, AuditedChange};

/// The longest lifetime of a key that expires: ten years. Keys without an expiry are also possible.
pub const MAX_EXPIRES_IN_DAYS: u32 = 3_650;
/// The largest number of address blocks of a key.
pub const MAX_ADDRESS_BLOCKS: usize = 50;

/// The request for a new key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CreateKey {
    /// The e-mail of the account.
    pub email: AccountEmail,
    /// The display name of the key.
    pub name: Text,
    /// The scopes of the key.
    pub scopes: Scopes,
    /// Days until the key expires, at most [`MAX_EXPIRES_IN_DAYS`]. `None` for a key that never expires.
    pub expires_in_days: Option<u32>,
    /// The permitted addresses of callers. If empty, all addresses are permitted.
    pub allowed_addresses: Vec<IpNet>,
}

/// A new key. Its secret cannot be read later.
#[derive(Debug, Clone)]
pub struct CreatedKey {
    /// The whole key, with its secret.
    pub token: ApiKeyToken,
    /// The stored record.
    pub record: ApiKeyRecord,
}

/// The reason why no key was created.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CreateKeyError {
    /// The account cannot be read or does not exist.
    #[error(transparent)]
    Account(#[from] ChangeAccountError),
    /// The lifetime is outside the allowed range.
    #[error("the lifetime of a key must be 1 to {MAX_EXPIRES_IN_DAYS} days")]
    WrongExpiry,
    /// The request has too many address blocks.
    #[error("a key has at most {MAX_ADDRESS_BLOCKS} blocks of addresses")]
    TooManyAddresses,
    /// The store failed. The key may exist, but its secret was not returned.
    #[error("the key could not be stored")]
    Store(#[source] CommitError),
}

/// The terms of a new key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyTerms {
    /// The display name of the key.
    pub name: Text,
    /// The scopes of the key.
    pub scopes: Scopes,
    /// Days until the key expires, at most [`MAX_EXPIRES_IN_DAYS`]. `None` for a key that never expires.
    pub expires_in_days: Option<u32>,
    /// The permitted addresses of callers. If empty, all addresses are permitted.
    pub allowed_addresses: Vec<IpNet>,
}

/// Parses an IP address or a CIDR block. Returns `None` for another text.
#[must_use]
pub fn parse_block(text: &str) -> Option<IpNet> {
    let text = text.trim();
    text.parse().ok().or_else(|| text.parse::<IpAddr>().map(IpNet::from).ok())
}

/// Creates a key of the account.
///
/// # Errors
/// [`CreateKeyError`].
pub async fn create(ports: &Ports, operator: &Actor, command: CreateKey) -> Result<CreatedKey, CreateKeyError> {
    let CreateKey { email, name, scopes, expires_in_days, allowed_addresses } = command;
    let terms = KeyTerms { name, scopes, expires_in_days, allowed_addresses };
    // The terms are checked first, so that wrong terms need no read of the account.
    end_of(&terms, ports.clock.now())?;
    let account = update::get(ports, &email).await?;
    let (created, change) = prepare(ports, operator, account.id, terms)?;
    ports.store.commit(change).await.map_err(CreateKeyError::Store)?;
    Ok(created)
}

/// Returns a new key of the account, and the change that stores it.
pub(crate) fn prepare(
    ports: &Ports,
    operator: &Actor,
    account: AccountId,
    terms: KeyTerms,
) -> Result<(CreatedKey, ChangeSet), CreateKeyError> {
    let now = ports.clock.now();
    let expires_at = end_of(&terms, now)?;
    let token = new_token(ports);
    let record = ApiKeyRecord {
        id: KeyId::new(ports.ids.next_uuid()),
        prefix: token.prefix.clone(),
        account,
        name: terms.name.into_string(),
        keyed_hash: ports.keyed_hash.hash(PURPOSE, token.secret.expose().as_bytes()),
        scopes: terms.scopes,
        expires_at,
        allowed_addresses: terms.allowed_addresses.iter().map(|block| block.trunc().to_string()).collect(),
        revoked_at: None,
        created_at: now,
        version: 0,
    };
    let mut change = ChangeSet::new(now);
    change.writes.push(Write::insert(record.clone()));
    let audited = AuditedChange {
        action: "key.create",
        subject: record.prefix.to_string(),
        account: Some(account),
        before: None,
        after: Some(ports.representation.key(&record)),
    };
    change.writes.push(audit::record(ports, operator, now, audited));
    Ok((CreatedKey { token, record: ApiKeyRecord { version: 1, ..record } }, change))
}

/// Checks the address blocks and the lifetime. Returns the expiry of a key that is created at `now`.
fn end_of(terms: &KeyTerms, now: Timestamp) -> Result<Option<Timestamp>, CreateKeyError> {
    if terms.allowed_addresses.len() > MAX_ADDRESS_BLOCKS {
        return Err(CreateKeyError::TooManyAddresses);
    }
    let end = |days: u32| match days {
        1..=MAX_EXPIRES_IN_DAYS => now
            .checked_add(SignedDuration::from_hours(i64::from(days).saturating_mul(24)))
            .map_err(|_| CreateKeyError::WrongExpiry),
        _ => Err(CreateKeyError::WrongExpiry),
    };
    terms.expires_in_days.map(end).transpose()
}

fn new_token(ports: &Ports) -> ApiKeyToken {
    let mut prefix = [0; 12];
    let mut secret = [0; 32];
    ports.keyed_hash.fill_random(&mut prefix);
    ports.keyed_hash.fill_random(&mut secret);
    ApiKeyToken { prefix: KeyPrefix::from_random(&prefix), secret: KeySecret::from_random(&secret) }
}
