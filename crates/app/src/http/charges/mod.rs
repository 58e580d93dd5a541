//! `/v1/charges`.

pub mod cancel;
pub mod create;
pub mod get;
pub mod list;
pub mod terms;

use cais_domain::external_id::ExternalId;
use cais_domain::ids::ChargeId;
use cais_use_cases::charges::ChargeName;
use cais_use_cases::charges::fetch::FetchChargeError;

use super::call::Call;
use super::error::{ApiError, ErrorCode};
use super::issue::Issues;
use super::{percent, query};

/// What a path begins with that names a charge by the caller's own identifier.
const EXTERNAL: &str = "ext:";

/// The charge that a call's path names, for calls without parameters. Problems go to `issues`.
#[must_use]
pub fn named(call: &Call<'_>, issues: &Issues) -> Option<ChargeName> {
    query::none(call.query(), issues);
    name(call.params.first()).map_err(|complaint| issues.add("id", complaint)).ok()
}

/// `chg_…`, or `ext:` and the caller's own identifier, percent-encoded.
fn name(segment: &str) -> Result<ChargeName, String> {
    let segment = percent::decode(segment).ok_or("is not validly percent-encoded UTF-8")?;
    match segment.strip_prefix(EXTERNAL) {
        Some(external) => ExternalId::parse(external).map(ChargeName::External).map_err(|error| error.to_string()),
        None => ChargeId::parse(&segment).map(ChargeName::Id).map_err(|error| error.to_string()),
    }
}

impl From<FetchChargeError> for ApiError {
    fn from(error: FetchChargeError) -> Self {
        match error {
            FetchChargeError::NotFound => Self::new(ErrorCode::NotFound).saying("There is no such charge."),
            FetchChargeError::InProgress { retry_after_s } => {
                Self::new(ErrorCode::ExternalIdInProgress).retry_after(retry_after_s)
            }
            FetchChargeError::Unavailable { retry_after_s } => {
                Self::new(ErrorCode::ServiceUnavailable).retry_after(retry_after_s)
            }
            FetchChargeError::Internal(cause) => Self::internal(cause),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_ids_or_the_callers_own() {
        let external = |text: &str| {
            name(text).ok().and_then(|name| match name {
                ChargeName::External(id) => Some(id.as_str().to_owned()),
                ChargeName::Id(_) => None,
            })
        };
        assert_eq!(external("ext:order%2F1%20%C3%A9").as_deref(), Some("order/1 é"));
        assert_eq!(external("ext%3Aorder").as_deref(), Some("order"));
        assert!(matches!(name("chg_01h455vb4pex5vsknk084sn02q"), Ok(ChargeName::Id(_))));
        for bad in [
            "ext:",
            "ext:%00",
            "ext:%zz",
            "chg_1",
            "pyt_01h455vb4pex5vsknk084sn02q",
            "CHG_01h455vb4pex5vsknk084sn02q",
            "nope",
        ] {
            assert!(name(bad).is_err(), "{bad}");
        }
    }
}
