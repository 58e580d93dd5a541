//! Rows of webhook endpoints.

use cais_domain::text::Text;
use cais_domain::webhook::{
    DisabledReason, Endpoint, EndpointState, PreviousSecret, SealedSecret, Subscription, WebhookUrl,
};
use diesel::sql_types::{BigInt, Binary, Nullable, Text as SqlText};

use super::{corrupt, id, instant, optional_instant, parse_enum, parse_text};
use crate::error::Fault;
use crate::sql::spec::{Kind, Spec};
use crate::sql::{Value, loaded};

const TABLE: &str = "webhook_endpoints";

/// The columns, in the order of a row, of a table that is called `w`.
macro_rules! endpoint_columns {
    () => {
        "w.account_id, w.id, w.slot, w.url, w.events, w.description, w.state, w.disabled_reason, w.state_at, w.epoch, \
         w.secret, w.previous_secret, w.previous_until, w.created_at, w.version"
    };
}
pub(crate) use endpoint_columns;

/// Their types.
pub(crate) type EndpointColumns = (
    (SqlText, SqlText, BigInt, SqlText, SqlText, Nullable<SqlText>),
    (SqlText, Nullable<SqlText>, Nullable<BigInt>, BigInt),
    (Binary, Nullable<Binary>, Nullable<BigInt>, BigInt, BigInt),
);

/// Account, id, place, address, types of events between commas, description.
type Terms = (String, String, i64, String, String, Option<String>);
/// State, why it was disabled, since when, epoch.
type State = (String, Option<String>, Option<i64>, i64);
/// Secret, the one before, until when that signs; instant of creation, version.
type Secrets = (Vec<u8>, Option<Vec<u8>>, Option<i64>, i64, i64);

/// An endpoint as it is read.
pub(crate) type EndpointRow = (Terms, State, Secrets);

loaded! { EndpointColumns => EndpointRow }

macro_rules! columns {
    ($($first:expr),*) => {
        &[
            $($first,)*
            ("url", Kind::Text),
            ("events", Kind::Text),
            ("description", Kind::Text),
            ("state", Kind::Text),
            ("disabled_reason", Kind::Text),
            ("state_at", Kind::Int),
            ("epoch", Kind::Int),
            ("secret", Kind::Bytes),
            ("previous_secret", Kind::Bytes),
            ("previous_until", Kind::Int),
            ("version", Kind::Int),
        ]
    };
}

/// New endpoints.
pub(crate) static INSERT: Spec = Spec::insert(
    TABLE,
    columns!(("account_id", Kind::Text), ("id", Kind::Text), ("slot", Kind::Int), ("created_at", Kind::Int)),
);

/// Changed endpoints.
pub(crate) static UPDATE: Spec =
    Spec::update(TABLE, columns!(), &[("account_id", Kind::Text), ("id", Kind::Text), ("version", Kind::Int)]);

/// The row of a new endpoint.
pub(crate) fn inserted(endpoint: &Endpoint, version: i64) -> Vec<Value<'_>> {
    let slot = i64::from(endpoint.slot);
    let mut row: Vec<Value<'_>> =
        vec![endpoint.account.into(), endpoint.id.into(), slot.into(), endpoint.created_at.into()];
    row.extend(changing(endpoint, version));
    row
}

/// The row of a changed endpoint, where `read` is the version that was read.
pub(crate) fn updated(endpoint: &Endpoint, version: i64, read: i64) -> Vec<Value<'_>> {
    let mut row = changing(endpoint, version);
    row.extend([endpoint.account.into(), endpoint.id.into(), read.into()]);
    row
}

fn changing(endpoint: &Endpoint, version: i64) -> Vec<Value<'_>> {
    let (reason, at) = match endpoint.state {
        EndpointState::Active | EndpointState::Inactive => (None, None),
        EndpointState::Disabled { reason, at } => (Some(reason.as_str()), Some(at)),
        EndpointState::Deleted { at } => (None, Some(at)),
    };
    let previous = endpoint.previous.as_ref();
    vec![
        endpoint.url.as_str().into(),
        endpoint.subscription.names().join(",").into(),
        endpoint.description.as_ref().map(Text::as_str).into(),
        endpoint.state.as_str().into(),
        reason.into(),
        at.into(),
        endpoint.epoch.into(),
        endpoint.secret.0.as_slice().into(),
        previous.map(|previous| previous.secret.0.as_slice()).into(),
        previous.map(|previous| previous.until).into(),
        version.into(),
    ]
}

/// The endpoint of a row.
pub(crate) fn read(row: EndpointRow) -> Result<Endpoint, Fault> {
    let ((account, endpoint, slot, url, events, description), state, secrets) = row;
    let (state, reason, at, epoch) = state;
    let (secret, previous, until, created_at, version) = secrets;
    let previous = match (previous, optional_instant(TABLE, until)?) {
        (Some(secret), Some(until)) => Some(PreviousSecret { secret: SealedSecret(secret), until }),
        (None, None) => None,
        (Some(_), None) | (None, Some(_)) => return Err(corrupt(TABLE, "half a previous secret")),
    };
    Ok(Endpoint {
        id: id(TABLE, &endpoint)?,
        account: id(TABLE, &account)?,
        slot: u8::try_from(slot).map_err(|error| corrupt(TABLE, error))?,
        url: WebhookUrl::parse(&url).map_err(|error| corrupt(TABLE, error))?,
        subscription: Subscription::parse(events.split(',')).map_err(|error| corrupt(TABLE, error))?,
        description: parse_text(TABLE, description.as_deref())?,
        state: read_state(&state, reason, at)?,
        epoch,
        secret: SealedSecret(secret),
        previous,
        created_at: instant(TABLE, created_at)?,
        version,
    })
}

fn read_state(state: &str, reason: Option<String>, at: Option<i64>) -> Result<EndpointState, Fault> {
    let reason = reason.map(|reason| parse_enum(TABLE, &reason, DisabledReason::parse)).transpose()?;
    let possible = match (reason, optional_instant(TABLE, at)?) {
        (None, None) => vec![EndpointState::Active, EndpointState::Inactive],
        (Some(reason), Some(at)) => vec![EndpointState::Disabled { reason, at }],
        (None, Some(at)) => vec![EndpointState::Deleted { at }],
        (Some(_), None) => Vec::new(),
    };
    let found = possible.into_iter().find(|possible| possible.as_str() == state);
    found.ok_or_else(|| corrupt(TABLE, format_args!("facts that do not belong to the state `{state}`")))
}
