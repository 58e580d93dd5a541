//! The name of a resource in a path: the service's id, or the caller's own identifier.

use cais_domain::external_id::ExternalId;
use cais_domain::ids::{Id, IdKind};
use cais_strict_json::Issues;
use cais_use_cases::upstream_order::{FetchError, ResourceName};

use super::call::Call;
use super::error::{ApiError, ErrorCode};
use super::percent;
use super::query;

/// The prefix of the caller's own identifier in a path.
const EXTERNAL: &str = "ext:";

/// Reads an id, or `ext:` and the caller's own identifier, percent-encoded.
///
/// # Errors
/// The rule that the segment breaks, to follow `id`.
pub fn read<K: IdKind>(segment: &str) -> Result<ResourceName<Id<K>>, String> {
    let segment = percent::decode(segment).ok_or("is not validly percent-encoded UTF-8")?;
    match segment.strip_prefix(EXTERNAL) {
        Some(external) => ExternalId::parse(external).map(ResourceName::External).map_err(|error| error.to_string()),
        None => Id::parse(&segment).map(ResourceName::Id).map_err(|error| error.to_string()),
    }
}

/// Returns the name of a resource in the first parameter of the path. Problems are added to `issues`.
#[must_use]
pub fn in_path<K: IdKind>(call: &Call<'_>, issues: &Issues) -> Option<ResourceName<Id<K>>> {
    read::<K>(call.params.first()).map_err(|complaint| issues.add("id", complaint)).ok()
}

/// Returns the name in a path of a request without parameters. Problems are added to `issues`.
#[must_use]
pub fn alone<K: IdKind>(call: &Call<'_>, issues: &Issues) -> Option<ResourceName<Id<K>>> {
    query::none(call.query(), issues);
    in_path(call, issues)
}

/// Returns the error of a failed read of a resource; `missing` is the message for an unknown name.
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

/// Returns an id, for resources without another name. Problems are added to `issues` under `name`.
#[must_use]
pub fn id<K: IdKind>(segment: &str, name: &str, issues: &Issues) -> Option<Id<K>> {
    let decoded = percent::decode(segment).ok_or("is not validly percent-encoded UTF-8".to_owned());
    let id = decoded.and_then(|text| Id::parse(&text).map_err(|error| error.to_string()));
    id.map_err(|complaint| issues.add(name, complaint)).ok()
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
