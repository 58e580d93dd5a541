//! Requests of a dialect: their paths, headers, queries and token bodies.

use actix_web::{
    HttpMessage as _,
    dev::{Payload, ServiceRequest},
    http::{
        Uri,
        header::{self, HeaderValue},
    },
    web,
};
use base64::{Engine as _, engine::general_purpose::STANDARD};
use reqwest::Url;

use super::Dialect;
use crate::pix::problem::{Kind, Problem};

/// The path of token requests of this institution.
const TOKEN_PATH: &str = "/oauth/token";
/// The path of the API of this institution.
const API_PATH: &str = "/v2";
/// The beginnings of the paths that no dialect changes: the control interface, the other APIs, and the payloads of charges (`/qr/`).
const UNCHANGED_PATHS: [&str; 5] = ["/sandbox/", "/woovi/", "/v1/", "/olinda/", "/qr/"];

/// Returns whether the path is outside of the API Pix, so that no dialect changes the request.
pub fn is_outside_api_pix(path: &str) -> bool {
    UNCHANGED_PATHS.iter().any(|beginning| path.starts_with(beginning))
}

/// Changes a request of the dialect into one of this institution.
///
/// # Errors
/// A [`Problem`] that describes how the request differs from the dialect.
pub async fn translate(request: &mut ServiceRequest, dialect: &Dialect) -> Result<(), Problem> {
    let path = request.path().to_owned();
    let token_path = dialect.token_path.as_deref().unwrap_or(TOKEN_PATH);
    if path == token_path {
        take_query(request, TOKEN_PATH, &dialect.token_query)?;
        return translate_token(request, dialect).await;
    }
    let prefix = dialect.path_prefix.as_deref().unwrap_or(API_PATH);
    let Some(rest) = path.strip_prefix(prefix).filter(|rest| rest.starts_with('/')) else {
        return Err(Problem::new(Kind::NotFound, "there is no such path"));
    };
    for (name, value) in &dialect.headers {
        let found = request.headers().get(name.as_str()).and_then(|found| found.to_str().ok());
        if found != Some(value.as_str()) {
            return Err(Problem::new(Kind::AccessDenied, format!("the header {name} is missing or wrong")));
        }
    }
    take_query(request, &format!("{API_PATH}{rest}"), &dialect.query)
}

/// Sets the path of a request to `path`, and removes the `required` parameters from its query. A missing parameter is refused.
fn take_query(request: &mut ServiceRequest, path: &str, required: &[(String, String)]) -> Result<(), Problem> {
    let invalid = || Problem::new(Kind::NotFound, "the path cannot be read");
    let query = request.query_string();
    let mut url = Url::parse(&format!("http://localhost/?{query}")).map_err(|_| invalid())?;
    let mut pairs: Vec<(String, String)> = url.query_pairs().into_owned().collect();
    for pair in required {
        let place = pairs.iter().position(|found| found == pair);
        let place = place.ok_or_else(|| Problem::new(Kind::AccessDenied, format!("{} is missing or wrong", pair.0)))?;
        pairs.remove(place);
    }
    let target = if pairs.is_empty() {
        path.to_owned()
    } else {
        url.query_pairs_mut().clear().extend_pairs(&pairs);
        format!("{path}?{}", url.query().unwrap_or_default())
    };
    let uri: Uri = target.parse().map_err(|_| invalid())?;
    request.match_info_mut().get_mut().update(&uri);
    request.head_mut().uri = uri;
    Ok(())
}

/// Checks the body of a token request. Moves the credentials of a form into the header `Authorization`, if the dialect has them in the
/// body.
async fn translate_token(request: &mut ServiceRequest, dialect: &Dialect) -> Result<(), Problem> {
    let refused = |why: &str| Problem::new(Kind::InvalidRequest, why);
    let is_form = request.content_type() == "application/x-www-form-urlencoded";
    match dialect.token_body.as_deref() {
        Some("json") if is_form => return Err(refused("the body must be JSON")),
        Some("form") if !is_form => return Err(refused("the body must be a form")),
        Some(_) | None => {}
    }
    let bytes = request.extract::<web::Bytes>().await.map_err(|_| refused("the body cannot be read"))?;
    let mut body = bytes.clone();
    if is_form {
        let text = std::str::from_utf8(&bytes).map_err(|_| refused("the body is not a form"))?;
        let url = Url::parse(&format!("http://localhost/?{text}")).map_err(|_| refused("the body is not a form"))?;
        let mut pairs: Vec<(String, String)> = url.query_pairs().into_owned().collect();
        if dialect.requires_scope && !pairs.iter().any(|(name, _)| name == "scope") {
            return Err(refused("scope is missing"));
        }
        if dialect.credentials_in_body {
            if request.headers().contains_key(header::AUTHORIZATION) {
                return Err(refused("the credentials must be in the body"));
            }
            let mut take = |name: &str| {
                let place = pairs.iter().position(|(found, _)| found == name);
                place.map(|place| pairs.remove(place).1).ok_or_else(|| refused("a credential is missing"))
            };
            let pair = STANDARD.encode(format!("{}:{}", take("client_id")?, take("client_secret")?));
            let value = HeaderValue::try_from(format!("Basic {pair}")).map_err(|_| refused("a credential is wrong"))?;
            request.headers_mut().insert(header::AUTHORIZATION, value);
        }
        let mut url = url;
        url.query_pairs_mut().clear().extend_pairs(&pairs);
        body = url.query().unwrap_or_default().to_owned().into();
    }
    request.headers_mut().remove(header::CONTENT_LENGTH);
    request.set_payload(Payload::from(body));
    Ok(())
}
