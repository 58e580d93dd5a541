//! `OAuth2` client credentials: `POST /oauth/token`, and the check of bearer tokens and their scopes.

use std::{
    collections::{BTreeSet, HashMap},
    sync::{PoisonError, RwLock},
};

use actix_web::{
    HttpMessage, HttpRequest, HttpResponse,
    http::{StatusCode, header},
    web,
};
use base64::{Engine, engine::general_purpose::STANDARD};
use jiff::{SignedDuration, Timestamp};
use serde_json::json;

use super::{
    Shared, body,
    problem::{Kind, Problem},
};
use crate::{journal::Identity, random_ids, requests::Operation};

/// The life of a token, by the simulator's clock.
const LIFETIME: SignedDuration = SignedDuration::from_hours(1);

/// The largest number of tokens in memory. Beyond it, a new token replaces the token that expires first.
const MAX_TOKENS: usize = 1000;

/// A permission of a token. "Efí only" marks the scopes that the Central Bank's API Pix does not have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Scope {
    /// Create and revise charges.
    CobWrite,
    /// Read charges.
    CobRead,
    /// Request returns of received Pix.
    PixWrite,
    /// Read received Pix and their returns.
    PixRead,
    /// Register and remove webhooks.
    WebhookWrite,
    /// Read webhooks.
    WebhookRead,
    /// Send Pix (Efí only).
    PixSend,
    /// Read sent Pix (Efí only).
    SentRead,
    /// Read the balance (Efí only).
    BalanceRead,
    /// Read infractions (Efí only).
    InfractionsRead,
    /// Defend infractions (Efí only).
    InfractionsWrite,
}

impl Scope {
    /// All scopes of this institution.
    const ALL: [Self; 11] = [
        Self::CobWrite,
        Self::CobRead,
        Self::PixWrite,
        Self::PixRead,
        Self::WebhookWrite,
        Self::WebhookRead,
        Self::PixSend,
        Self::SentRead,
        Self::BalanceRead,
        Self::InfractionsRead,
        Self::InfractionsWrite,
    ];

    /// Returns the name on the wire.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::CobWrite => "cob.write",
            Self::CobRead => "cob.read",
            Self::PixWrite => "pix.write",
            Self::PixRead => "pix.read",
            Self::WebhookWrite => "webhook.write",
            Self::WebhookRead => "webhook.read",
            Self::PixSend => "pix.send",
            Self::SentRead => "gn.pix.send.read",
            Self::BalanceRead => "gn.balance.read",
            Self::InfractionsRead => "gn.infractions.read",
            Self::InfractionsWrite => "gn.infractions.write",
        }
    }
}

#[derive(Debug)]
struct Grant {
    expires_at: Timestamp,
    scopes: BTreeSet<Scope>,
}

/// The reason why the bearer token of a request does not suffice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TokenError {
    /// The token is missing.
    #[error("a bearer token is required")]
    Missing,
    /// The token is not in memory, or has expired. A restart removes all tokens.
    #[error("the token is unknown or has expired")]
    Unknown,
    /// The token lacks this scope.
    #[error("the token lacks the scope {0}")]
    LacksScope(&'static str),
}

impl From<TokenError> for Problem {
    fn from(error: TokenError) -> Self {
        let kind = match error {
            TokenError::Missing | TokenError::Unknown => Kind::Unauthorized,
            TokenError::LacksScope(_) => Kind::AccessDenied,
        };
        Self::new(kind, error.to_string())
    }
}

/// The issued tokens, kept in memory. After a restart a client must request a new token.
#[derive(Debug, Default)]
pub struct Tokens(RwLock<HashMap<String, Grant>>);

impl Tokens {
    /// Checks that the header `Authorization: Bearer` has a valid token with `scope`.
    ///
    /// # Errors
    /// [`TokenError`].
    pub fn check(&self, request: &HttpRequest, now: Timestamp, scope: Scope) -> Result<(), TokenError> {
        let token = credentials_of(request, "Bearer").ok_or(TokenError::Missing)?;
        let tokens = self.0.read().unwrap_or_else(PoisonError::into_inner);
        match tokens.get(token) {
            Some(grant) if now < grant.expires_at => {
                if grant.scopes.contains(&scope) {
                    return Ok(());
                }
                Err(TokenError::LacksScope(scope.name()))
            }
            Some(_) | None => Err(TokenError::Unknown),
        }
    }

    fn grant(&self, token: String, now: Timestamp, scopes: BTreeSet<Scope>) {
        let expires_at = now.saturating_add(LIFETIME).unwrap_or(Timestamp::MAX);
        let mut tokens = self.0.write().unwrap_or_else(PoisonError::into_inner);
        tokens.retain(|_, grant| now < grant.expires_at);
        if tokens.len() >= MAX_TOKENS {
            let oldest = tokens.iter().min_by_key(|(_, grant)| grant.expires_at).map(|(token, _)| token.clone());
            oldest.and_then(|token| tokens.remove(&token));
        }
        tokens.insert(token, Grant { expires_at, scopes });
    }
}

/// `POST /oauth/token`.
///
/// # Errors
/// 400 or 413 if the body cannot be read; 500 if the system returns no random bytes. Every other refusal has `OAuth2`'s own form
/// (RFC 6749, 5.2), and is therefore returned as a response with the status 400 or 401, not as a [`Problem`].
pub async fn token(request: HttpRequest, payload: web::Payload, psp: Shared) -> Result<HttpResponse, Problem> {
    psp.requests.count(Operation::Token);
    let bytes = body::bytes(payload).await?;
    let scopes = match authenticate(&request, &psp.identity).and_then(|()| requested(&request, &bytes)) {
        Ok(scopes) => scopes,
        Err(refusal) => return Ok(refusal.response()),
    };
    let token = random_ids::hex().map_err(|error| Problem::new(Kind::InternalError, error.to_string()))?;
    let names: Vec<&str> = scopes.iter().map(|scope| scope.name()).collect();
    let answer = json!({
        "access_token": token,
        "token_type": "Bearer",
        "expires_in": LIFETIME.as_secs(),
        "scope": names.join(" "),
    });
    psp.tokens.grant(token, psp.clock.now(), scopes);
    Ok(HttpResponse::Ok().insert_header((header::CACHE_CONTROL, "no-store")).json(answer))
}

/// A refusal of the token endpoint, in `OAuth2`'s own form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Refusal {
    InvalidClient,
    InvalidRequest,
    UnsupportedGrantType,
    InvalidScope,
}

impl Refusal {
    fn response(self) -> HttpResponse {
        let (status, error, description) = match self {
            Self::InvalidClient => (StatusCode::UNAUTHORIZED, "invalid_client", "unknown client or wrong secret"),
            Self::InvalidRequest => (
                StatusCode::BAD_REQUEST,
                "invalid_request",
                "the body must be a form or JSON with one grant_type, optionally scope, and no other field",
            ),
            Self::UnsupportedGrantType => {
                (StatusCode::BAD_REQUEST, "unsupported_grant_type", "grant_type must be client_credentials")
            }
            Self::InvalidScope => (StatusCode::BAD_REQUEST, "invalid_scope", "a requested scope is unknown"),
        };
        let mut response = HttpResponse::build(status);
        if self == Self::InvalidClient {
            response.insert_header((header::WWW_AUTHENTICATE, "Basic realm=\"sandbox\""));
        }
        response.json(json!({ "error": error, "error_description": description }))
    }
}

fn authenticate(request: &HttpRequest, identity: &Identity) -> Result<(), Refusal> {
    let decoded = credentials_of(request, "Basic").and_then(|text| STANDARD.decode(text).ok());
    let expected = format!("{}:{}", identity.client_id, identity.client_secret);
    if decoded.is_some_and(|decoded| decoded == expected.as_bytes()) { Ok(()) } else { Err(Refusal::InvalidClient) }
}

/// Parses the requested scopes. The body is a form (RFC 6749) or JSON, which some real institutions accept. Without the field `scope`,
/// returns all scopes.
fn requested(request: &HttpRequest, bytes: &[u8]) -> Result<BTreeSet<Scope>, Refusal> {
    let pairs = match request.content_type() {
        "application/x-www-form-urlencoded" => {
            let text = std::str::from_utf8(bytes).map_err(|_| Refusal::InvalidRequest)?;
            web::Query::<Vec<(String, String)>>::from_query(text).map_err(|_| Refusal::InvalidRequest)?.into_inner()
        }
        "application/json" => {
            let map: HashMap<String, String> = serde_json::from_slice(bytes).map_err(|_| Refusal::InvalidRequest)?;
            map.into_iter().collect::<Vec<_>>()
        }
        _ => return Err(Refusal::InvalidRequest),
    };
    let mut grant_type = None;
    let mut scopes = BTreeSet::from(Scope::ALL);
    for (name, value) in pairs {
        match name.as_str() {
            "grant_type" if grant_type.is_none() => grant_type = Some(value),
            "scope" => {
                let find = |word: &str| Scope::ALL.into_iter().find(|scope| scope.name() == word);
                scopes =
                    value.split_ascii_whitespace().map(find).collect::<Option<_>>().ok_or(Refusal::InvalidScope)?;
            }
            _ => return Err(Refusal::InvalidRequest),
        }
    }
    match grant_type.as_deref() {
        Some("client_credentials") => Ok(scopes),
        Some(_) => Err(Refusal::UnsupportedGrantType),
        None => Err(Refusal::InvalidRequest),
    }
}

fn credentials_of<'a>(request: &'a HttpRequest, scheme: &str) -> Option<&'a str> {
    let value = request.headers().get(header::AUTHORIZATION)?.to_str().ok()?;
    let (found, credentials) = value.split_once(' ')?;
    found.eq_ignore_ascii_case(scheme).then(|| credentials.trim())
}
