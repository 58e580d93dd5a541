//! The tester's controls that only Woovi's API has. The institution's controls (pay a charge, expire a charge, open a dispute, move the
//! clock) apply to both APIs.

use actix_web::{HttpResponse, http::StatusCode, web};
use serde_json::{Map, Value};

use super::{error::WooviError, settings::Settings};
use crate::{
    control::{
        Control, ControlError,
        http::{control, read},
    },
    pix::{
        Shared, json as answer,
        problem::{Kind, Problem},
    },
};

impl Control {
    /// Replaces the switches for Woovi's webhooks.
    pub fn set_woovi_settings(&self, settings: Settings) {
        self.psp.woovi.set_settings(settings);
    }

    /// Removes a payment before its approval, as a person can do on the institution's website.
    ///
    /// # Errors
    /// [`ControlError::NotFound`] for an unknown or removed payment; [`ControlError::InvalidState`] for an approved payment, and for every
    /// other failure.
    pub fn remove_woovi_payment(&self, correlation_id: &str) -> Result<(), ControlError> {
        self.psp.remove_payment(correlation_id).map_err(|error| refused(&error))
    }
}

fn refused(error: &WooviError) -> ControlError {
    if error.to_string().ends_with("not found") {
        return ControlError::NotFound("the payment");
    }
    ControlError::InvalidState("the payment is approved")
}

/// `POST /sandbox/woovi/payment/{correlationID}/remove`: 204.
///
/// # Errors
/// 404 for an unknown or removed payment, 409 for an approved one.
pub async fn remove_payment(id: web::Path<String>, psp: Shared) -> Result<HttpResponse, Problem> {
    control(&psp).remove_woovi_payment(&id)?;
    Ok(HttpResponse::NoContent().finish())
}

/// `PUT /sandbox/woovi/settings`: 200 with all switches. Absent fields keep their values.
///
/// # Errors
/// 400 for unknown fields and invalid values.
pub async fn settings(payload: web::Payload, psp: Shared) -> Result<HttpResponse, Problem> {
    let body: Map<String, Value> = read(payload).await?;
    let refuse = |error: serde_json::Error| Problem::violation(Kind::InvalidRequest, "body", &error.to_string(), "");
    let mut all = serde_json::to_value(psp.woovi.settings()).map_err(refuse)?;
    if let Some(fields) = all.as_object_mut() {
        fields.extend(body);
    }
    control(&psp).set_woovi_settings(serde_json::from_value(all).map_err(refuse)?);
    answer(StatusCode::OK, &psp.woovi.settings())
}
