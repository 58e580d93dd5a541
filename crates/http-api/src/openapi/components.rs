//! The components of the `OpenAPI` document, such as schemas and security schemes.

use std::collections::BTreeMap;

use utoipa::openapi::RefOr;
use utoipa::openapi::schema::{Components, ComponentsBuilder, Object, Schema, SchemaType, Type};
use utoipa::openapi::security::{ApiKey, ApiKeyValue, HttpAuthScheme, HttpBuilder, SecurityScheme};

use crate::describe::{events, failures};
use crate::error::{ErrorBody, ErrorDetail, IssueBody};

/// The name of the security scheme with `Authorization: Bearer`.
pub const BEARER: &str = "bearer";
/// The name of the security scheme with an API key in a header, and of that header.
pub const X_API_KEY: &str = "x-api-key";

/// Returns all components: `schemas`, which the operations use, and the errors, headers and security schemes that all
/// operations share.
pub fn all(schemas: BTreeMap<String, RefOr<Schema>>) -> Components {
    let mut components = ComponentsBuilder::new()
        .schemas_from_iter(schemas)
        .schema_from::<ErrorBody>()
        .schema_from::<ErrorDetail>()
        .schema_from::<IssueBody>()
        .schema_from::<failures::Code>()
        .schema_from::<events::Event>()
        .security_scheme(
            BEARER,
            SecurityScheme::Http(
                HttpBuilder::new().scheme(HttpAuthScheme::Bearer).bearer_format("key_<prefix>_<secret>").build(),
            ),
        )
        .security_scheme(X_API_KEY, SecurityScheme::ApiKey(ApiKey::Header(ApiKeyValue::new(X_API_KEY))))
        .responses_from_iter(failures::shared())
        .build();
    components.headers = super::headers();
    components.examples = failures::examples();
    components.schemas.values_mut().for_each(simplify);
    components
}

/// Merges a combination of schemas (`allOf` or `oneOf`) into one schema, because generators of client code handle one
/// schema better. Three kinds of combinations occur:
///
/// - a body that includes the fields of another body;
/// - an amount with a description;
/// - an amount that may be null.
fn simplify(schema: &mut RefOr<Schema>) {
    let combined = match schema {
        RefOr::T(Schema::AllOf(all)) => Some((std::mem::take(&mut all.items), all.description.take())),
        RefOr::T(Schema::OneOf(one)) if one.items.iter().all(is_amount_or_null) => {
            Some((std::mem::take(&mut one.items), one.description.take()))
        }
        RefOr::T(_) | RefOr::Ref(_) => None,
    };
    if let Some((parts, description)) = combined {
        let parts = parts.into_iter().filter_map(|part| match part {
            RefOr::T(Schema::Object(object)) => Some(object),
            RefOr::T(_) | RefOr::Ref(_) => None,
        });
        if let Some(mut object) = parts.reduce(merged) {
            object.description = description.or(object.description);
            *schema = RefOr::T(Schema::Object(object));
        }
    }
    if let RefOr::T(Schema::Object(object)) = schema {
        object.properties.values_mut().for_each(simplify);
    }
}

fn is_amount_or_null(part: &RefOr<Schema>) -> bool {
    let types = [Type::Number, Type::Null].map(SchemaType::Type);
    matches!(part, RefOr::T(Schema::Object(object)) if types.contains(&object.schema_type))
}

fn merged(mut whole: Object, part: Object) -> Object {
    if part.schema_type == SchemaType::Type(Type::Null) {
        whole.schema_type = SchemaType::from_iter([Type::Number, Type::Null]);
    }
    whole.properties.extend(part.properties);
    whole.required.extend(part.required);
    whole.description = part.description.or(whole.description);
    whole
}
