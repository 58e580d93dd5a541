//! Receives the callbacks of acquirers and of the crypto processor. A callback is stored at once, and a worker processes it later.
//! Exception: a callback about a crypto withdrawal is applied at once and not stored.

use std::net::IpAddr;

use actix_web::http::StatusCode;
use actix_web::web::{Data, Payload};
use actix_web::{HttpRequest, HttpResponse};
use cais_domain::acquirer_name::AcquirerName;
use cais_ports::{CallbackSignatures, alerts};
use cais_strict_json::Issue;
use cais_use_cases::callbacks::{self, ReceiveError};
use ipnet::IpNet;
use ring::hmac;
use tokio::sync::{Semaphore, SemaphorePermit};

use super::body;
use super::client;
use super::context::{RequestContext, run_detached};
use super::error::{ApiError, ErrorCode, STORE_RETRY_AFTER_S};
use super::input::segment;
use super::reply;
use super::state::AppState;

/// Limit of the memory for the bodies of callbacks, over all connections together, in KiB: 32 MiB. If a body does not fit, the callback is
/// answered 503, and the acquirer sends the callback again.
const BODY_MEMORY_KIB: usize = 32 * 1024;
/// Seconds until an acquirer should retry, if the store has too many open callbacks of this acquirer.
const FULL_RETRY_AFTER_S: u32 = 60;

/// The header with the signature of a callback of the crypto processor.
const SIGNATURE: &str = "x-nowpayments-sig";

/// The secret paths of the acquirers and of the crypto processor, the permitted networks, and the memory for bodies.
pub struct CallbackPaths {
    /// The key with which tokens are hashed. The hashes are compared, so that the duration of a comparison reveals nothing about a token.
    key: hmac::Key,
    tokens: Vec<(AcquirerName, hmac::Tag)>,
    /// The networks that an acquirer sends from. An acquirer without networks may send from every address.
    networks: Vec<(AcquirerName, Vec<IpNet>)>,
    /// The free memory for bodies, one permit per KiB.
    body_memory: Semaphore,
}

/// The memory reserved for the body of one callback; released on drop.
pub struct MemoryPermit<'p> {
    all: &'p Semaphore,
    held: Option<SemaphorePermit<'p>>,
}

impl MemoryPermit<'_> {
    /// Increases the permit to `bytes`.
    ///
    /// # Errors
    /// `service_unavailable` if all memory is reserved.
    pub fn grow_to(&mut self, bytes: usize) -> Result<(), ApiError> {
        let held = self.held.as_ref().map_or(0, SemaphorePermit::num_permits);
        let missing = u32::try_from(bytes.div_ceil(1024).saturating_sub(held)).unwrap_or(u32::MAX);
        let full = |_| ApiError::new(ErrorCode::ServiceUnavailable).retry_after(STORE_RETRY_AFTER_S);
        let more = self.all.try_acquire_many(missing).map_err(full)?;
        match &mut self.held {
            Some(held) => held.merge(more),
            none => *none = Some(more),
        }
        Ok(())
    }
}

impl CallbackPaths {
    /// Returns the paths `/callbacks/<acquirer>/<token>`. While the previous token of an acquirer is still valid, `tokens`
    /// contains two pairs for this acquirer.
    #[must_use]
    pub fn new<'t>(tokens: impl IntoIterator<Item = (AcquirerName, &'t str)>) -> Self {
        let key = hmac::Key::new(hmac::HMAC_SHA256, b"callback paths");
        let tokens = tokens.into_iter().map(|(name, token)| (name, hmac::sign(&key, token.as_bytes()))).collect();
        Self { key, tokens, networks: Vec::new(), body_memory: Semaphore::new(BODY_MEMORY_KIB) }
    }

    /// Restricts each of these acquirers to its networks. With an empty list, the acquirer may send from every address.
    #[must_use]
    pub fn only_from(self, networks: impl IntoIterator<Item = (AcquirerName, Vec<IpNet>)>) -> Self {
        Self { networks: networks.into_iter().filter(|(_, networks)| !networks.is_empty()).collect(), ..self }
    }

    /// Returns `true` if the acquirer may send from the address.
    #[must_use]
    pub fn admits(&self, acquirer: &AcquirerName, address: Option<IpAddr>) -> bool {
        let own = self.networks.iter().find(|(name, _)| name == acquirer);
        own.is_none_or(|(_, networks)| address.is_some_and(|address| client::is_in(networks, address)))
    }

    /// Returns the acquirer of that name if the token is its current or its previous one.
    #[must_use]
    pub fn find(&self, acquirer: &str, token: &str) -> Option<&AcquirerName> {
        let mut own = self.tokens.iter().filter(|(name, _)| name.as_str() == acquirer);
        own.find(|(_, tag)| hmac::verify(&self.key, token.as_bytes(), tag.as_ref()).is_ok()).map(|(name, _)| name)
    }

    /// Returns an empty permit for the body of a callback.
    #[must_use]
    pub fn memory_permit(&self) -> MemoryPermit<'_> {
        MemoryPermit { all: &self.body_memory, held: None }
    }
}

/// Receives a callback, and notifies the worker that processes stored callbacks.
///
/// # Errors
/// `not_found` for an unknown acquirer, a wrong token, and a sender outside of the acquirer's networks. `VALIDATION_ERROR` for a body that
/// is not a callback of the acquirer, or has no valid signature. `service_unavailable` if the callback was not stored, so that the acquirer
/// retries.
pub async fn receive(request: HttpRequest, payload: Payload, shared: Data<AppState>) -> Result<HttpResponse, ApiError> {
    // The path is checked before the body is read.
    let acquirer = shared.callbacks.find(&segment(&request, "acquirer"), &segment(&request, "token"));
    let acquirer = acquirer.ok_or(ApiError::new(ErrorCode::NotFound))?.clone();
    let address = client::address(&request, &shared.trusted_proxies);
    if !shared.callbacks.admits(&acquirer, address) {
        tracing::error!(
            alert = alerts::CALLBACK_ADDRESS_REJECTED, %acquirer, client = address.map(tracing::field::display),
            "callback from an address outside of `callback_addresses`; it is rejected"
        );
        return Err(ApiError::new(ErrorCode::NotFound));
    }
    // The permit is held until the response, because the body may stay in memory until then.
    let mut permit = shared.callbacks.memory_permit();
    let within = RequestContext::of(&request)?.body_within;
    let body = body::callback(request.headers(), &mut payload.into_inner(), within, &mut permit).await?;
    let headers = request.headers();
    let signature = headers.get(SIGNATURE).and_then(|value| value.to_str().ok()).unwrap_or_default().to_owned();
    let texts = headers.iter().filter_map(|(name, value)| Some((name.as_str(), value.to_str().ok()?)));
    let signatures = CallbackSignatures::of_headers(texts);
    let state = Data::clone(&shared);
    let work = async move {
        let ports = &state.ports;
        let is_crypto = ports.crypto.as_ref().is_some_and(|crypto| *crypto.processor.name() == acquirer);
        if is_crypto {
            callbacks::receive_crypto(ports, &acquirer, &signature, body).await
        } else {
            callbacks::verify(ports, &acquirer, &body, &signatures)?;
            callbacks::receive(ports, &acquirer, body).await
        }
    };
    let result = run_detached(work).await?;
    result.map_err(|error| match error {
        ReceiveError::Malformed(reason) => ApiError::invalid(vec![Issue::new("", format!("is {reason}"))]),
        ReceiveError::Full => ApiError::new(ErrorCode::ServiceUnavailable).retry_after(FULL_RETRY_AFTER_S),
        ReceiveError::NotConfigured | ReceiveError::Store(_) => {
            ApiError::new(ErrorCode::ServiceUnavailable).retry_after(STORE_RETRY_AFTER_S).with_cause(error.to_string())
        }
    })?;
    shared.wake.callbacks.notify();
    Ok(reply::empty(StatusCode::OK))
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    #[test]
    fn tokens_of_both_generations_are_accepted() {
        let main = AcquirerName::parse("main").unwrap();
        let paths = CallbackPaths::new([(main.clone(), "new"), (main.clone(), "old")]);
        for (token, found) in [("new", Some(&main)), ("old", Some(&main)), ("older", None)] {
            assert_eq!(paths.find("main", token), found, "{token}");
        }
    }

    #[test]
    fn sender_outside_of_the_networks_is_not_admitted() {
        let [main, other] = ["main", "other"].map(|name| AcquirerName::parse(name).unwrap());
        let networks = |texts: &[&str]| texts.iter().map(|text| text.parse().unwrap()).collect();
        let paths = CallbackPaths::new([]).only_from([
            (main.clone(), networks(&["34.193.116.226/32", "2001:db8::/32"])),
            (other.clone(), Vec::new()),
        ]);
        for (address, admitted) in
            [("34.193.116.226", true), ("2001:db8::1", true), ("34.193.116.227", false), ("::1", false)]
        {
            let address = Some(address.parse().unwrap());
            assert_eq!((paths.admits(&main, address), paths.admits(&other, address)), (admitted, true), "{address:?}");
        }
        assert!(!paths.admits(&main, None));
    }

    #[test]
    fn bodies_share_bounded_memory_and_release_it() {
        let paths = CallbackPaths::new([]);
        let mut permits: Vec<MemoryPermit<'_>> = (0..32).map(|_| paths.memory_permit()).collect();
        for permit in &mut permits {
            permit.grow_to(1_000).unwrap();
            permit.grow_to(1024 * 1024).unwrap();
        }
        let mut late = paths.memory_permit();
        assert_eq!(late.grow_to(1).unwrap_err().code, ErrorCode::ServiceUnavailable);
        permits.pop();
        late.grow_to(1024 * 1024).unwrap();
    }

    #[test]
    fn callback_with_wrong_token_is_rejected() {
        let main = AcquirerName::parse("main").unwrap();
        let paths = CallbackPaths::new([(main.clone(), "secret")]);
        assert_eq!(paths.find("main", "secret"), Some(&main));
        for (acquirer, token) in [("main", "Secret"), ("main", "secre"), ("main", ""), ("other", "secret")] {
            assert_eq!(paths.find(acquirer, token), None, "{acquirer} {token}");
        }
    }
}
