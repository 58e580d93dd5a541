//! The simulated acquirer of all tests of use cases. A repeat of an executed order is not executed again. A test sets
//! the reply to orders, look-ups and lists.

mod acquirer;
mod acquirers;
mod disputes;
mod money;
mod orders;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use cais_domain::acquirer_name::AcquirerName;
use cais_domain::end_to_end_id::EndToEndId;
use cais_domain::instruction_id::InstructionId;
use cais_domain::txid::Txid;
use cais_ports::{
    Clock as _, DefenseOrder, ListRequest, PayoutOrder, ReceivedPix, RefundOrder, ReturnedPart, UnreadableRow,
    UpstreamCharge, UpstreamInfraction, UpstreamPayout,
};
use jiff::{SignedDuration, Timestamp};

use crate::ManualClock;
pub use acquirers::FakeAcquirers;
use orders::Order;
pub use orders::OrderKind;

/// The reply to an order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OrderReply {
    /// Accepted, with an open outcome.
    Accepts,
    /// Accepted, and done at once.
    Completes,
    /// Accepted, and failed at once.
    Fails,
    /// Certainly not accepted; a later request may be accepted.
    Down,
    /// Refused for a business reason.
    Refuses,
    /// Not accepted, without a reply.
    Silent,
    /// Accepted, and the reply is lost.
    LosesReplies,
    /// Not accepted yet, without a reply; the request arrives after [`LATE`].
    ArrivesLate,
    /// Like [`OrderReply::ArrivesLate`], and repeats are refused while the request is in transit.
    ArrivesLateAndRefuses,
    /// Accepted with a wrong amount: the smallest one. The processor accepts a deposit with its own amount, and refuses a verification.
    WrongAmount,
    /// Accepted, but the reply is a refusal, as if a server on the way repeated the request, and only the repeat was refused.
    AcceptsAndRefuses,
    /// The reply to a defense is that the deadline has passed. Other orders are refused.
    TooLate,
}

/// The delay of a late request: less than the pause before an order is sent again.
pub const LATE: SignedDuration = SignedDuration::from_secs(50);

/// The reply to a look-up of one record by its identifier.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LookupReply {
    /// The record, if there is one.
    Accurate,
    /// No reply.
    Silent,
    /// No connection.
    Down,
    /// No record, even if there is one.
    NotFound,
}

/// The reply to a request of a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ListReply {
    /// Pages of this number of rows.
    Pages(usize),
    /// No reply.
    Silent,
    /// No connection.
    Down,
    /// No rows.
    Empty,
    /// An unreadable row instead of all rows.
    Unreadable,
    /// Empty pages, each of which names the first page as the next one.
    Circular,
    /// Empty pages without end.
    Endless,
    /// All rows on one page, but no reply to a span that began more than 31 days ago.
    RecentOnly,
    /// The infractions as they were when this value was set, on one page.
    Frozen,
}

/// The lists of an acquirer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum List {
    /// Received Pix.
    Received,
    /// Sent Pix.
    Sent,
    /// Returns of sent Pix that the list of sent Pix does not show.
    PayoutReturns,
    /// Infractions.
    Infractions,
}

/// The moment at which a hook runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Moment {
    /// When `FakeAcquirers` returns the acquirer by its name, before the acquirer is called.
    Selected,
    /// After an order, before its reply arrives.
    Ordered,
    /// After a look-up, before its reply arrives.
    Read,
    /// After a list of infractions was made, before its reply arrives.
    Listed,
}

type Hook = Box<dyn FnOnce() + Send>;

/// The connection of one node to acquirers and the processor. In these functions a test can delay or stop the node.
#[async_trait]
pub trait Connection: Send + Sync {
    /// Runs before a look-up or a list.
    async fn before_read(&self);
    /// Runs before an order leaves.
    async fn before_order(&self);
    /// Runs after the acquirer processed an order, before its reply arrives.
    async fn after_order(&self);
}

#[expect(clippy::struct_excessive_bools, reason = "each flag is one behavior of the simulated acquirer")]
struct State {
    order_replies: BTreeMap<OrderKind, OrderReply>,
    lookup_reply: LookupReply,
    list_replies: BTreeMap<List, ListReply>,
    breaker_open: bool,
    reports_infractions: bool,
    shows_defense_texts: bool,
    /// `true` if undecided infractions do not show whether they have a defense, and `lists_returns` returns `false`.
    hides_details: bool,
    shows_defenses: bool,
    shows_received: bool,
    charges: BTreeMap<Txid, UpstreamCharge>,
    /// Received Pix without a charge.
    others: Vec<ReceivedPix>,
    /// Payouts with the instants of their sending.
    sent: BTreeMap<InstructionId, (Timestamp, UpstreamPayout)>,
    infractions: Vec<UpstreamInfraction>,
    /// The rows of [`ListReply::Frozen`].
    frozen_infractions: Vec<UpstreamInfraction>,
    /// Received Pix whose rows cannot be read, with their instants.
    unreadable: Vec<(Timestamp, UnreadableRow)>,
    /// Received Pix that the list does not show.
    unlisted: Vec<EndToEndId>,
    /// Returns of sent Pix that the records of the payouts do not show.
    lone_returns: Vec<ReturnedPart>,
    /// A request of a list gets no reply if its span overlaps the time between these instants.
    silent_span: Option<(Timestamp, Timestamp)>,
    /// The acquirer's own clock, as look-ups of charges show it; `None`: they show no time.
    own_clock: Option<Timestamp>,
    /// Every request of an order, oldest first.
    orders: Vec<Order>,
    /// The number of accepted defenses.
    accepted_defenses: usize,
    /// Delayed requests, with the instants of their arrival.
    late: Vec<(Timestamp, Order)>,
    /// The identifiers of orders that may exist: they were requested, and no later read showed that they are absent.
    maybe_present: BTreeSet<String>,
    /// The identifiers of orders that were requested again before a read showed their absence.
    blind_repeats: Vec<String>,
    /// The number of look-ups of each kind.
    finds: BTreeMap<OrderKind, u32>,
    lists: Vec<(List, ListRequest)>,
    hooks: Vec<(Moment, Hook)>,
}

/// A simulated acquirer. Clones share its state.
#[derive(Clone)]
pub struct FakePsp {
    /// The acquirer's configured name.
    pub name: AcquirerName,
    clock: Arc<ManualClock>,
    state: Arc<Mutex<State>>,
    connection: Option<Arc<dyn Connection>>,
}

impl FakePsp {
    /// Creates an acquirer without records that accepts every order and lists all its records.
    #[must_use]
    pub fn new(name: &AcquirerName, clock: Arc<ManualClock>) -> Self {
        let state = State {
            order_replies: BTreeMap::new(),
            lookup_reply: LookupReply::Accurate,
            list_replies: BTreeMap::new(),
            breaker_open: false,
            reports_infractions: true,
            shows_defense_texts: true,
            hides_details: false,
            shows_defenses: true,
            shows_received: true,
            charges: BTreeMap::new(),
            others: Vec::new(),
            sent: BTreeMap::new(),
            infractions: Vec::new(),
            frozen_infractions: Vec::new(),
            unreadable: Vec::new(),
            unlisted: Vec::new(),
            lone_returns: Vec::new(),
            silent_span: None,
            own_clock: None,
            orders: Vec::new(),
            accepted_defenses: 0,
            late: Vec::new(),
            maybe_present: BTreeSet::new(),
            blind_repeats: Vec::new(),
            finds: BTreeMap::new(),
            lists: Vec::new(),
            hooks: Vec::new(),
        };
        Self { name: name.clone(), clock, state: Arc::new(Mutex::new(state)), connection: None }
    }

    /// Returns the same acquirer, called through this connection.
    #[must_use]
    pub fn behind(&self, connection: Arc<dyn Connection>) -> Self {
        Self { connection: Some(connection), ..self.clone() }
    }

    /// Sets the reply to orders of every kind.
    pub fn set(&self, reply: OrderReply) {
        for kind in OrderKind::ALL {
            self.set_for(kind, reply);
        }
    }

    /// Sets the reply to orders. Reads get the same kind of reply: no connection, no reply, or the true records.
    pub fn set_all(&self, reply: OrderReply) {
        let (lookup_reply, list_reply) = match reply {
            OrderReply::Down => (LookupReply::Down, ListReply::Down),
            OrderReply::Silent
            | OrderReply::LosesReplies
            | OrderReply::ArrivesLate
            | OrderReply::ArrivesLateAndRefuses => (LookupReply::Silent, ListReply::Silent),
            OrderReply::Accepts
            | OrderReply::Completes
            | OrderReply::Fails
            | OrderReply::Refuses
            | OrderReply::WrongAmount
            | OrderReply::AcceptsAndRefuses
            | OrderReply::TooLate => (LookupReply::Accurate, ListReply::Pages(100)),
        };
        self.set(reply);
        self.set_lookup_reply(lookup_reply);
        self.set_list_replies(list_reply);
    }

    /// Sets the reply to orders of one kind.
    pub fn set_for(&self, kind: OrderKind, reply: OrderReply) {
        self.state().order_replies.insert(kind, reply);
    }

    /// Sets the reply to look-ups of one record by its identifier.
    pub fn set_lookup_reply(&self, reply: LookupReply) {
        self.state().lookup_reply = reply;
    }

    /// Sets the reply to requests of the lists of received and sent Pix.
    pub fn set_list_replies(&self, reply: ListReply) {
        self.set_list_reply(List::Received, reply);
        self.set_list_reply(List::Sent, reply);
    }

    /// Sets the reply to requests of one list.
    pub fn set_list_reply(&self, list: List, reply: ListReply) {
        let mut state = self.state();
        state.list_replies.insert(list, reply);
        if list == List::Infractions {
            let now = state.infractions.clone();
            state.frozen_infractions = now;
        }
    }

    /// Opens the breaker, or closes it.
    pub fn set_breaker_open(&self, is_open: bool) {
        self.state().breaker_open = is_open;
    }

    /// Sets the acquirer's own clock, which look-ups of charges show.
    pub fn set_clock(&self, at: Timestamp) {
        self.state().own_clock = Some(at);
    }

    /// Stops replies to requests of lists whose span overlaps `span`. `None` resumes the replies.
    pub fn set_silent_span(&self, span: Option<(Timestamp, Timestamp)>) {
        self.state().silent_span = span;
    }

    /// Runs `hook` once, at the next moment of this kind.
    pub fn when(&self, moment: Moment, hook: impl FnOnce() + Send + 'static) {
        self.state().hooks.push((moment, Box::new(hook)));
    }

    /// Returns every request of a payout, oldest first.
    #[must_use]
    pub fn payout_orders(&self) -> Vec<PayoutOrder> {
        let orders = self.state().orders.clone().into_iter();
        orders.filter_map(|order| if let Order::Payout(order) = order { Some(order) } else { None }).collect()
    }

    /// Returns every request of a refund, oldest first.
    #[must_use]
    pub fn refund_orders(&self) -> Vec<RefundOrder> {
        let orders = self.state().orders.clone().into_iter();
        orders.filter_map(|order| if let Order::Refund(order) = order { Some(order) } else { None }).collect()
    }

    /// Returns every request of a defense, oldest first.
    #[must_use]
    pub fn defense_orders(&self) -> Vec<DefenseOrder> {
        let orders = self.state().orders.clone().into_iter();
        orders.filter_map(|order| if let Order::Defense(order) = order { Some(order) } else { None }).collect()
    }

    /// Returns the number of requested defenses, and the number of accepted defenses.
    #[must_use]
    pub fn defenses(&self) -> (usize, usize) {
        (self.ordered(OrderKind::Defense), self.state().accepted_defenses)
    }

    /// Counts the requests of orders of that kind.
    #[must_use]
    pub fn ordered(&self, kind: OrderKind) -> usize {
        self.state().orders.iter().filter(|order| order.kind() == kind).count()
    }

    /// Returns the names of orders that were requested again before a read showed their absence. Charges are exempt: a
    /// repeated charge moves no money and serves as a look-up.
    #[must_use]
    pub fn blind_repeats(&self) -> Vec<String> {
        self.state().blind_repeats.clone()
    }

    /// Counts the look-ups of that kind.
    #[must_use]
    pub fn finds(&self, kind: OrderKind) -> u32 {
        self.state().finds.get(&kind).copied().unwrap_or_default()
    }

    /// Counts the pages of that list that were read.
    #[must_use]
    pub fn lists(&self, list: List) -> usize {
        self.state().lists.iter().filter(|(one, _)| *one == list).count()
    }

    /// Returns the requests of the list of infractions since the last call. Also removes the requests of the other lists.
    #[must_use]
    pub fn take_infraction_list_requests(&self) -> Vec<ListRequest> {
        let lists = std::mem::take(&mut self.state().lists);
        lists.into_iter().filter(|(list, _)| *list == List::Infractions).map(|(_, request)| request).collect()
    }

    /// Returns the state, after the arrival of all late requests that are due.
    fn state(&self) -> MutexGuard<'_, State> {
        let now = self.clock.now();
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let (arrived, late): (Vec<_>, _) = std::mem::take(&mut state.late).into_iter().partition(|(at, _)| *at <= now);
        state.late = late;
        for (at, order) in arrived {
            // A request that is refused on arrival changes nothing.
            let _ = state.execute(&order, at, cais_ports::UpstreamProgress::Processing);
        }
        state
    }

    fn run_hook(&self, moment: Moment) {
        let mut state = self.state();
        let next = state.hooks.iter().position(|(at, _)| *at == moment);
        let hook = next.map(|next| state.hooks.remove(next));
        drop(state);
        if let Some((_, hook)) = hook {
            hook();
        }
    }
}
