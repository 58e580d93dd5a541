//! Rows of webhook endpoints.

use cais_domain::merchant::webhook::{
    DisabledReason, Endpoint, EndpointState, PreviousSecret, SealedSecret, Subscription, WebhookUrl,
};

use super::{Record, corrupt, id, instant, optional_instant, parse_enum, parse_text, parsed, us};
use crate::error::Fault;
use crate::sql::table::table;

const TABLE: &str = "webhook_endpoints";

table! {
    /// The row of an endpoint. `events` lists types of events, separated by commas. `state_at` is the instant at which the endpoint was
    /// disabled or deleted; null otherwise.
    EndpointRow of webhook_endpoints
    key { account_id: Text, id: Text }
    fixed { slot: BigInt, created_at: BigInt }
    changing {
        version: BigInt, url: Text, events: Text, description: Nullable<Text>, state: Text,
        disabled_reason: Nullable<Text>, state_at: Nullable<BigInt>, epoch: BigInt, secret: Binary,
        previous_secret: Nullable<Binary>, previous_until: Nullable<BigInt>,
    }
}

impl Record for Endpoint {
    type Row<'a> = EndpointRow<'a>;

    fn row(&self, version: i64) -> EndpointRow<'_> {
        let (reason, at) = match self.state {
            EndpointState::Active | EndpointState::Inactive => (None, None),
            EndpointState::Disabled { reason, at } => (Some(reason.as_str()), Some(at)),
            EndpointState::Deleted { at } => (None, Some(at)),
        };
        let previous = self.previous.as_ref();
        EndpointRow {
            account_id: self.account.to_string().into(),
            id: self.id.to_string().into(),
            slot: self.slot.into(),
            created_at: self.created_at.as_microsecond(),
            version,
            url: self.url.as_str().into(),
            events: self.subscription.names().join(",").into(),
            description: self.description.as_ref().map(|text| text.as_str().into()),
            state: self.state.as_str().into(),
            disabled_reason: reason.map(Into::into),
            state_at: us(at),
            epoch: self.epoch,
            secret: self.secret.0.as_slice().into(),
            previous_secret: previous.map(|previous| previous.secret.0.as_slice().into()),
            previous_until: us(previous.map(|previous| previous.until)),
        }
    }

    fn read(row: EndpointRow<'_>) -> Result<Self, Fault> {
        let previous = match (row.previous_secret, optional_instant(TABLE, row.previous_until)?) {
            (Some(secret), Some(until)) => Some(PreviousSecret { secret: SealedSecret(secret.into_owned()), until }),
            (None, None) => None,
            (Some(_), None) | (None, Some(_)) => {
                return Err(corrupt(TABLE, "the previous secret or the instant of its end is missing"));
            }
        };
        Ok(Self {
            id: id(TABLE, &row.id)?,
            account: id(TABLE, &row.account_id)?,
            slot: parsed(TABLE, u8::try_from(row.slot))?,
            url: parsed(TABLE, WebhookUrl::parse(&row.url))?,
            subscription: parsed(TABLE, Subscription::parse(row.events.split(',')))?,
            description: parse_text(TABLE, row.description.as_deref())?,
            state: read_state(&row.state, row.disabled_reason.as_deref(), row.state_at)?,
            epoch: row.epoch,
            secret: SealedSecret(row.secret.into_owned()),
            previous,
            created_at: instant(TABLE, row.created_at)?,
            version: row.version,
        })
    }
}

fn read_state(state: &str, reason: Option<&str>, at: Option<i64>) -> Result<EndpointState, Fault> {
    let reason = reason.map(|reason| parse_enum(TABLE, reason, DisabledReason::parse)).transpose()?;
    let possible = match (reason, optional_instant(TABLE, at)?) {
        (None, None) => vec![EndpointState::Active, EndpointState::Inactive],
        (Some(reason), Some(at)) => vec![EndpointState::Disabled { reason, at }],
        (None, Some(at)) => vec![EndpointState::Deleted { at }],
        (Some(_), None) => Vec::new(),
    };
    let found = possible.into_iter().find(|possible| possible.as_str() == state);
    found.ok_or_else(|| corrupt(TABLE, format_args!("fields that contradict the state `{state}`")))
}
