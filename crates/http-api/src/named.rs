//! The name of a resource in a path: the service's id, or the caller's own identifier.

use cais_domain::external_id::ExternalId;
use cais_domain::ids::{Id, IdKind, kind};
use cais_strict_json::Issues;
use cais_use_cases::upstream_order::{FetchError, ResourceName};
use utoipa::IntoParams;
use utoipa::openapi::path::{Parameter, ParameterIn};

use super::describe::parameters;
use super::error::{ApiError, ErrorCode};
use super::input::{Part, Parts};
use super::percent;

/// The path parameter that holds a resource's name.
const ID: &str = "id";
/// The prefix of the caller's own identifier in a path.
const EXTERNAL: &str = "ext:";

/// Reads a percent-encoded segment of a path: an id, or `ext:` followed by the caller's own identifier.
///
/// # Errors
/// The rule that the segment breaks. The text has no subject, because the message begins with the parameter's name.
pub fn read<K: IdKind>(segment: &str) -> Result<ResourceName<Id<K>>, String> {
    let segment = percent::decode(segment).ok_or("is not validly percent-encoded UTF-8")?;
    match segment.strip_prefix(EXTERNAL) {
        Some(external) => ExternalId::parse(external).map(ResourceName::External).map_err(|error| error.to_string()),
        None => Id::parse(&segment).map(ResourceName::Id).map_err(|error| error.to_string()),
    }
}

/// A kind of id that a path can contain.
pub trait InPath: IdKind {
    /// The description of the path parameter in the `OpenAPI` document.
    const DESCRIPTION: &'static str;
}

macro_rules! in_path {
    ($($kind:ident $text:literal)+) => {$(
        impl InPath for kind::$kind {
            const DESCRIPTION: &'static str = $text;
        }
    )+};
}

in_path! {
    Charge "A charge's id (`chg_…`), or `ext:` followed by the caller's external_id, percent-encoded."
    Refund "A refund's id (`rfd_…`), or `ext:` followed by the caller's external_id, percent-encoded."
    Payout "A payout's id (`pyt_…`), or `ext:` followed by the caller's external_id, percent-encoded."
    Infraction "An infraction's id (`inf_…`)."
    CryptoDeposit "A crypto deposit's id (`cdp_…`), or `ext:` followed by the caller's external_id, percent-encoded."
    CryptoWithdrawal "A crypto withdrawal's id (`cwd_…`), or `ext:` followed by the caller's external_id, percent-encoded."
    CryptoQuote "A crypto quote's id (`cqt_…`)."
    Endpoint "An endpoint's id (`whe_…`)."
    Event "An event's id (`evt_…`)."
    Delivery "A delivery's id (`dlv_…`)."
}

/// The name of a resource in the path: its id, or `ext:` followed by the caller's own identifier.
#[derive(Debug)]
pub struct Named<K: IdKind>(pub ResourceName<Id<K>>);

impl<K: IdKind> Part for Named<K> {
    fn read(parts: &Parts<'_>, issues: &Issues) -> Option<Self> {
        read::<K>(&parts.segment(ID)).map(Self).map_err(|problem| issues.add(ID, problem)).ok()
    }
}

impl<K: InPath> IntoParams for Named<K> {
    fn into_params(_: impl Fn() -> Option<ParameterIn>) -> Vec<Parameter> {
        parameters::in_path(ID, K::DESCRIPTION)
    }
}

/// The id of a resource in the path, for operations that accept no external id.
#[derive(Debug)]
pub struct ById<K: IdKind>(pub Id<K>);

impl<K: IdKind> Part for ById<K> {
    fn read(parts: &Parts<'_>, issues: &Issues) -> Option<Self> {
        id(&parts.segment(ID), ID, issues).map(Self)
    }
}

impl<K: InPath> IntoParams for ById<K> {
    fn into_params(_: impl Fn() -> Option<ParameterIn>) -> Vec<Parameter> {
        parameters::in_path(ID, K::DESCRIPTION)
    }
}

/// Returns the API's error for a resource that could not be read. `missing` is the message of `not_found`.
pub fn fetch_error(error: FetchError, missing: &'static str) -> ApiError {
    match error {
        FetchError::NotFound => ApiError::new(ErrorCode::NotFound).with_message(missing),
        FetchError::InProgress { retry_after_s } => {
            ApiError::new(ErrorCode::ExternalIdInProgress).retry_after(retry_after_s)
        }
        FetchError::Unavailable { retry_after_s } => {
            ApiError::new(ErrorCode::ServiceUnavailable).retry_after(retry_after_s)
        }
        FetchError::Internal(cause) => ApiError::internal(cause),
    }
}

/// Parses a segment of the path as an id. If the segment is anything else, such as an external id, adds the problem
/// to `issues` under `name` and returns `None`.
#[must_use]
pub fn id<K: IdKind>(segment: &str, name: &str, issues: &Issues) -> Option<Id<K>> {
    let decoded = percent::decode(segment).ok_or("is not validly percent-encoded UTF-8".to_owned());
    let id = decoded.and_then(|text| Id::parse(&text).map_err(|error| error.to_string()));
    id.map_err(|problem| issues.add(name, problem)).ok()
}

#[cfg(test)]
mod tests {
    use cais_domain::ids::kind::{Charge, Endpoint, Payout};

    use super::*;

    #[test]
    fn names_are_ids_or_external_ids() {
        let external = |text: &str| {
            read::<Charge>(text).ok().and_then(|name| match name {
                ResourceName::External(id) => Some(id.as_str().to_owned()),
                ResourceName::Id(_) => None,
            })
        };
        assert_eq!(external("ext:order%2F1%20%C3%A9").as_deref(), Some("order/1 é"));
        assert_eq!(external("ext%3Aorder").as_deref(), Some("order"));
        assert!(matches!(read::<Charge>("chg_01h455vb4pex5vsknk084sn02q"), Ok(ResourceName::Id(_))));
        assert!(matches!(read::<Payout>("pyt_01h455vb4pex5vsknk084sn02q"), Ok(ResourceName::Id(_))));
        for bad in [
            "ext:",
            "ext:%00",
            "ext:%zz",
            "chg_1",
            "pyt_01h455vb4pex5vsknk084sn02q",
            "CHG_01h455vb4pex5vsknk084sn02q",
            "nope",
        ] {
            assert!(read::<Charge>(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn external_ids_are_rejected_where_only_ids_are_valid() {
        for (segment, problems) in [
            ("whe_01h455vb4pex5vsknk084sn02q", 0),
            ("whe%5F01h455vb4pex5vsknk084sn02q", 0),
            ("ext:a", 1),
            ("dlv_01h455vb4pex5vsknk084sn02q", 1),
            ("%zz", 1),
        ] {
            let issues = Issues::default();
            let read = id::<Endpoint>(segment, "id", &issues);
            assert_eq!((read.is_none(), issues.into_vec().len()), (problems == 1, problems), "{segment}");
        }
    }
}
