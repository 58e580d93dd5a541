//! The public page on which a payer pays a charge.
//!
//! Its address ends with a token. The token's first half is the charge's id. Its second half, the proof, is the first
//! 128 bits of a keyed hash of the id. Only this service can make such a token, and no token is stored.

use cais_domain::charge::Charge;
use cais_domain::hex;
use cais_domain::ids::ChargeId;
use cais_domain::merchant::account::Account;
use cais_domain::txid::Txid;
use uuid::Uuid;

use super::fetch::{ChargeName, FetchError, fetch};
use crate::ports::Ports;
use crate::store_error::StoreError;
use crate::sync_gate::SyncGate;

/// The purpose under which the id is hashed to get the proof. Keyed hashes of different purposes are unrelated.
const PURPOSE: &str = "payment-page";
/// The purpose under which the expected and the given proof are hashed once more. Comparing these hashes takes constant
/// time.
const COMPARISON: &str = "payment-page-comparison";
/// The number of hexadecimal digits in 128 bits. The id and the proof each have 128 bits.
const DIGITS: usize = 32;

/// Returns the token of the charge's payment page.
#[must_use]
pub fn token(ports: &Ports, charge: ChargeId) -> String {
    format!("{}{}", charge.uuid().simple(), proof(ports, charge))
}

/// Returns the address of the charge's payment page. `base` is the public address of this service.
#[must_use]
pub fn url(ports: &Ports, base: &str, charge: ChargeId) -> String {
    format!("{}/pay/{}", base.trim_end_matches('/'), token(ports, charge))
}

/// Returns the charge of the token, refreshed as by [`fetch`], and the charge's account.
///
/// # Errors
/// [`FetchError`]. The error is `NotFound` for every text that is not the token of a visible charge.
pub async fn find(ports: &Ports, syncs: &SyncGate, token: &str) -> Result<(Account, Charge), FetchError> {
    let id = parse(ports, token).ok_or(FetchError::NotFound)?;
    let stored = ports.queries.find_charge_by_txid(&Txid::of_charge(id)).await.map_err(StoreError::from)?;
    let account = stored.ok_or(FetchError::NotFound)?.account;
    let charge = fetch(ports, syncs, account, &ChargeName::Id(id)).await?;
    let account = ports.queries.find_account(account).await.map_err(StoreError::from)?;
    Ok((account.ok_or(FetchError::NotFound)?, charge))
}

/// Returns the charge id in a token. Returns `None` if this service did not make the token.
fn parse(ports: &Ports, token: &str) -> Option<ChargeId> {
    let (id, given) = token.split_at_checked(DIGITS)?;
    let is_id = id.bytes().all(|digit| matches!(digit, b'0'..=b'9' | b'a'..=b'f'));
    let id = ChargeId::new(Uuid::try_parse(id).ok().filter(|_| is_id)?);
    let expected = ports.keyed_hash.hash(COMPARISON, proof(ports, id).as_bytes());
    ports.keyed_hash.verify(COMPARISON, given.as_bytes(), &expected).then_some(id)
}

/// Returns the proof of an id, the second half of its token, in hexadecimal digits.
fn proof(ports: &Ports, charge: ChargeId) -> String {
    let hash = ports.keyed_hash.hash(PURPOSE, charge.uuid().as_bytes());
    hex::encode(hash.0.iter().take(DIGITS.div_ceil(2)))
}
