//! Two nodes on one store, with a scheduler that polls their tasks one at a time.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::pin::{Pin, pin};
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use cais_domain::acquirer_name::AcquirerName;
use cais_domain::charge::Charge;
use cais_domain::fee::{FeeRule, Operation as Priced};
use cais_domain::ids::{AccountId, ChargeId};
use cais_domain::merchant::account::{Account, Feature};
use cais_domain::money::Money;
use cais_domain::rate::Percentage;
use cais_domain::text::{LineBreaks, Text};
use cais_ports::webhooks::MockWebhookSender;
use cais_ports::{
    Clock as _, IdGenerator as _, ResponseKind, Store as _, UpstreamProgress, UpstreamWithdrawal,
    UpstreamWithdrawalStatus,
};
use cais_testkit::bed::LONG;
use cais_testkit::builders::{an_account, an_operator, main_acquirer, start, steps};
use cais_testkit::psp::{ListReply, LookupReply, OrderKind, OrderReply};
use cais_testkit::{
    FakeAcquirers, FakeProcessor, FakePsp, ManualClock, MemoryStore, PlainKeyedHash, PlainSecretCipher, SequentialIds,
    TextRepresentation,
};
use cais_use_cases::callbacks::OpenCallbacks;
use cais_use_cases::charges::ChargeName;
use cais_use_cases::charges::fetch;
use cais_use_cases::crypto::withdrawals::review::{self, Decision, MissingRecord};
use cais_use_cases::crypto::{CryptoSources, withdrawals};
use cais_use_cases::upstream::UpstreamLimits;
use cais_use_cases::{Ports, SyncGate, callbacks, infractions, reconcile};

use crate::node::{Node, NodeStore};
use crate::operation::{Operation, key};
use crate::worker::Worker;

/// The amount of each of the merchant's two first charges, in centavos.
const PAID: i64 = 2_000;
/// The largest number of polls until the tasks of the nodes must have ended.
const MAX_POLLS: usize = 100_000;
/// The largest number of passes of all workers until all orders must have an outcome.
const MAX_PASSES: usize = 12;

/// An operation of the merchant.
pub struct Called {
    pub operation: Operation,
    pub replies: Rc<RefCell<Replies>>,
}

#[derive(Debug, Default)]
pub struct Replies {
    /// The status and body of the first answer.
    pub answer: Option<(ResponseKind, Vec<u8>)>,
    last_error: Option<String>,
}

impl Replies {
    /// Returns whether no further response is expected. A refund beyond the charge is refused at each repeat. Every
    /// other call must receive a response.
    pub fn are_final(&self) -> bool {
        self.answer.is_some() || self.last_error.as_deref().is_some_and(|error| error.contains("ExceedsAmount"))
    }
}

struct Task {
    node: usize,
    future: Pin<Box<dyn Future<Output = String>>>,
}

/// The trace of a run. A failing run prints it.
struct Trace(String);

impl Drop for Trace {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("{}", self.0);
        }
    }
}

pub struct TestBed {
    pub store: Arc<MemoryStore>,
    pub clock: Arc<ManualClock>,
    ids: Arc<SequentialIds>,
    pub account: Account,
    pub psps: [FakePsp; 2],
    pub processor: FakeProcessor,
    pub nodes: [Arc<Node>; 2],
    pub ports: [Ports; 2],
    tasks: Vec<Task>,
    pub calls: Vec<Called>,
    /// The ids of charges and payouts for which a callback was sent.
    pub called_back: BTreeSet<String>,
    /// The number of commits at the last check.
    pub checked: u64,
    /// A paid charge for refunds.
    pub refundable: ChargeId,
    /// A paid charge with an open infraction.
    pub disputed: ChargeId,
    trace: Trace,
}

impl TestBed {
    /// Creates a merchant with two paid charges of R$ 20.00, of which one is disputed.
    pub fn new(title: String) -> Self {
        let (store, clock) = (Arc::new(MemoryStore::default()), Arc::new(ManualClock::default()));
        let ids = Arc::new(SequentialIds::default());
        let second = AcquirerName::parse("second").unwrap();
        let psps = [FakePsp::new(&main_acquirer(), clock.clone()), FakePsp::new(&second, clock.clone())];
        let nodes = [Arc::new(Node::default()), Arc::new(Node::default())];
        let fee = FeeRule::try_new(Money::from_centavos(50), Percentage::zero(), None, None).unwrap();
        let account = Account { id: AccountId::new(ids.next_uuid()), ..an_account() };
        let share = FeeRule::try_new(Money::from_centavos(3), Percentage::parse("1.5").unwrap(), None, None).unwrap();
        let fees = account.fees.clone().with(Priced::PixOut, fee.clone()).with(Priced::CryptoOut, fee);
        let fees = fees.with(Priced::CryptoIn, share);
        let account =
            Account { fees, features: account.features.with(Feature::CryptoIn).with(Feature::CryptoOut), ..account };
        let processor = FakeProcessor::new(clock.clone());
        processor.state().brl_per_usd = Some(("0.1", "0.1"));
        let ports = [0, 1].map(|node| ports(&store, &clock, &ids, (&psps, &processor), &nodes[node]));
        let missing = ChargeId::new(ids.next_uuid());
        let (refundable, disputed) = (missing, missing);
        let mut bed = Self {
            store,
            clock,
            ids,
            account,
            psps,
            processor,
            nodes,
            ports,
            tasks: Vec::new(),
            calls: Vec::new(),
            called_back: BTreeSet::new(),
            checked: 0,
            refundable,
            disputed,
            trace: Trace(title),
        };
        run(bed.store.clone().commit(steps::open_account(&bed.account))).unwrap();
        bed.refundable = bed.paid(200).id;
        let disputed = bed.paid(201);
        bed.disputed = disputed.id;
        let pix = disputed.state.settlement().unwrap().end_to_end_id.clone();
        bed.psps[0].dispute(&pix, 500);
        run(infractions::poll::run_once(&bed.ports[0])).unwrap();
        bed
    }

    /// Creates and pays a charge, without faults.
    fn paid(&self, number: usize) -> Charge {
        let charge = Operation::Charge { centavos: PAID };
        run(charge.call(self.ports[0].clone(), self.account.clone(), number)).unwrap();
        let charge = self.store.charges().pop().unwrap();
        self.psps[0].pay(&charge.txid, PAID);
        let name = ChargeName::Id(charge.id);
        let gate = SyncGate::new();
        run(fetch::fetch(&self.ports[0], &gate, self.account.id, &name)).unwrap()
    }

    pub fn note(&mut self, line: &str) {
        let time = self.clock.now().duration_since(start()).as_millis();
        write!(self.trace.0, "\n{time:>9} ms  {line}").unwrap();
    }

    pub fn trace(&self) -> &str {
        &self.trace.0
    }

    /// Makes the merchant's first call of an operation. Returns the number of the operation.
    pub fn begin(&mut self, operation: Operation) -> usize {
        self.calls.push(Called { operation, replies: Rc::default() });
        self.calls.len() - 1
    }

    /// Calls operation `number` at a node. All responses must have the same bytes, and these bytes must be stored.
    pub fn call(&mut self, number: usize, node: usize) {
        let Called { operation, replies } = &self.calls[number];
        let (operation, replies) = (*operation, replies.clone());
        let call = Box::pin(operation.call(self.ports[node].clone(), self.account.clone(), number));
        let name = format!("{:?} {number}", operation.kind());
        let store = self.store.clone();
        self.spawn(node, name.clone(), async move {
            match call.await {
                Ok(answer) => {
                    if operation.has_key() {
                        let record = store.idempotency_records().into_iter().find(|one| one.name.key == key(number));
                        let stored = record.and_then(|record| record.answer);
                        let stored = stored.map(|stored| (stored.kind, stored.body));
                        assert_eq!(stored.as_ref(), Some(&answer), "{name}: the response is the stored one");
                    }
                    let shown = String::from_utf8_lossy(&answer.1).into_owned();
                    let first = replies.borrow_mut().answer.get_or_insert_with(|| answer.clone()).clone();
                    assert_eq!(first, answer, "{name} has two answers");
                    format!("{:?} {shown}", answer.0)
                }
                Err(error) => {
                    replies.borrow_mut().last_error = Some(error.clone());
                    error
                }
            }
        });
    }

    pub fn work(&mut self, worker: Worker, node: usize) {
        let ports = self.ports[node].clone();
        self.spawn(node, format!("{worker:?}"), async move { format!("{:?}", worker.run(&ports).await) });
    }

    /// Receives a callback of the acquirer at a node.
    pub fn receive_callback(&mut self, node: usize, acquirer: AcquirerName, body: Vec<u8>) {
        let ports = self.ports[node].clone();
        let received = async move { format!("{:?}", callbacks::receive(&ports, &acquirer, body).await) };
        self.spawn(node, "callback".to_owned(), received);
    }

    pub fn spawn(&mut self, node: usize, name: String, task: impl Future<Output = String> + 'static) {
        self.note(&format!("node {node}: {name} begins"));
        let future = Box::pin(async move { format!("node {node}: {name} ends: {}", task.await) });
        self.tasks.push(Task { node, future });
    }

    pub fn tasks(&self) -> usize {
        self.tasks.len()
    }

    /// Polls one task. If its node crashes, the node loses all its tasks and restarts.
    pub fn poll(&mut self, task: usize) {
        let polled = self.tasks[task].future.as_mut().poll(&mut Context::from_waker(Waker::noop()));
        if let Poll::Ready(end) = polled {
            drop(self.tasks.swap_remove(task));
            self.note(&end);
        }
        for node in 0..self.nodes.len() {
            if self.nodes[node].is_dead() {
                self.note(&format!("node {node}: dead"));
                self.tasks.retain(|task| task.node != node);
                self.nodes[node].restart();
                self.ports[node] = self.connect(node);
            }
        }
    }

    fn connect(&self, node: usize) -> Ports {
        ports(&self.store, &self.clock, &self.ids, (&self.psps, &self.processor), &self.nodes[node])
    }

    /// Sets the reply of the first acquirer, or of the processor, to orders of this kind.
    pub fn set_for(&self, kind: OrderKind, sending: OrderReply) {
        if matches!(kind, OrderKind::Withdrawal | OrderKind::Deposit) {
            self.processor.set(sending);
        } else {
            self.psps[0].set_for(kind, sending);
        }
    }

    /// Makes an operator fail each withdrawal that waits for a decision. Before that, the processor rejects all failed
    /// batches, so it never sends their coins.
    pub fn review(&mut self, node: usize) {
        self.processor.end_failed(UpstreamWithdrawalStatus::Rejected);
        let ports = self.ports[node].clone();
        self.spawn(node, "review".to_owned(), async move {
            let operator = an_operator();
            let note = Text::parse("asked", 100, LineBreaks::Refused).unwrap();
            let mut ends = Vec::new();
            for marked in review::list(&ports).await.unwrap() {
                let decision = (&Decision::Failed, &note);
                let resolved = review::resolve(&ports, &operator, marked.id, decision, MissingRecord::Refused).await;
                ends.push(resolved.map(drop));
            }
            format!("{ends:?}")
        });
    }

    /// Applies a callback of the processor about a batch, at a node.
    pub fn processor_calls_back(&mut self, node: usize, batch: &UpstreamWithdrawal, by_id: bool) {
        let (ports, name, order) = (self.ports[node].clone(), self.processor.name.clone(), batch.order);
        self.called_back.extend(order.map(|id| id.to_string()));
        let (batch, order) = (batch.batch.clone(), order.filter(|_| by_id));
        let applied = async move { format!("{:?}", withdrawals::callback::apply(&ports, &name, &batch, order).await) };
        self.spawn(node, "callback of the processor".to_owned(), applied);
    }

    /// Runs every task to its end.
    pub fn drain(&mut self) {
        for turn in 0..MAX_POLLS {
            let Some(task) = turn.checked_rem(self.tasks.len()) else { return };
            self.poll(task);
        }
        panic!("the tasks do not end");
    }

    /// Stops all faults of acquirers and the store.
    pub fn stop_faults(&mut self) {
        self.note("faults stop");
        for psp in &self.psps {
            psp.set(OrderReply::Accepts);
            psp.set_lookup_reply(LookupReply::Accurate);
            psp.set_list_replies(ListReply::Pages(100));
            psp.hide_defenses(false);
            psp.set_breaker_open(false);
        }
        self.processor.set(OrderReply::Accepts);
        self.processor.set_verifying(OrderReply::Accepts);
        self.processor.set_lookup_reply(LookupReply::Accurate);
        for node in &self.nodes {
            node.restart();
        }
    }

    /// Runs workers and repeats without faults, until every order has its outcome.
    pub fn settle(&mut self, outcome: &UpstreamProgress) {
        self.stop_faults();
        for pass in 0..MAX_PASSES {
            self.drain();
            self.clock.advance(LONG);
            for psp in &self.psps {
                psp.settle_open(outcome);
            }
            self.coins_arrive();
            self.processor.settle_open(match outcome {
                UpstreamProgress::Failed { .. } => UpstreamWithdrawalStatus::Rejected,
                UpstreamProgress::Done { .. } | UpstreamProgress::Processing => UpstreamWithdrawalStatus::Finished,
            });
            for worker in Worker::ALL {
                self.work(worker, pass % 2);
            }
            self.drain();
            self.review(pass % 2);
            self.drain();
            for number in 0..self.calls.len() {
                self.call(number, number % 2);
            }
            self.drain();
            if self.open().is_empty() && self.calls.iter().all(|call| call.replies.borrow().are_final()) {
                break;
            }
        }
        // Payments without a callback are found when their charge expires, or in the acquirer's lists.
        self.clock.advance(Duration::from_hours(2));
        self.work(Worker::Expiry, 0);
        self.drain();
        run(reconcile::run_once(&self.ports[1])).unwrap();
    }
}

/// Runs one future to its end, without other tasks.
pub fn run<T>(future: impl Future<Output = T>) -> T {
    let mut future = pin!(future);
    for _ in 0..MAX_POLLS {
        if let Poll::Ready(output) = future.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
            return output;
        }
    }
    panic!("the future does not end");
}

fn ports(
    store: &Arc<MemoryStore>,
    clock: &Arc<ManualClock>,
    ids: &Arc<SequentialIds>,
    (psps, processor): (&[FakePsp; 2], &FakeProcessor),
    node: &Arc<Node>,
) -> Ports {
    let crypto = CryptoSources {
        processor: Arc::new(processor.behind(node.clone())),
        rates: Arc::new(processor.clone()),
        spread: Percentage::zero(),
    };
    Ports {
        store: Arc::new(NodeStore { store: store.clone(), node: node.clone() }),
        queries: store.clone(),
        maintenance: store.clone(),
        acquirers: Arc::new(FakeAcquirers::new(&psps.each_ref().map(|psp| psp.behind(node.clone())))),
        crypto: Some(crypto),
        clock: clock.clone(),
        ids: ids.clone(),
        keyed_hash: Arc::new(PlainKeyedHash::default()),
        representation: Arc::new(TextRepresentation),
        deliveries: store.clone(),
        webhooks: Arc::new(MockWebhookSender::new()),
        secret_cipher: Arc::new(PlainSecretCipher::default()),
        limits: UpstreamLimits::default(),
        open_callbacks: OpenCallbacks::default(),
    }
}
