//! Random steps, described by small numbers, and their change sets.

use cais_domain::block::{BlockChange, BlockEnd};
use cais_domain::charge::Charge;
use cais_domain::end_to_end_id::EndToEndId;
use cais_domain::event::EventType;
use cais_domain::ids::InfractionId;
use cais_domain::merchant::webhook::{DisabledReason, Endpoint, EndpointState, Postback, Subscription, WebhookUrl};
use cais_ports::{
    IdempotencyChange, IdempotencyRef, NewEvent, NewIdempotencyRecord, Reservation, ReservationKey, ResponseKind,
    Write, entry_to_come,
};
use cais_testkit::builders::{a_charge, an_account, an_endpoint, an_event, fresh, steps, subscribed};
use jiff::{SignedDuration, Timestamp};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;

use super::model::{Model, target};
use super::*;

/// A change set described by small numbers, which are indexes into [`Names`]. A skew is added to the correct fence, version or amount.
#[derive(Debug, Clone)]
pub(super) struct Step {
    transfers: Vec<(usize, Movement, i64)>,
    /// Account, infraction, and the change.
    blocks: Vec<(usize, usize, BlockStep)>,
    events: Vec<(usize, EventType, Option<usize>)>,
    idempotency: Option<(usize, IdempotencyStep, i64)>,
    reserve: Vec<usize>,
    unreserve: Vec<usize>,
    writes: Vec<(Record, i64)>,
}

#[derive(Debug, Clone, Copy)]
enum Movement {
    In(Bucket),
    Split,
    Out,
    Back,
    Release,
    /// A debit of `pending` that is no release.
    Refund,
}

#[derive(Debug, Clone, Copy)]
enum BlockStep {
    Hold(i64),
    End { skew: i64, returned: bool },
}

#[derive(Debug, Clone, Copy)]
enum IdempotencyStep {
    Take { answered: bool },
    Retake,
    Answer,
    Release { due: bool },
}

#[derive(Debug, Clone, Copy)]
enum Record {
    Charge(usize),
    Endpoint { number: usize, state: usize, epoch: i64, all: bool, url: usize },
}

pub(super) fn step() -> impl Strategy<Value = Step> {
    let movement = prop_oneof![
        6 => Just(Movement::In(Bucket::Available)),
        6 => Just(Movement::In(Bucket::Pending)),
        1 => Just(Movement::Split),
        2 => Just(Movement::Out),
        1 => Just(Movement::Back),
        3 => Just(Movement::Release),
        1 => Just(Movement::Refund),
    ];
    let block = prop_oneof![
        3 => (-2_i64..300).prop_map(BlockStep::Hold),
        2 => (skew(), any::<bool>()).prop_map(|(skew, returned)| BlockStep::End { skew, returned }),
    ];
    let kind = prop_oneof![Just(EventType::ChargePaid), Just(EventType::RefundFailed), Just(EventType::SplitReceived)];
    let idempotency = prop_oneof![
        2 => any::<bool>().prop_map(|answered| IdempotencyStep::Take { answered }),
        2 => Just(IdempotencyStep::Retake),
        1 => Just(IdempotencyStep::Answer),
        2 => any::<bool>().prop_map(|due| IdempotencyStep::Release { due }),
    ];
    let endpoint = (0_usize..4, 0_usize..4, 0_i64..3, any::<bool>(), 0_usize..2)
        .prop_map(|(number, state, epoch, all, url)| Record::Endpoint { number, state, epoch, all, url });
    let record = prop_oneof![(0_usize..3).prop_map(Record::Charge), endpoint];
    let money = (vec((0_usize..2, movement, 0_i64..200), 0..3), vec((0_usize..2, 0_usize..3, block), 0..3));
    let events = vec((0_usize..2, kind, option::weighted(0.2, 0_usize..4)), 0..3);
    let idempotency = option::weighted(0.3, (0_usize..6, idempotency, skew()));
    let values = (short(0_usize..6), short(0_usize..6));
    (money, events, idempotency, values, short((record, skew()))).prop_map(
        |((transfers, blocks), events, idempotency, (reserve, unreserve), writes)| Step {
            transfers,
            blocks,
            events,
            idempotency,
            reserve,
            unreserve,
            writes,
        },
    )
}

fn skew() -> impl Strategy<Value = i64> {
    prop_oneof![10 => Just(0), 1 => Just(-1), 1 => Just(1)]
}

/// Returns a list that is mostly empty.
fn short<T: std::fmt::Debug + Clone>(one: impl Strategy<Value = T>) -> impl Strategy<Value = Vec<T>> {
    option::weighted(0.3, vec(one, 1..3)).prop_map(Option::unwrap_or_default)
}

/// The names that steps pick from.
pub(super) struct Names {
    pub(super) accounts: [AccountId; 2],
    infractions: [[InfractionId; 3]; 2],
    charges: [Charge; 3],
    endpoints: [Endpoint; 4],
    pub(super) keys: [IdempotencyRef; 6],
    pub(super) values: [ReservationKey; 6],
}

impl Names {
    pub(super) fn new() -> Self {
        let accounts = [an_account().id, an_account().id];
        Self {
            accounts,
            infractions: [[fresh(), fresh(), fresh()], [fresh(), fresh(), fresh()]],
            charges: [0, 1, 2].map(|_| a_charge(accounts[0])),
            endpoints: [0, 0, 0, 1].map(|holder| an_endpoint(one(&accounts, holder), 0)),
            keys: [0, 1, 2, 3, 4, 5].map(|key| steps::idempotency_ref(accounts[0], &format!("some-key-{key}"))),
            values: [0, 1, 2, 3, 4, 5].map(|value| ReservationKey::Email(format!("{value}@shop.example"))),
        }
    }

    /// Returns the change set of a step after the history in `model`. No two numbers of steps are equal.
    pub(super) fn change(&self, step: &Step, number: u64, model: &Model) -> ChangeSet {
        let at = later(i64::try_from(number).unwrap());
        let owner = |place| format!("owner-{number}-{place}");
        let reserved = step.reserve.iter().enumerate().map(|(place, value)| Reservation {
            key: one(&self.values, *value),
            account: self.accounts[0],
            owner: owner(place),
        });
        ChangeSet {
            at,
            idempotency: step
                .idempotency
                .map(|(key, idempotency, skew)| idempotency_change(one(&self.keys, key), idempotency, skew, at, model)),
            reserve: reserved.collect(),
            unreserve: step.unreserve.iter().map(|value| one(&self.values, *value)).collect(),
            writes: self.writes(&step.writes, model),
            transfers: step.transfers.iter().map(|transfer| self.transfer(*transfer)).collect(),
            blocks: step.blocks.iter().map(|block| self.block(*block, number, model)).collect(),
            events: step.events.iter().map(|event| self.event(*event)).collect(),
        }
    }

    fn transfer(&self, (account, movement, centavos): (usize, Movement, i64)) -> Transfer {
        let account = one(&self.accounts, account);
        let (from, to, kind) = match movement {
            Movement::In(bucket) => return incoming(account, bucket, centavos),
            Movement::Split => {
                return Transfer { kind: EntryKind::Split, ..incoming(account, Bucket::Available, centavos) };
            }
            Movement::Out => return outgoing(account, centavos),
            Movement::Back => (Bucket::InTransit, Bucket::Available, EntryKind::PayoutFailed),
            Movement::Release => (Bucket::Pending, Bucket::Available, EntryKind::Release),
            Movement::Refund => (Bucket::Pending, Bucket::InTransit, EntryKind::Refund),
        };
        let (from, to) = (merchant(account, from), merchant(account, to));
        Transfer { from, to, kind, ..outgoing(account, centavos) }
    }

    fn block(&self, (holder, infraction, step): (usize, usize, BlockStep), number: u64, model: &Model) -> BlockChange {
        let (account, infraction) = (one(&self.accounts, holder), one(&one(&self.infractions, holder), infraction));
        match step {
            BlockStep::Hold(limit) => {
                let end_to_end_id = EndToEndId::parse(&format!("E12345678202601020304{number:011}")).unwrap();
                BlockChange::Hold { account, infraction, end_to_end_id, limit: Money::from_centavos(limit) }
            }
            BlockStep::End { skew, returned } => {
                let held = model.blocks().get(&(account, infraction)).map_or(0, |block| block.held.centavos());
                let to = if returned { BlockEnd::Returned(settlement()) } else { BlockEnd::Released };
                BlockChange::End { account, infraction, held: Money::from_centavos(held + skew), to }
            }
        }
    }

    fn event(&self, (account, kind, named): (usize, EventType, Option<usize>)) -> NewEvent {
        let postback =
            named.map(|number| Postback { endpoint: one(&self.endpoints, number).id, url: address(number % 2) });
        let data = format!(r#"{{"id":"txn_{}"}}"#, entry_to_come().suffix()).into_bytes();
        NewEvent { data, postback, ..an_event(one(&self.accounts, account), kind, "x") }
    }

    /// Returns the writes. The correct version includes earlier writes of the same change set.
    fn writes(&self, steps: &[(Record, i64)], model: &Model) -> Vec<Write> {
        let mut writes: Vec<Write> = Vec::new();
        for (record, skew) in steps {
            let insert = self.write(*record, 0);
            let key = target(&insert).0;
            let before = writes.iter().filter(|write| target(write).0 == key).count();
            let version = model.version(&key) + i64::try_from(before).unwrap() + skew;
            writes.push(if version > 0 { self.write(*record, version) } else { insert });
        }
        writes
    }

    fn write(&self, record: Record, version: i64) -> Write {
        match record {
            Record::Charge(number) => {
                let charge = Charge { version, ..one(&self.charges, number) };
                if version == 0 { Write::insert(charge) } else { Write::update(charge) }
            }
            Record::Endpoint { number, state, epoch, all, url } => {
                let (reason, at) = (DisabledReason::Gone, start());
                let states = [
                    EndpointState::Active,
                    EndpointState::Inactive,
                    EndpointState::Disabled { reason, at },
                    EndpointState::Deleted { at },
                ];
                let (state, url) = (one(&states, state), address(url));
                let subscription = if all { Subscription::All } else { subscribed(&[EventType::ChargePaid]) };
                // An update must not change the slot and the instant of creation.
                let (slot, created_at) = (u8::try_from(version).unwrap(), later(version));
                let known = one(&self.endpoints, number);
                let endpoint = Endpoint { state, url, subscription, epoch, slot, created_at, version, ..known };
                if version == 0 { Write::insert(endpoint) } else { Write::update(endpoint) }
            }
        }
    }
}

fn idempotency_change(
    name: IdempotencyRef,
    step: IdempotencyStep,
    skew: i64,
    at: Timestamp,
    model: &Model,
) -> IdempotencyChange {
    let record = model.idempotency_record(&name);
    // Without a record only `Take` is correct. With a skew, the step keeps its incorrect change.
    let is_new = record.is_none() && skew == 0;
    let step = if is_new && !matches!(step, IdempotencyStep::Take { .. }) {
        IdempotencyStep::Take { answered: false }
    } else {
        step
    };
    let fence = skew + record.map_or(1, |record| record.fence);
    let lease_until = at + SignedDuration::from_secs(1_000);
    let answer = steps::answer(ResponseKind::Created, b"{}");
    match step {
        IdempotencyStep::Take { answered } => IdempotencyChange::Take(NewIdempotencyRecord {
            answer: answered.then_some(answer),
            ..steps::new_idempotency_record(name, "chg_1", lease_until)
        }),
        IdempotencyStep::Retake => IdempotencyChange::Retake { name, fence, lease_until },
        IdempotencyStep::Answer => IdempotencyChange::Answer { name, fence, answer },
        IdempotencyStep::Release { due } => {
            IdempotencyChange::Release { name, fence, due_at: due.then_some(lease_until) }
        }
    }
}

fn address(number: usize) -> WebhookUrl {
    WebhookUrl::parse(&format!("https://shop.example/hooks/{number}")).unwrap()
}

fn later(seconds: i64) -> Timestamp {
    start() + SignedDuration::from_secs(seconds)
}

fn one<T: Clone>(all: &[T], number: usize) -> T {
    all.get(number).unwrap().clone()
}
