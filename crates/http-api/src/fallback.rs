//! Responses to requests without a route: their path does not exist, or does not have their method.

use std::collections::BTreeMap;

use actix_web::{HttpRequest, HttpResponse};

use super::context::RequestContext;
use super::error::{ApiError, ErrorCode};

/// The methods of each path below `/v1`, as the header `Allow` lists them.
#[derive(Debug)]
pub struct Methods(pub BTreeMap<String, String>);

/// Responds to a request whose path does not exist.
///
/// # Errors
/// Always `not_found`.
pub async fn not_found(request: HttpRequest) -> Result<HttpResponse, ApiError> {
    record_no_route(&request);
    let text = "The path does not exist. The paths of the API begin with /v1, and /docs lists them.";
    Err(ApiError::new(ErrorCode::NotFound).with_message(text))
}

/// Responds below `/v1` to a request whose path does not exist, or does not have the request's method.
///
/// # Errors
/// `method_not_allowed` if the path has other methods, else `not_found`.
pub async fn not_served(request: HttpRequest) -> Result<HttpResponse, ApiError> {
    let methods = request.app_data::<&'static Methods>();
    let allow = methods.zip(request.match_pattern()).and_then(|(methods, pattern)| methods.0.get(&pattern));
    match allow {
        Some(allow) => Err(other_methods(&request, allow.clone())),
        None => not_found(request).await,
    }
}

/// Responds to methods other than GET and HEAD on a path that can only be read.
///
/// # Errors
/// Always `method_not_allowed`.
pub async fn only_get(request: HttpRequest) -> Result<HttpResponse, ApiError> {
    Err(other_methods(&request, "GET, HEAD".to_owned()))
}

fn other_methods(request: &HttpRequest, allow: String) -> ApiError {
    record_no_route(request);
    ApiError { allow: Some(allow), ..ApiError::new(ErrorCode::MethodNotAllowed) }
}

fn record_no_route(request: &HttpRequest) {
    if let Ok(context) = RequestContext::of(request) {
        let _first = context.route.set(None);
    }
}
