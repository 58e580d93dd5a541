//! The simulated acquirer of all tests of use cases. Each order is carried out once by its name; a test sets how the acquirer
//! answers orders, look-ups and lists.

mod acquirer;
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
    Clock as _, DefenseOrder, ListRequest, PayoutOrder, ReceivedPix, RefundOrder, UnreadableRow, UpstreamCharge,
    UpstreamInfraction, UpstreamPayout,
};
use jiff::{SignedDuration, Timestamp};

use crate::ManualClock;
pub use acquirer::FakeAcquirers;
use orders::Order;
pub use orders::OrderKind;

/// How an order is answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sending {
    /// Accepted, and its outcome is open.
    Takes,
    /// Accepted, and done at once.
    Completes,
    /// Accepted, and failed at once.
    Fails,
    /// Certainly not taken; a later request may be.
    Down,
    /// Refused for a business reason.
    Refuses,
    /// Not taken, without a reply.
    Silent,
    /// Accepted, and the reply is lost.
    LosesReplies,
    /// Not taken yet, without a reply; the request arrives after [`LATE`].
    ArrivesLate,
    /// Something else is taken instead.
    Garbles,
    /// Accepted, and the repeat of the request by a server on the way is refused.
    TakesAndRefuses,
    /// A defense is answered as too late.
    TooLate,
}

/// How long a late request is on its way: less than the pause after which an order is sent once more.
pub const LATE: SignedDuration = SignedDuration::from_secs(50);

/// How a look-up by name is answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Looking {
    /// With the record, if there is one.
    Tells,
    /// Without a reply.
    Silent,
    /// Not at all: no connection.
    Down,
    /// As if there were no record.
    Forgets,
}

/// How a list is answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Listing {
    /// So many rows on a page.
    Pages(usize),
    /// Without a reply.
    Silent,
    /// Not at all: no connection.
    Down,
    /// Without any row.
    Empty,
    /// With a row that cannot be read in place of every row.
    Garbles,
    /// An empty first page that names itself as the next.
    Circles,
    /// Empty pages without end.
    Endless,
    /// Not at all for a span that begins longer ago than a month.
    Lately,
    /// With the infractions of the instant at which this was set.
    AsItWas,
}

/// The lists of an acquirer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum List {
    /// Pix that were received.
    Received,
    /// Pix that were sent.
    Sent,
    /// Infractions.
    Infractions,
}

/// When a hook runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Moment {
    /// Before the acquirer is called.
    Named,
    /// After an order, before its reply arrives.
    Ordered,
    /// After a look-up, before its reply arrives.
    Read,
    /// After a list of infractions was made, before it arrives.
    Listed,
}

type Hook = Box<dyn FnOnce() + Send>;

/// The connection of one node to acquirers: a test delays or stops the node in it.
#[async_trait]
pub trait Connection: Send + Sync {
    /// Runs before a look-up or a list.
    async fn before_read(&self);
    /// Runs before an order leaves.
    async fn before_order(&self);
    /// Runs after the acquirer processed an order, before its reply arrives.
    async fn after_order(&self);
}

#[expect(clippy::struct_excessive_bools, reason = "each is one habit of the simulated acquirer")]
struct State {
    sending: BTreeMap<OrderKind, Sending>,
    looking: Looking,
    listing: BTreeMap<List, Listing>,
    resting: bool,
    reports_infractions: bool,
    shows_words: bool,
    shows_defenses: bool,
    shows_received: bool,
    charges: BTreeMap<Txid, UpstreamCharge>,
    /// Pix without a charge here.
    others: Vec<ReceivedPix>,
    /// With the instants of sending.
    sent: BTreeMap<InstructionId, (Timestamp, UpstreamPayout)>,
    infractions: Vec<UpstreamInfraction>,
    /// The rows of [`Listing::AsItWas`].
    as_it_was: Vec<UpstreamInfraction>,
    /// Received Pix whose rows cannot be read, with their instants.
    unreadable: Vec<(Timestamp, UnreadableRow)>,
    /// Received Pix that the list does not show.
    unlisted: Vec<EndToEndId>,
    /// Lists of a span from this instant on, and before the other, get no reply.
    dark: Option<(Timestamp, Timestamp)>,
    /// The acquirer's own clock, as answers show it.
    own_clock: Option<Timestamp>,
    /// Every request of an order, oldest first.
    orders: Vec<Order>,
    /// Requests on their way, with the instants of their arrival.
    late: Vec<(Timestamp, Order)>,
    /// Orders that were requested and not looked for since.
    unread: BTreeSet<String>,
    /// Orders that were requested once more without a look-up before.
    blind_repeats: Vec<String>,
    /// Look-ups of each kind.
    finds: BTreeMap<OrderKind, u32>,
    lists: Vec<(List, ListRequest)>,
    hooks: Vec<(Moment, Hook)>,
}

/// One simulated acquirer. Cloning shares it.
#[derive(Clone)]
pub struct FakePsp {
    /// Its configured name.
    pub name: AcquirerName,
    clock: Arc<ManualClock>,
    state: Arc<Mutex<State>>,
    connection: Option<Arc<dyn Connection>>,
}

impl FakePsp {
    /// An acquirer without any record that takes every order and shows all it has.
    #[must_use]
    pub fn new(name: &AcquirerName, clock: Arc<ManualClock>) -> Self {
        let state = State {
            sending: BTreeMap::new(),
            looking: Looking::Tells,
            listing: BTreeMap::new(),
            resting: false,
            reports_infractions: true,
            shows_words: true,
            shows_defenses: true,
            shows_received: true,
            charges: BTreeMap::new(),
            others: Vec::new(),
            sent: BTreeMap::new(),
            infractions: Vec::new(),
            as_it_was: Vec::new(),
            unreadable: Vec::new(),
            unlisted: Vec::new(),
            dark: None,
            own_clock: None,
            orders: Vec::new(),
            late: Vec::new(),
            unread: BTreeSet::new(),
            blind_repeats: Vec::new(),
            finds: BTreeMap::new(),
            lists: Vec::new(),
            hooks: Vec::new(),
        };
        Self { name: name.clone(), clock, state: Arc::new(Mutex::new(state)), connection: None }
    }

    /// Returns the same acquirer behind that connection.
    #[must_use]
    pub fn behind(&self, connection: Arc<dyn Connection>) -> Self {
        Self { connection: Some(connection), ..self.clone() }
    }

    /// Sets the answer to orders of every kind.
    pub fn set(&self, sending: Sending) {
        for kind in OrderKind::ALL {
            self.set_for(kind, sending);
        }
    }

    /// Sets the answer to orders of one kind.
    pub fn set_for(&self, kind: OrderKind, sending: Sending) {
        self.state().sending.insert(kind, sending);
    }

    /// Sets the answer to look-ups by name.
    pub fn set_looking(&self, looking: Looking) {
        self.state().looking = looking;
    }

    /// Sets the answer to requests of the list of received Pix, and of sent ones.
    pub fn set_listing(&self, listing: Listing) {
        self.set_list(List::Received, listing);
        self.set_list(List::Sent, listing);
    }

    /// Sets the answer to requests of one list.
    pub fn set_list(&self, list: List, listing: Listing) {
        let mut state = self.state();
        state.listing.insert(list, listing);
        if list == List::Infractions {
            let now = state.infractions.clone();
            state.as_it_was = now;
        }
    }

    /// Opens its breaker, or closes it.
    pub fn set_resting(&self, resting: bool) {
        self.state().resting = resting;
    }

    /// Sets the clock that its answers show.
    pub fn set_clock(&self, at: Timestamp) {
        self.state().own_clock = Some(at);
    }

    /// Lists of that span get no reply.
    pub fn goes_dark(&self, span: Option<(Timestamp, Timestamp)>) {
        self.state().dark = span;
    }

    /// Runs `hook` once, at the next such moment.
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

    /// Counts the requests of orders of that kind.
    #[must_use]
    pub fn ordered(&self, kind: OrderKind) -> usize {
        self.state().orders.iter().filter(|order| order.kind() == kind).count()
    }

    /// Returns the names of orders that were requested once more without a look-up before. Charges are exempt: a repeat of one
    /// moves no money, and is its look-up.
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

    /// Removes and returns the requests of the list of infractions.
    #[must_use]
    pub fn take_listed(&self) -> Vec<ListRequest> {
        let lists = std::mem::take(&mut self.state().lists);
        lists.into_iter().filter(|(list, _)| *list == List::Infractions).map(|(_, request)| request).collect()
    }

    /// The state, after the arrival of every late request that is due.
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

    fn happens(&self, moment: Moment) {
        let mut state = self.state();
        let next = state.hooks.iter().position(|(at, _)| *at == moment);
        let hook = next.map(|next| state.hooks.remove(next));
        drop(state);
        if let Some((_, hook)) = hook {
            hook();
        }
    }
}
