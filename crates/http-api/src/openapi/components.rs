//! The shapes of bodies and the ways to send a key, as the document names them.

use utoipa::openapi::RefOr;
use utoipa::openapi::schema::{AdditionalProperties, Components, ComponentsBuilder, KnownFormat, Schema, SchemaFormat};
use utoipa::openapi::security::{ApiKey, ApiKeyValue, HttpAuthScheme, HttpBuilder, SecurityScheme};

use super::events::{Event, EventType};
use super::{events, failures, schemas};

/// Names of the two ways to send a key.
pub const BEARER: &str = "bearer";
/// See [`BEARER`].
pub const X_API_KEY: &str = "x-api-key";
/// Bodies of requests: what they do not name is refused.
const STRICT: [&str; 13] = [
    "NewCharge",
    "SplitItem",
    "NewPayout",
    "NewRefund",
    "NewDefense",
    "NewWebhookEndpoint",
    "WebhookEndpointChange",
    "SecretRotation",
    "SandboxPayment",
    "SandboxDispute",
    "SandboxResolution",
    "NewFaults",
    "Clock",
];

/// All of them.
pub fn all() -> Components {
    let mut components = ComponentsBuilder::new()
        .schema_from::<schemas::Charge>()
        .schema_from::<schemas::ChargePage>()
        .schema_from::<schemas::NewCharge>()
        .schema_from::<schemas::Balance>()
        .schema_from::<schemas::Payout>()
        .schema_from::<schemas::PayoutPage>()
        .schema_from::<schemas::NewPayout>()
        .schema_from::<schemas::PayoutStatus>()
        .schema_from::<schemas::PayoutPix>()
        .schema_from::<schemas::PixKeyType>()
        .schema_from::<schemas::Refund>()
        .schema_from::<schemas::RefundPage>()
        .schema_from::<schemas::NewRefund>()
        .schema_from::<schemas::RefundStatus>()
        .schema_from::<schemas::Entry>()
        .schema_from::<schemas::EntryPage>()
        .schema_from::<schemas::EntryKind>()
        .schema_from::<schemas::Bucket>()
        .schema_from::<schemas::Transaction>()
        .schema_from::<schemas::TransactionPage>()
        .schema_from::<schemas::TransactionType>()
        .schema_from::<schemas::TransactionStatus>()
        .schema_from::<schemas::Method>()
        .schema_from::<schemas::Origin>()
        .schema_from::<schemas::Infraction>()
        .schema_from::<schemas::InfractionDetail>()
        .schema_from::<schemas::InfractionPage>()
        .schema_from::<schemas::InfractionStatus>()
        .schema_from::<schemas::ReasonCode>()
        .schema_from::<schemas::NewDefense>()
        .schema_from::<schemas::WebhookEndpoint>()
        .schema_from::<schemas::WebhookEndpointWithSecret>()
        .schema_from::<schemas::WebhookEndpointPage>()
        .schema_from::<schemas::NewWebhookEndpoint>()
        .schema_from::<schemas::WebhookEndpointChange>()
        .schema_from::<schemas::SecretRotation>()
        .schema_from::<schemas::DisabledReason>()
        .schema_from::<schemas::Delivery>()
        .schema_from::<schemas::DeliveryPage>()
        .schema_from::<schemas::DeliveryList>()
        .schema_from::<schemas::DeliveryAttempt>()
        .schema_from::<schemas::DeliveryStatus>()
        .schema_from::<Event>()
        .schema_from::<schemas::UnexpectedPayment>()
        .schema_from::<schemas::UnexpectedReason>()
        .schema_from::<schemas::WebhookTestData>()
        .schema_from::<schemas::EventPage>()
        .schema_from::<EventType>()
        .schemas_from_iter(events::schemas())
        .schema_from::<failures::Code>()
        .schema_from::<schemas::Error>()
        .schema_from::<schemas::ChargeStatus>()
        .schema_from::<schemas::ChargePix>()
        .schema_from::<schemas::SplitItem>()
        .schema_from::<schemas::Issue>()
        .schema_from::<schemas::ErrorDetail>()
        .schema_from::<schemas::FaultMode>()
        .schema_from::<schemas::SandboxPayment>()
        .schema_from::<schemas::SandboxDispute>()
        .schema_from::<schemas::SandboxResolution>()
        .schema_from::<schemas::Resolution>()
        .schema_from::<schemas::NewFaults>()
        .schema_from::<schemas::Faults>()
        .schema_from::<schemas::Clock>()
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
    for name in STRICT {
        if let Some(RefOr::T(Schema::Object(object))) = components.schemas.get_mut(name) {
            object.additional_properties = Some(Box::new(AdditionalProperties::FreeForm(false)));
        }
    }
    components.schemas.values_mut().for_each(without_binary_formats);
    components
}

/// Amounts are decimal numbers: `double` would tell generated clients to round them in binary.
fn without_binary_formats(schema: &mut RefOr<Schema>) {
    let RefOr::T(Schema::Object(object)) = schema else { return };
    if object.format == Some(SchemaFormat::KnownFormat(KnownFormat::Double)) {
        object.format = None;
    }
    object.properties.values_mut().for_each(without_binary_formats);
}
