//! Submits the defense of an infraction. A form that is sent twice submits one defense.

use actix_web::{HttpResponse, web};
use cais_domain::infraction::{parse_defense_text, parse_evidence_url};
use cais_use_cases::infractions::defend::{DefendError, defend};

use super::show::{Attempt, page, parse};
use crate::detached;
use crate::failure::Failure;
use crate::form::Form;
use crate::layout::redirect;
use crate::texts::infractions::InfractionTexts;

/// Submits the defense, and shows the infraction.
pub(crate) async fn submit(form: Form, id: web::Path<String>) -> Result<HttpResponse, Failure> {
    let context = &form.context;
    let (_, account) = context.merchant()?;
    let (id, t) = (parse(&id)?, InfractionTexts::of(context.language));
    // Browsers send each line break as two characters.
    let (text, url) = (form.get("text").replace("\r\n", "\n"), form.get("url"));
    let refused = async |error: String| page(context, id, Some(Attempt { error, text: &text, url })).await;
    let Ok(defense) = parse_defense_text(&text) else { return refused(t.text_wrong.to_owned()).await };
    let evidence = match url {
        "" => None,
        url => match parse_evidence_url(url) {
            Ok(url) => Some(url),
            Err(_) => return refused(t.url_wrong.to_owned()).await,
        },
    };
    let ports = context.dashboard.logins.ports.clone();
    let account = ports.queries.find_account(account).await?.ok_or(Failure::NotFound)?;
    let work = async move { defend(&ports, &account, id, defense, evidence).await };
    let error = match detached::run(work).await? {
        // If the outcome is unknown, the page shows that the acquirer has not confirmed the defense yet.
        Ok(_) | Err(DefendError::Unknown { .. }) => return Ok(redirect(&format!("/infractions/{id}"))),
        Err(DefendError::NotFound) => return Err(Failure::NotFound),
        Err(DefendError::Store(error)) => return Err(error.into()),
        Err(DefendError::NotPermitted(_)) => t.suspended.to_owned(),
        Err(DefendError::InvalidState(_)) => t.ended.to_owned(),
        Err(DefendError::Defended(_)) => t.defended_already.to_owned(),
        Err(DefendError::TooLate) => t.too_late.to_owned(),
        Err(DefendError::Refused(reason)) => format!("{} {reason}", t.refused),
        Err(DefendError::AcquirerUnavailable) => t.no_acquirer.to_owned(),
    };
    refused(error).await
}
