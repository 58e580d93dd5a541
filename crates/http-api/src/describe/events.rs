//! Events in the `OpenAPI` document: one schema per kind of `data`, and one entry of `webhooks` per type.

use std::borrow::Cow;
use std::collections::BTreeMap;

use cais_domain::event::EventType as Kind;
use utoipa::openapi::content::ContentBuilder;
use utoipa::openapi::path::{
    HttpMethod, OperationBuilder, ParameterBuilder, ParameterIn, PathItem, Paths, PathsBuilder,
};
use utoipa::openapi::request_body::RequestBodyBuilder;
use utoipa::openapi::response::ResponseBuilder;
use utoipa::openapi::schema::{ObjectBuilder, OneOfBuilder, Schema, Type};
use utoipa::openapi::{Ref, RefOr, Required};
use utoipa::{PartialSchema, ToSchema};

use super::JSON;
use crate::resources::charge::Charge;
use crate::resources::crypto::{CryptoDeposit, CryptoWithdrawal};
use crate::resources::event::{Event as Body, WebhookTestData};
use crate::resources::infraction::InfractionDetail;
use crate::resources::payment::UnexpectedPayment;
use crate::resources::payout::Payout;
use crate::resources::refund::Refund;
use crate::resources::transaction::TransactionRow;
use crate::resources::values::Page;
use crate::resources::webhook::WebhookEndpoint;

/// The types of events, a closed list.
pub struct EventType;

/// An event with the data of its type.
pub struct Event;

/// A page of events.
pub type Events = Page<Event>;

/// The names of an event's own schema and of the schema of its `data`.
struct Shape {
    event: &'static str,
    data: &'static str,
}

/// Returns the shape of events of that type.
const fn shape(kind: Kind) -> Shape {
    let (event, data) = match kind {
        Kind::ChargePaid | Kind::ChargeExpired | Kind::ChargeCancelled | Kind::ChargeRefunded => {
            ("ChargeEvent", "Charge")
        }
        Kind::PaymentUnexpected => ("PaymentEvent", "UnexpectedPayment"),
        Kind::SplitReceived => ("SplitEvent", "Transaction"),
        Kind::RefundCompleted | Kind::RefundFailed => ("RefundEvent", "Refund"),
        Kind::PayoutCompleted | Kind::PayoutFailed | Kind::PayoutReversed => ("PayoutEvent", "Payout"),
        Kind::InfractionOpened
        | Kind::InfractionUnderReview
        | Kind::InfractionWon
        | Kind::InfractionLost
        | Kind::InfractionCancelled => ("InfractionEvent", "InfractionDetail"),
        Kind::CryptoDepositConfirmed
        | Kind::CryptoDepositCompleted
        | Kind::CryptoDepositExpired
        | Kind::CryptoDepositFailed => ("CryptoDepositEvent", "CryptoDeposit"),
        Kind::CryptoWithdrawalCompleted | Kind::CryptoWithdrawalFailed => ("CryptoWithdrawalEvent", "CryptoWithdrawal"),
        Kind::WebhookEndpointDisabled => ("WebhookEndpointEvent", "WebhookEndpoint"),
        Kind::WebhookTest => ("TestEvent", "WebhookTestData"),
    };
    Shape { event, data }
}

/// Returns the meaning of events of that type.
const fn meaning(kind: Kind) -> &'static str {
    match kind {
        Kind::ChargePaid => "The first sufficient payment of a charge arrived.",
        Kind::ChargeExpired => "The payment period of a charge ended without a payment.",
        Kind::ChargeCancelled => "The merchant cancelled a charge.",
        Kind::ChargeRefunded => "The whole amount of a charge was refunded.",
        Kind::PaymentUnexpected => {
            "Money was credited that the charge did not request: an excess, a further or late payment, or a payment below the amount."
        }
        Kind::SplitReceived => "A share in another account's charge was credited.",
        Kind::RefundCompleted => "A refund reached its payer.",
        Kind::RefundFailed => "A refund failed for good.",
        Kind::PayoutCompleted => "A payout reached its recipient.",
        Kind::PayoutFailed => "A payout failed for good; its amount and fee are available again.",
        Kind::PayoutReversed => "The whole amount of a completed payout came back.",
        Kind::InfractionOpened => "A payer disputes a Pix; money is blocked.",
        Kind::InfractionUnderReview => "The acquirer has the defense of an infraction.",
        Kind::InfractionWon => "An infraction was decided for the merchant; the money is free again.",
        Kind::InfractionLost => "An infraction was decided for the payer; the money was returned.",
        Kind::InfractionCancelled => "The payer's institution withdrew an infraction; the money is free again.",
        Kind::CryptoDepositConfirmed => {
            "Coins of a crypto deposit are confirmed on the chain. Published once for each deposit, before the credit."
        }
        Kind::CryptoDepositCompleted => {
            "A payment of a crypto deposit was credited. Published for each credit: also for an `underpaid` deposit, and for each further payment. `status` and `resolution` show the result."
        }
        Kind::CryptoDepositExpired => {
            "The payment period of a crypto deposit ended without coins. Coins that arrive later are credited or wait for an operator."
        }
        Kind::CryptoDepositFailed => {
            "The processor reports an error of a crypto deposit (`failed`), or returned its coins to the payer (`refunded`)."
        }
        Kind::CryptoWithdrawalCompleted => "The coins of a crypto withdrawal were sent.",
        Kind::CryptoWithdrawalFailed => "A crypto withdrawal failed for good; its amount and fee are available again.",
        Kind::WebhookEndpointDisabled => {
            "The service disabled a webhook endpoint: the endpoint is gone or failed for days."
        }
        Kind::WebhookTest => "The merchant tests an endpoint.",
    }
}

impl PartialSchema for EventType {
    fn schema() -> RefOr<Schema> {
        let names = Kind::ALL.map(Kind::as_str);
        let schema = ObjectBuilder::new().schema_type(Type::String).enum_values(Some(names));
        schema.description(Some("The type of an event.")).build().into()
    }
}

impl ToSchema for EventType {
    fn name() -> Cow<'static, str> {
        "EventType".into()
    }
}

impl PartialSchema for Event {
    fn schema() -> RefOr<Schema> {
        let shapes = by_shape().into_keys();
        let union = shapes.fold(OneOfBuilder::new(), |union, name| union.item(Ref::from_schema_name(name)));
        let description = "An event: the same bytes as an endpoint receives. `type` names the schema of `data`.";
        RefOr::T(Schema::OneOf(union.description(Some(description)).build()))
    }
}

impl ToSchema for Event {
    fn name() -> Cow<'static, str> {
        "Event".into()
    }

    fn schemas(schemas: &mut Vec<(String, RefOr<Schema>)>) {
        schemas.extend(by_shape().into_iter().map(|(name, (data, kinds))| (name.to_owned(), event_with(data, &kinds))));
        add::<Charge<'_>>(schemas);
        add::<UnexpectedPayment>(schemas);
        add::<TransactionRow>(schemas);
        add::<Refund<'_>>(schemas);
        add::<Payout<'_>>(schemas);
        add::<InfractionDetail<'_>>(schemas);
        add::<CryptoDeposit>(schemas);
        add::<CryptoWithdrawal>(schemas);
        add::<WebhookEndpoint<'_>>(schemas);
        add::<WebhookTestData>(schemas);
        add::<EventType>(schemas);
    }
}

/// Adds a schema, and the schemas that it refers to.
fn add<T: ToSchema>(schemas: &mut Vec<(String, RefOr<Schema>)>) {
    schemas.push((T::name().into(), T::schema()));
    T::schemas(schemas);
}

/// Groups the types of events by their event schema. The key is the name of this schema; the value is the name of the schema of `data`, and
/// the types of the group.
fn by_shape() -> BTreeMap<&'static str, (&'static str, Vec<Kind>)> {
    let mut shapes: BTreeMap<&str, (&str, Vec<Kind>)> = BTreeMap::new();
    for kind in Kind::ALL {
        let Shape { event, data } = shape(kind);
        shapes.entry(event).or_insert_with(|| (data, Vec::new())).1.push(kind);
    }
    shapes
}

/// Returns the schema of a body with these types of events and this schema of `data`.
fn event_with(data: &str, kinds: &[Kind]) -> RefOr<Schema> {
    let mut schema = Body::schema();
    if let RefOr::T(Schema::Object(event)) = &mut schema {
        event.description = None;
        if let Some(RefOr::T(Schema::Object(kind))) = event.properties.get_mut("type") {
            kind.enum_values = Some(kinds.iter().map(|kind| kind.as_str().into()).collect());
        }
        event.properties.insert("data".to_owned(), Ref::from_schema_name(data).into());
    }
    schema
}

/// Returns the requests that the service sends to endpoints, one for each type of event.
#[must_use]
pub fn webhooks() -> Paths {
    Kind::ALL.into_iter().fold(PathsBuilder::new(), |paths, kind| paths.path(kind.as_str(), delivery(kind))).build()
}

/// Describes the delivery of an event of that type.
fn delivery(kind: Kind) -> PathItem {
    let header = |name: &str, description: &str| {
        ParameterBuilder::new()
            .name(name)
            .parameter_in(ParameterIn::Header)
            .required(Required::True)
            .description(Some(description))
            .schema(Some(ObjectBuilder::new().schema_type(Type::String).build()))
            .build()
    };
    let schema = Ref::from_schema_name(shape(kind).event);
    let body = RequestBodyBuilder::new()
        .content(JSON, ContentBuilder::new().schema(Some(schema)).build())
        .required(Some(Required::True));
    let operation = OperationBuilder::new()
        .operation_id(Some(operation_id(kind)))
        .tag("webhooks")
        .summary(Some(format!("`{}`", kind.as_str())))
        .description(Some(format!("{} Signed as Standard Webhooks `v1` over the raw body.", meaning(kind))))
        .parameters(Some([
            header("webhook-id", "The event's id, the same in every attempt."),
            header("webhook-timestamp", "Unix seconds of the attempt."),
            header("webhook-signature", "`v1,` and the base64 of the HMAC-SHA256; several are separated by blanks."),
        ]))
        .request_body(Some(body.build()))
        .response("2XX", ResponseBuilder::new().description("The receiver has the event. Other answers are failures."))
        .response("410", ResponseBuilder::new().description("The service disables the endpoint."));
    PathItem::new(HttpMethod::Post, operation.build())
}

/// Returns the operation id of a type of event, such as `onChargePaid` for `charge.paid`.
fn operation_id(kind: Kind) -> String {
    kind.as_str().split(['.', '_']).fold("on".to_owned(), |mut id, word| {
        let mut letters = word.chars();
        id.extend(letters.next().map(|first| first.to_ascii_uppercase()));
        id + letters.as_str()
    })
}
