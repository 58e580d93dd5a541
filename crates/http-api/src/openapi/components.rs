//! The schemas and security schemes of the document.

use utoipa::openapi::RefOr;
use utoipa::openapi::schema::{AdditionalProperties, Components, ComponentsBuilder, KnownFormat, Schema, SchemaFormat};
use utoipa::openapi::security::{ApiKey, ApiKeyValue, HttpAuthScheme, HttpBuilder, SecurityScheme};

use super::events::{Event, EventType};
use super::{events, failures, requests};
use crate::balance::Balance;
use crate::error::{ErrorBody, ErrorDetail, IssueBody};
use crate::representation::values::Page;
use crate::representation::{charge, infraction, payment, payout, refund, statement, transaction, webhook};
use crate::sandbox::{Clock, Faults};

/// Names of the two ways to send a key.
pub const BEARER: &str = "bearer";
/// See [`BEARER`].
pub const X_API_KEY: &str = "x-api-key";
/// Bodies of requests, which reject unknown fields.
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

/// Returns all components.
pub fn all() -> Components {
    let mut components = ComponentsBuilder::new()
        .schema_from::<charge::Charge>()
        .schema_from::<Page<charge::Charge>>()
        .schema_from::<charge::ChargeStatus>()
        .schema_from::<charge::ChargePix>()
        .schema_from::<Balance>()
        .schema_from::<payout::Payout>()
        .schema_from::<Page<payout::Payout>>()
        .schema_from::<payout::PayoutStatus>()
        .schema_from::<payout::PayoutPix>()
        .schema_from::<refund::Refund>()
        .schema_from::<Page<refund::Refund>>()
        .schema_from::<refund::RefundStatus>()
        .schema_from::<statement::Entry>()
        .schema_from::<Page<statement::Entry>>()
        .schema_from::<statement::EntryKind>()
        .schema_from::<statement::Bucket>()
        .schema_from::<transaction::TransactionRow>()
        .schema_from::<Page<transaction::TransactionRow>>()
        .schema_from::<transaction::TransactionType>()
        .schema_from::<transaction::TransactionStatus>()
        .schema_from::<transaction::Method>()
        .schema_from::<transaction::Origin>()
        .schema_from::<infraction::Infraction>()
        .schema_from::<infraction::InfractionDetail>()
        .schema_from::<Page<infraction::Infraction>>()
        .schema_from::<infraction::InfractionStatus>()
        .schema_from::<infraction::ReasonCode>()
        .schema_from::<webhook::WebhookEndpoint>()
        .schema_from::<webhook::WebhookEndpointWithSecret>()
        .schema_from::<Page<webhook::WebhookEndpoint>>()
        .schema_from::<webhook::DisabledReason>()
        .schema_from::<webhook::Delivery>()
        .schema_from::<Page<webhook::Delivery>>()
        .schema_from::<webhook::DeliveryList>()
        .schema_from::<webhook::DeliveryAttempt>()
        .schema_from::<webhook::DeliveryStatus>()
        .schema_from::<Event>()
        .schema_from::<Page<Event>>()
        .schema_from::<EventType>()
        .schema_from::<payment::UnexpectedPayment>()
        .schema_from::<payment::UnexpectedReason>()
        .schema_from::<requests::WebhookTestData>()
        .schema_from::<requests::NewCharge>()
        .schema_from::<requests::SplitItem>()
        .schema_from::<requests::NewPayout>()
        .schema_from::<requests::PixKeyType>()
        .schema_from::<requests::NewRefund>()
        .schema_from::<requests::NewDefense>()
        .schema_from::<requests::NewWebhookEndpoint>()
        .schema_from::<requests::WebhookEndpointChange>()
        .schema_from::<requests::SecretRotation>()
        .schema_from::<requests::SandboxPayment>()
        .schema_from::<requests::SandboxDispute>()
        .schema_from::<requests::SandboxResolution>()
        .schema_from::<requests::Resolution>()
        .schema_from::<requests::NewFaults>()
        .schema_from::<requests::FaultMode>()
        .schema_from::<Faults>()
        .schema_from::<Clock>()
        .schema_from::<failures::Code>()
        .schema_from::<ErrorBody>()
        .schema_from::<ErrorDetail>()
        .schema_from::<IssueBody>()
        .schemas_from_iter(events::schemas())
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
    for schema in components.schemas.values_mut() {
        merge(schema);
        without_binary_formats(schema);
    }
    components
}

/// Merges a body that contains the fields of another into one object, which generators handle better than `allOf`.
fn merge(schema: &mut RefOr<Schema>) {
    let RefOr::T(Schema::AllOf(all)) = schema else { return };
    let parts = std::mem::take(&mut all.items).into_iter().filter_map(|part| match part {
        RefOr::T(Schema::Object(object)) => Some(object),
        RefOr::T(_) | RefOr::Ref(_) => None,
    });
    let merged = parts.reduce(|mut whole, part| {
        whole.properties.extend(part.properties);
        whole.required.extend(part.required);
        whole
    });
    if let Some(mut object) = merged {
        object.description = all.description.take();
        *schema = RefOr::T(Schema::Object(object));
    }
}

/// Removes binary formats from amounts: with `double`, generated clients would round in binary.
fn without_binary_formats(schema: &mut RefOr<Schema>) {
    let RefOr::T(Schema::Object(object)) = schema else { return };
    if object.format == Some(SchemaFormat::KnownFormat(KnownFormat::Double)) {
        object.format = None;
    }
    object.properties.values_mut().for_each(without_binary_formats);
}
