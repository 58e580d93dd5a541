//! Applies the current fault to a request.

use std::{
    net::{Shutdown, TcpStream},
    sync::Arc,
};

use actix_web::{
    HttpRequest, HttpResponse, ResponseError,
    body::{BoxBody, MessageBody, to_bytes},
    dev::{ServiceRequest, ServiceResponse},
    http::{
        Method,
        header::{self, HeaderValue},
    },
    middleware::Next,
    web,
};

use super::{Fault, FaultMode, FaultTarget, MAX_LATENCY};
use crate::{
    crypto::CryptoError,
    efi::{self, refusal::Refusal},
    pix::problem::{Kind, Problem},
    psp::Psp,
    ptax::PtaxError,
    woovi::WooviError,
};

/// The beginning of the paths that never have a fault, so that the tester can end a fault.
const CONTROL: &str = "/sandbox/";

/// Paths whose `POST` requests count as reads, because they change no money and no order. Faults of writes do not affect them: without a
/// token, a client could not send the write that the tester wants to fail.
const READS: [&str; 3] = ["/oauth/token", "/v1/auth", "/v1/payout/validate-address"];

/// The reason that the answers of the modes `error` and `error_after` show.
const DELIBERATE: &str = "the sandbox fails on request";

/// The page of the mode `html`, similar to that of a proxy in front of the real processor.
const HTML: &str = "<!DOCTYPE html><html><head><title>Just a moment...</title></head><body>Checking</body></html>";

/// The value of `Retry-After` in seconds.
const RETRY_AFTER_S: &str = "1";

/// A second handle on a connection's socket, used to close the connection without the HTTP server.
pub struct Connection(pub TcpStream);

/// Applies the current fault to a request or its answer, as a middleware.
///
/// # Errors
/// The errors of the next service.
pub async fn inject(
    request: ServiceRequest,
    next: Next<impl MessageBody + 'static>,
) -> Result<ServiceResponse<BoxBody>, actix_web::Error> {
    let psp = request.app_data::<web::Data<Arc<Psp>>>();
    let fault = psp.map_or_else(Fault::default, |psp| psp.faults.find(request.path()));
    let mode = if request.path().starts_with(CONTROL) { FaultMode::Ok } else { fault.mode };
    // Lost, late and failed replies apply only to writes. Reads are answered, so that a client can find the outcome.
    let only_reads = request.method() == Method::GET || READS.contains(&request.path());
    match mode {
        FaultMode::Ok | FaultMode::DoubleCallback => {}
        FaultMode::Slow => tokio::time::sleep(fault.latency).await,
        // A request arrives although the mode is `down` if its connection is older than the fault, or if the listener stays open. Like a
        // refused connection, 429 proves that no work was done.
        FaultMode::Down => return Ok(request.into_response(HttpResponse::TooManyRequests().force_close().finish())),
        FaultMode::RateLimited => {
            let mut answer = too_many(request.path());
            answer.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from_static(RETRY_AFTER_S));
            return Ok(request.into_response(answer));
        }
        FaultMode::Error => {
            let response = error(request.path());
            return Ok(request.into_response(response));
        }
        FaultMode::Hang => {
            tokio::time::sleep(MAX_LATENCY).await;
            close_connection(request.request());
            return Ok(request.into_response(HttpResponse::GatewayTimeout().force_close().finish()));
        }
        FaultMode::Html => return Ok(request.into_response(HttpResponse::Ok().content_type("text/html").body(HTML))),
        FaultMode::DropReply | FaultMode::LateReply | FaultMode::ErrorAfter if only_reads => {}
        FaultMode::DropReply => {
            let response = next.call(request).await?.map_into_boxed_body();
            close_connection(response.request());
            return Ok(response);
        }
        FaultMode::LateReply => {
            let response = next.call(request).await?.map_into_boxed_body();
            tokio::time::sleep(fault.latency).await;
            return Ok(response);
        }
        FaultMode::ErrorAfter => {
            let response = next.call(request).await?;
            let answer = error(response.request().path());
            return Ok(response.into_response(answer));
        }
        FaultMode::Truncated => return Ok(truncate(next.call(request).await?.map_into_boxed_body()).await),
    }
    Ok(next.call(request).await?.map_into_boxed_body())
}

/// Removes the second half of an answer's body.
async fn truncate(response: ServiceResponse<BoxBody>) -> ServiceResponse<BoxBody> {
    let (request, response) = response.into_parts();
    let (head, body) = response.into_parts();
    let bytes = to_bytes(body).await.unwrap_or_default();
    let half = bytes.slice(..bytes.len() / 2);
    ServiceResponse::new(request, head.set_body(BoxBody::new(half)))
}

fn too_many(path: &str) -> HttpResponse {
    match FaultTarget::of(path) {
        FaultTarget::Woovi => WooviError::too_many().error_response(),
        FaultTarget::Institution | FaultTarget::Crypto | FaultTarget::Ptax => HttpResponse::TooManyRequests().finish(),
    }
}

fn error(path: &str) -> HttpResponse {
    match FaultTarget::of(path) {
        FaultTarget::Crypto => CryptoError::internal(DELIBERATE).error_response(),
        FaultTarget::Ptax => PtaxError::Internal.error_response(),
        FaultTarget::Woovi => WooviError::internal(DELIBERATE).error_response(),
        FaultTarget::Institution if path.contains(efi::infractions::PATH_PART) => {
            Problem::new(Kind::InfractionInternalError, DELIBERATE).error_response()
        }
        FaultTarget::Institution if path.contains(efi::PATH_PART) => {
            Refusal::application_error(DELIBERATE).error_response()
        }
        FaultTarget::Institution => Problem::new(Kind::InternalError, DELIBERATE).error_response(),
    }
}

/// Closes the connection of a request, so that the client receives no answer.
pub fn close_connection(request: &HttpRequest) {
    if let Some(Connection(socket)) = request.conn_data::<Connection>()
        // The call fails only if the client closed the connection first, which has the same effect.
        && let Err(error) = socket.shutdown(Shutdown::Both)
    {
        tracing::debug!(%error, "connection was already closed");
    }
}
