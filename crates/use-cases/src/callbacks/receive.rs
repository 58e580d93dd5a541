//! Stores the identifiers of a callback before the callback is answered. The acquirer's records are read later, so the
//! answer is fast and no callback is lost.

use cais_domain::acquirer_name::AcquirerName;
use cais_domain::ids::CallbackId;
use cais_ports::{
    Callback, CallbackItem, CallbackSignatures, CallbackState, ChangeSet, CommitError, CryptoCallback, Write,
};

use super::names;
use super::process::{CHARGES_PER_PASS, INFRACTIONS_PER_PASS};
use crate::crypto::withdrawals;
use crate::ports::Ports;
use crate::store_error::MAX_COMMIT_RETRIES;

/// The reason why a callback was not stored.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ReceiveError {
    /// The body is not a callback of the acquirer's interface, or its signature is wrong.
    #[error("{0}")]
    Malformed(String),
    /// The acquirer is not configured.
    #[error("the acquirer is not configured")]
    NotConfigured,
    /// The acquirer has too many open callbacks. The acquirer should send this callback again later.
    #[error("the acquirer has too many open callbacks")]
    Full,
    /// The store failed. The acquirer should send the callback again.
    #[error(transparent)]
    Store(#[from] CommitError),
}

/// Verifies the signature of a callback, if its acquirer signs callbacks.
///
/// # Errors
/// [`ReceiveError`].
pub fn verify(
    ports: &Ports,
    acquirer: &AcquirerName,
    body: impl AsRef<[u8]>,
    signatures: &CallbackSignatures,
) -> Result<(), ReceiveError> {
    let adapter = ports.acquirers.named(acquirer).ok_or(ReceiveError::NotConfigured)?;
    let verified = adapter.verify_callback(body.as_ref(), signatures);
    verified.map_err(|error| ReceiveError::Malformed(error.to_string()))
}

/// Stores the identifiers in the callback. A worker reads the identified records from the acquirer later. A callback
/// without identifiers is not stored. If an open or unmatched callback with the same identifiers is stored, that
/// callback becomes due instead.
///
/// # Errors
/// [`ReceiveError`]. After an error, no part of the callback is stored. Exception: after [`CommitError::Unavailable`]
/// the outcome is unknown, so the callback may be stored.
pub async fn receive(ports: &Ports, acquirer: &AcquirerName, body: impl AsRef<[u8]>) -> Result<(), ReceiveError> {
    let adapter = ports.acquirers.named(acquirer).ok_or(ReceiveError::NotConfigured)?;
    let items = adapter.callbacks(body.as_ref()).map_err(|error| ReceiveError::Malformed(error.to_string()))?;
    drop(body);
    store(ports, acquirer, items).await
}

/// Reads a signed callback of the crypto processor. If the callback is about a deposit, stores the payment's
/// identifier, like [`receive`]. A callback about a withdrawal is applied at once and not stored. Open withdrawals are
/// polled, so a lost callback only delays an outcome.
///
/// # Errors
/// [`ReceiveError`]. If the signature is wrong, the error is [`ReceiveError::Malformed`].
pub async fn receive_crypto(
    ports: &Ports,
    processor: &AcquirerName,
    signature: &str,
    body: impl AsRef<[u8]>,
) -> Result<(), ReceiveError> {
    let adapter = ports.crypto_processor(processor).map_err(|_| ReceiveError::NotConfigured)?;
    let named = adapter.read_callback(signature, body.as_ref());
    match named.map_err(|error| ReceiveError::Malformed(error.to_string()))? {
        Some(CryptoCallback::Deposit { id, .. }) => {
            store(ports, processor, vec![CallbackItem::CryptoPayment(id)]).await
        }
        Some(CryptoCallback::Withdrawal { batch, order }) => {
            match withdrawals::callback::apply(ports, processor, &batch, order).await {
                Ok(true) => {}
                Ok(false) => {
                    tracing::info!(%processor, %batch, "callback is about a withdrawal of another system; the callback is ignored");
                }
                Err(error) => {
                    tracing::warn!(%processor, %batch, %error, "callback about a withdrawal could not be applied; the next poll reads the withdrawal");
                }
            }
            Ok(())
        }
        None => Ok(()),
    }
}

async fn store(ports: &Ports, acquirer: &AcquirerName, items: Vec<CallbackItem>) -> Result<(), ReceiveError> {
    if items.is_empty() {
        return Ok(());
    }
    if ports.open_callbacks.is_full(acquirer) {
        return Err(ReceiveError::Full);
    }
    // A stored callback gets at most as many items as a pass may read; further items get a stored callback of their
    // own. So each pass completes at least one callback.
    let (infractions, pix): (Vec<_>, Vec<_>) =
        items.into_iter().partition(|item| matches!(item, CallbackItem::Infraction(_)));
    let texts = [names::write(&pix, CHARGES_PER_PASS), names::write(&infractions, INFRACTIONS_PER_PASS)].concat();
    for _ in 0..MAX_COMMIT_RETRIES {
        let mut writes = Vec::new();
        for names in &texts {
            let open = find_open(ports, acquirer, names).await;
            writes.push(open.map_or_else(|| insert(ports, acquirer, names), |open| make_due(ports, open)));
        }
        match commit(ports, writes).await {
            // A worker, or another copy of this callback, has just updated the stored callback. The worker may have
            // read the acquirer before the event of this callback, so the callback must become due again.
            Err(CommitError::Stale) => {}
            done => return Ok(done?),
        }
    }
    Ok(commit(ports, texts.iter().map(|names| insert(ports, acquirer, names)).collect()).await?)
}

/// Returns an open or unmatched callback with these identifiers. If the look-up fails, returns `None`: a duplicate
/// callback is harmless, but a refused callback is not.
async fn find_open(ports: &Ports, acquirer: &AcquirerName, names: &[u8]) -> Option<Callback> {
    ports.queries.find_named_callback(acquirer, names).await.unwrap_or_else(|error| {
        tracing::warn!(%acquirer, %error, "look-up of an open callback failed; the callback is stored as a new one");
        None
    })
}

fn insert(ports: &Ports, acquirer: &AcquirerName, names: &[u8]) -> Write {
    let now = ports.clock.now();
    Write::insert(Callback {
        id: CallbackId::new(ports.ids.next_uuid()),
        acquirer: acquirer.clone(),
        body: names.to_vec(),
        received_at: now,
        state: CallbackState::Waiting,
        attempts: 0,
        due_at: Some(now),
        version: 0,
    })
}

/// Makes an open or unmatched callback due. The version increases even if the callback is already due. So a worker that
/// read the acquirer before the callback was sent again cannot mark it as done.
fn make_due(ports: &Ports, open: Callback) -> Write {
    // An unmatched callback gets all its attempts again. An open callback keeps its count, so that sending it again
    // adds no attempts. If the acquirer sends it again during every pass, no pass can store its result, and the
    // callback stays open.
    let attempts = if open.state == CallbackState::Waiting { open.attempts } else { 0 };
    Write::update(Callback { state: CallbackState::Waiting, attempts, due_at: Some(ports.clock.now()), ..open })
}

async fn commit(ports: &Ports, writes: Vec<Write>) -> Result<(), CommitError> {
    let change = ChangeSet { writes, ..ChangeSet::new(ports.clock.now()) };
    ports.store.commit(change).await.map(drop)
}
