//! Sets up the authenticator at the first login, and shows the recovery codes once.

use std::fmt::Write as _;
use std::sync::Arc;

use actix_web::http::StatusCode;
use actix_web::web::Data;
use actix_web::{HttpRequest, HttpResponse};
use askama::Template;
use cais_ports::SigningSecret;
use cais_qr_code::QrImages;
use cais_use_cases::logins::{LoginError, enrol};

use crate::cookies::{self, Purpose};
use crate::failure::Failure;
use crate::form::Form;
use crate::layout::{Layout, redirect};
use crate::page_context::PageContext;
use crate::pages::logins::recovery_codes::NewCodesPage;
use crate::state::Dashboard;

/// The alphabet of base32 (RFC 4648, section 6), in which authenticators read a secret.
const BASE32: &[u8; 32] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";

/// The path of the login page with the notice that the authenticator is already set up.
const ENROLLED: &str = "/login?enrolled";

#[derive(Template)]
#[template(path = "logins/enrol.html")]
struct EnrolPage<'a> {
    page: Layout,
    error: Option<&'a str>,
    qr: Arc<str>,
    secret: String,
}

/// Shows the secret as a QR code and as text.
pub(crate) async fn show(context: PageContext) -> Result<HttpResponse, Failure> {
    enrol_page(&context, StatusCode::OK, None)
}

/// Checks the first code and shows the recovery codes.
///
/// If the form was sent twice, the browser drops the first response, which contains the codes. The first form has ended
/// the session with which the second form was sent. So the second response redirects to the login.
pub(crate) async fn submit(request: HttpRequest, form: Result<Form, Failure>) -> Result<HttpResponse, Failure> {
    let form = match form {
        Ok(form) => form,
        // The token of the form belongs to the ended session.
        Err(Failure::Forged(_)) if is_done(&request).await? => return Ok(redirect(ENROLLED)),
        Err(failure) => return Err(failure),
    };
    let context = &form.context;
    let visitor = context.awaiting_code()?;
    match enrol::confirm(&context.dashboard.logins, &context.browser, visitor, form.get("code")).await {
        Ok(enrolled) => {
            let new_context = context.with_session(&enrolled.created, visitor.user.clone());
            let shown = new_context.ok(&NewCodesPage { page: new_context.layout(), codes: enrolled.recovery_codes });
            Ok(new_context.set_session_cookie(shown, &enrolled.created))
        }
        Err(LoginError::Refused) => {
            enrol_page(context, StatusCode::UNPROCESSABLE_ENTITY, Some(context.language.texts().code_wrong))
        }
        Err(LoginError::Over) if is_done(&request).await? => Ok(redirect(ENROLLED)),
        Err(LoginError::Over | LoginError::LastCode) => Ok(redirect("/login?too-many-codes")),
        Err(error) => Err(error.into()),
    }
}

/// Returns whether the session of this browser ended with the enrolment.
async fn is_done(request: &HttpRequest) -> Result<bool, Failure> {
    let Some(dashboard) = request.app_data::<Data<Dashboard>>() else { return Ok(false) };
    let Some(cookie) = cookies::read(request, &dashboard.site, Purpose::Session) else { return Ok(false) };
    Ok(enrol::is_done(&dashboard.logins, &cookie).await?)
}

fn enrol_page(context: &PageContext, status: StatusCode, error: Option<&str>) -> Result<HttpResponse, Failure> {
    let visitor = context.awaiting_code()?;
    let secret = base32(&enrol::pending_secret(&context.dashboard.logins, &visitor.user)?);
    let url = key_uri(&visitor.user.email, &secret);
    // `QrImages` is a cache. This one is dropped at once, so that it does not keep the image with the secret.
    let qr =
        QrImages::default().data_url(&url).ok_or_else(|| Failure::Unavailable("the QR code is too long".to_owned()))?;
    Ok(context.page(status, &EnrolPage { page: context.layout(), error, qr, secret }))
}

/// Returns the text of the QR code: the key URI that authenticators read.
fn key_uri(email: &str, secret: &str) -> String {
    let mut label = String::new();
    for byte in email.bytes() {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-' | b'_') {
            label.push(char::from(byte));
        } else {
            // Writing to a `String` cannot fail.
            let _ = write!(label, "%{byte:02X}");
        }
    }
    format!("otpauth://totp/Cais:{label}?secret={secret}&issuer=Cais")
}

fn base32(secret: &SigningSecret) -> String {
    let bits = secret.0.iter().flat_map(|byte| (0..8).rev().map(move |place| (byte >> place) & 1));
    let bits: Vec<u8> = bits.collect();
    let letter = |group: &[u8]| {
        let value = (0..5).fold(0, |value, place| (value << 1) | group.get(place).copied().unwrap_or_default());
        BASE32.get(usize::from(value)).copied().map_or('A', char::from)
    };
    bits.chunks(5).map(letter).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secret_is_written_in_base32() {
        let mut secret = [0; 32];
        for (slot, byte) in secret.iter_mut().zip(b"12345678901234567890") {
            *slot = *byte;
        }
        let text = base32(&SigningSecret(secret));
        // The key of the test vectors of RFC 6238 in base32.
        assert!(text.starts_with("GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ"), "{text}");
        assert_eq!(text.len(), 52);
    }

    #[test]
    fn email_is_escaped_in_the_key_uri() {
        let uri = key_uri("a&b?c@é.co", "AA");
        assert_eq!(uri, "otpauth://totp/Cais:a%26b%3Fc%40%C3%A9.co?secret=AA&issuer=Cais");
    }
}
