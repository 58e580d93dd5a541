//! The QR code of a charge as a file, for e-mails. Only an open charge has a QR code, so that no payer pays twice or
//! too late.

use actix_web::http::header::CONTENT_TYPE;
use actix_web::web::{self, Data};
use actix_web::{HttpRequest, HttpResponse};

use super::{NO_CRAWLERS, PayState, find};
use crate::failure::Failure;
use crate::state::Dashboard;

/// Returns the image as PNG.
pub(crate) async fn png(
    dashboard: Data<Dashboard>,
    token: web::Path<String>,
    request: HttpRequest,
) -> Result<HttpResponse, Failure> {
    let code = code(&dashboard, &request, &token).await?;
    let file = cais_qr_code::png_file(&code).ok_or(Failure::NotFound)?;
    Ok(HttpResponse::Ok().insert_header((CONTENT_TYPE, "image/png")).insert_header(NO_CRAWLERS).body(file))
}

/// Returns the image as SVG.
pub(crate) async fn svg(
    dashboard: Data<Dashboard>,
    token: web::Path<String>,
    request: HttpRequest,
) -> Result<HttpResponse, Failure> {
    let code = code(&dashboard, &request, &token).await?;
    let file = cais_qr_code::svg_file(&code).ok_or(Failure::NotFound)?;
    Ok(HttpResponse::Ok().insert_header((CONTENT_TYPE, "image/svg+xml")).insert_header(NO_CRAWLERS).body(file))
}

async fn code(dashboard: &Data<Dashboard>, request: &HttpRequest, token: &str) -> Result<String, Failure> {
    let payment = find(dashboard, request, token).await?;
    let issued = payment.charge.state.issued().filter(|_| payment.state == PayState::Open);
    issued.map(|issued| issued.copy_paste.clone()).ok_or(Failure::NotFound)
}
