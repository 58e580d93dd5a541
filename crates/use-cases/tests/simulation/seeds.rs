//! Random runs. Calls, repeats, workers, crashes and faults are mixed until the faults stop and all work is done.

use std::time::Duration;

use cais_domain::charge::ChargeStatus;
use cais_ports::{UpstreamProgress, UpstreamWithdrawalStatus as Upstream};
use cais_testkit::psp::{ListReply, LookupReply, OrderKind, OrderReply};
use cais_testkit::random::Random;
use cais_testkit::{Crash, FakePsp};

use crate::bed::TestBed;
use crate::deposits::CoinStep;
use crate::node::CrashPoint;
use crate::operation::Operation;
use crate::orders::MONEY_KINDS;
use crate::worker::Worker;

/// The number of seeds in a run of the suite.
const SEEDS: u64 = 10_000;
/// The number of steps with faults.
const STEPS: u64 = 80;
/// The largest number of calls by the merchant, without repeats.
const MAX_CALLS: usize = 4;

/// The kinds of new operations, with their weights. A defense is possible only once.
const KINDS: [OrderKind; 11] = [
    OrderKind::Charge,
    OrderKind::Charge,
    OrderKind::Payout,
    OrderKind::Payout,
    OrderKind::Refund,
    OrderKind::Refund,
    OrderKind::Defense,
    OrderKind::Withdrawal,
    OrderKind::Withdrawal,
    OrderKind::Deposit,
    OrderKind::Deposit,
];
/// The replies that an acquirer may give to any order.
const REPLIES: [OrderReply; 9] = [
    OrderReply::Accepts,
    OrderReply::Accepts,
    OrderReply::LosesReplies,
    OrderReply::LosesReplies,
    OrderReply::ArrivesLate,
    OrderReply::ArrivesLateAndRefuses,
    OrderReply::Silent,
    OrderReply::Refuses,
    OrderReply::Down,
];
/// The replies that an acquirer may give only to orders that have an outcome of their own.
const MORE_REPLIES: [OrderReply; 3] = [OrderReply::Completes, OrderReply::Fails, OrderReply::AcceptsAndRefuses];
/// The replies after which the outcome of an order is open.
const OPEN_REPLIES: [OrderReply; 4] =
    [OrderReply::Silent, OrderReply::LosesReplies, OrderReply::ArrivesLate, OrderReply::ArrivesLateAndRefuses];
/// How far the clock jumps between an order and its repeat: while the request may still arrive, beyond a lease, and
/// beyond the arrival.
const REPEAT_JUMPS_MS: [u64; 4] = [3_000, 31_000, 35_000, 61_000];
/// The replies to a verification.
const VERIFICATIONS: [OrderReply; 6] = [
    OrderReply::Accepts,
    OrderReply::Accepts,
    OrderReply::LosesReplies,
    OrderReply::Silent,
    OrderReply::Refuses,
    OrderReply::Down,
];
/// How far the clock jumps: within a worker's pause, beyond the pause, beyond a lease, and beyond the age at which
/// orders are sent again.
const JUMPS_MS: [u64; 7] = [1, 500, 2_000, 10_000, 31_000, 61_000, 360_000];

/// The reads that an acquirer falsifies in one run. Look-ups and lists never hide the same order, because both together
/// prove its absence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Hides {
    Nothing,
    LookUps,
    Lists,
}

struct Run {
    bed: TestBed,
    random: Random,
    hides: [Hides; 2],
}

impl Run {
    fn new(seed: u64) -> Self {
        // Two neighboring seeds must not produce the same run with a shift of one step.
        let mut random = Random(seed.wrapping_mul(0xd134_2543_de82_ef95));
        let hides = [(); 2].map(|()| random.one_of(&[Hides::Nothing, Hides::LookUps, Hides::Lists]));
        let bed = TestBed::new(format!("seed {seed}, {hides:?}; repeat it with: scripts/simulate --seed {seed}"));
        Self { bed, random, hides }
    }

    /// Runs the steps, and returns the trace.
    fn run(mut self) -> String {
        for _ in 0..STEPS {
            self.step();
            self.bed.check_always();
        }
        let failed = UpstreamProgress::Failed { reason: None };
        let outcome = self.random.one_of(&[UpstreamProgress::Done { at: None }, failed]);
        self.bed.settle(&outcome);
        self.bed.check_end();
        self.bed.trace().to_owned()
    }

    fn index(&mut self, limit: usize) -> usize {
        usize::try_from(self.random.below(u64::try_from(limit).unwrap())).unwrap()
    }

    fn step(&mut self) {
        let node = self.index(2);
        match self.random.below(100) {
            0..50 if self.bed.tasks() > 0 => {
                let task = self.index(self.bed.tasks());
                self.bed.poll(task);
            }
            0..60 => self.call(node),
            60..75 => {
                let worker = self.random.one_of(&Worker::ALL);
                self.bed.work(worker, node);
                if self.random.below(2) == 0 {
                    self.bed.work(worker, 1 - node);
                }
            }
            75..80 => {
                let point = self.random.one_of(&CrashPoint::ALL);
                self.bed.note(&format!("node {node}: crashes {point:?}"));
                self.bed.nodes[node].crash_at(point);
            }
            80..83 => {
                let crash = self.random.one_of(&[Crash::Before, Crash::After]);
                self.bed.note(&format!("the store fails {crash:?} the next commit"));
                self.bed.store.crash_at(1, crash);
            }
            83..88 => self.fault(),
            88..90 => self.disturb_repeat(node),
            90..95 => {
                let jump = self.random.one_of(&JUMPS_MS);
                self.bed.clock.advance(Duration::from_millis(jump));
                self.bed.note("now");
            }
            95..96 => self.coins_move(node),
            96..98 => self.payer_moves(node),
            _ => self.money_moves(node),
        }
    }

    /// Makes a first call of an operation, or a repeat.
    fn call(&mut self, node: usize) {
        let begun = self.bed.calls.len();
        let number = if begun < MAX_CALLS && self.random.below(2) == 0 {
            let operation = self.operation();
            self.bed.begin(operation)
        } else if begun > 0 {
            self.index(begun)
        } else {
            return;
        };
        self.bed.call(number, node);
    }

    fn operation(&mut self) -> Operation {
        // The largest payout exceeds the balance. The sum of the two largest refunds exceeds the charge.
        let centavos = self.random.one_of(&[300, 1_200, 5_000]);
        let kind = self.random.one_of(&KINDS);
        self.bed.operation(kind, centavos)
    }

    /// Changes the replies of an acquirer.
    fn fault(&mut self) {
        let number = self.index(2);
        let (hides, psp) = (self.hides[number], self.bed.psps[number].clone());
        let kind = self.random.one_of(&OrderKind::ALL);
        if matches!(kind, OrderKind::Withdrawal | OrderKind::Deposit) {
            return self.processor_fault();
        }
        let mut replies = REPLIES.to_vec();
        if matches!(kind, OrderKind::Payout | OrderKind::Refund) {
            replies.extend(MORE_REPLIES);
        }
        // A refusal is proof if the look-up shows no order. The look-up of a defense is the list.
        let unproven = |sending: &OrderReply| match kind {
            OrderKind::Defense => hides == Hides::Lists && *sending == OrderReply::Refuses,
            OrderKind::Charge | OrderKind::Payout | OrderKind::Refund | OrderKind::Withdrawal | OrderKind::Deposit => {
                hides == Hides::LookUps && *sending == OrderReply::AcceptsAndRefuses
            }
        };
        replies.retain(|sending| !unproven(sending));
        let sending = self.random.one_of(&replies);
        let lookup_reply = match hides {
            Hides::LookUps => self.random.one_of(&[
                LookupReply::Accurate,
                LookupReply::Silent,
                LookupReply::Down,
                LookupReply::NotFound,
            ]),
            Hides::Nothing | Hides::Lists => {
                self.random.one_of(&[LookupReply::Accurate, LookupReply::Silent, LookupReply::Down])
            }
        };
        let shown = [ListReply::Pages(1), ListReply::Pages(100), ListReply::Silent, ListReply::Unreadable];
        let listing = match hides {
            Hides::Lists => self.random.one_of(&[ListReply::Pages(100), ListReply::Silent, ListReply::Empty]),
            Hides::Nothing | Hides::LookUps => self.random.one_of(&shown),
        };
        let (hides_defenses, rests) = (hides == Hides::Lists && self.random.below(2) == 0, self.random.below(4) == 0);
        self.bed.note(&format!(
            "{}: {kind:?} {sending:?}, look-ups {lookup_reply:?}, lists {listing:?}, defenses hidden {hides_defenses}, rests {rests}",
            psp.name
        ));
        psp.set_for(kind, sending);
        psp.set_lookup_reply(lookup_reply);
        psp.set_list_replies(listing);
        psp.hide_defenses(hides_defenses);
        psp.set_breaker_open(rests);
    }

    /// Leaves a new order with an open outcome, and gives its repeat another reply. A wrong proof of a failure is found
    /// here first.
    fn disturb_repeat(&mut self, node: usize) {
        let (hides, psp) = (self.hides[0], self.bed.psps[0].clone());
        let kind = self.random.one_of(&MONEY_KINDS).0;
        let first = self.random.one_of(&OPEN_REPLIES);
        let second = self.random.one_of(&[first, OrderReply::Refuses, OrderReply::Down, OrderReply::AcceptsAndRefuses]);
        let second = if hides == Hides::LookUps && second == OrderReply::AcceptsAndRefuses { first } else { second };
        let (crashes, jump) = (self.random.below(2) == 0, self.random.one_of(&REPEAT_JUMPS_MS));
        self.bed.note(&format!("{}: {kind:?} {first:?}, then {second:?}; crash after the request {crashes}", psp.name));
        self.bed.set_for(kind, first);
        psp.set_lookup_reply(if hides == Hides::LookUps { LookupReply::NotFound } else { LookupReply::Accurate });
        if crashes {
            self.bed.nodes[node].crash_at(CrashPoint::AfterRequest);
        }
        if self.bed.calls.len() < MAX_CALLS {
            let operation = self.bed.operation(kind, 300);
            let number = self.bed.begin(operation);
            self.bed.call(number, node);
        }
        self.bed.drain();
        self.bed.set_for(kind, second);
        self.bed.clock.advance(Duration::from_millis(jump));
        for worker in [Worker::Resume, Worker::Payouts, Worker::Refunds, Worker::Withdrawals] {
            self.bed.work(worker, 1 - node);
        }
        self.bed.drain();
    }

    /// Changes the replies of the processor. Absence is never proof here, so look-ups may hide a batch at any time.
    fn processor_fault(&mut self) {
        let mut replies = REPLIES.to_vec();
        replies.push(OrderReply::AcceptsAndRefuses);
        let (creating, verifying) = (self.random.one_of(&replies), self.random.one_of(&VERIFICATIONS));
        let lookup_reply = self.random.one_of(&[
            LookupReply::Accurate,
            LookupReply::Accurate,
            LookupReply::Silent,
            LookupReply::Down,
            LookupReply::NotFound,
        ]);
        self.bed.note(&format!("processor: {creating:?}, verifications {verifying:?}, look-ups {lookup_reply:?}"));
        let processor = &self.bed.processor;
        processor.set(creating);
        processor.set_verifying(verifying);
        processor.set_lookup_reply(lookup_reply);
    }

    /// Ends verified batches, or makes an operator decide. The processor may send a callback.
    fn coins_move(&mut self, node: usize) {
        let processor = self.bed.processor.clone();
        match self.random.below(4) {
            0 => self.bed.review(node),
            1 => processor.end_failed(Upstream::Processing),
            _ => {
                let status = self.random.one_of(&[Upstream::Finished, Upstream::Rejected, Upstream::Failed]);
                self.bed.note(&format!("processor: verified batches are {status:?}"));
                processor.settle_open(status);
            }
        }
        let batches = processor.batches();
        if !batches.is_empty() && self.random.below(2) == 0 {
            let (batch, by_id) = (&batches[self.index(batches.len())], self.random.below(2) == 0);
            self.bed.processor_calls_back(node, batch, by_id);
        }
    }

    /// Makes a step of a payer of a deposit. The processor may send callbacks, also repeated and in another order.
    fn payer_moves(&mut self, node: usize) {
        let deposits = self.bed.deposits();
        if deposits.is_empty() {
            return;
        }
        let (deposit, step) = (&deposits[self.index(deposits.len())], self.random.one_of(&CoinStep::ALL));
        self.bed.pay_coins(deposit, step);
        let payments = self.bed.processor.state().payments.clone();
        for at in [node, 1 - node] {
            if self.random.below(2) == 0 {
                let payment = &payments[self.index(payments.len())];
                self.bed.deposit_callback(at, payment);
            }
        }
    }

    /// Pays a charge or ends an open order. The acquirer may send a callback.
    fn money_moves(&mut self, node: usize) {
        let number = self.index(2);
        let psp = self.bed.psps[number].clone();
        if self.random.below(2) == 0 {
            let outcome = self.random.one_of(&[
                UpstreamProgress::Done { at: None },
                UpstreamProgress::Failed { reason: Some("closed".to_owned()) },
            ]);
            self.bed.note(&format!("{}: open orders are {outcome:?}", psp.name));
            psp.settle_open(&outcome);
            self.payout_callback(node, &psp);
            return;
        }
        let charges = self.bed.store.charges();
        let charge = charges[self.index(charges.len())].clone();
        let is_payable = matches!(charge.state.status(), ChargeStatus::Pending | ChargeStatus::Paid);
        let Some(issued) = charge.state.issued().filter(|issued| is_payable && issued.acquirer == psp.name) else {
            return;
        };
        let centavos = self.random.one_of(&[charge.terms.amount.centavos(), 100]);
        let pix = psp.pay(&charge.txid, centavos);
        self.bed.note(&format!("{}: charge {} is paid {centavos}", issued.acquirer, charge.id));
        if self.random.below(2) == 0 {
            self.bed.called_back.insert(charge.id.to_string());
            let body = format!("{}/{pix}", charge.txid).into_bytes();
            self.bed.receive_callback(node, psp.name.clone(), body);
        }
    }

    /// Sends a callback about a payout in half of the cases. The callback may come before the reply to the order.
    fn payout_callback(&mut self, node: usize, psp: &FakePsp) {
        let payouts = psp.payouts();
        if payouts.is_empty() || self.random.below(2) == 0 {
            return;
        }
        let name = &payouts[self.index(payouts.len())].instruction_id;
        self.bed.called_back.extend(name.payout().map(|id| id.to_string()));
        self.bed.receive_callback(node, psp.name.clone(), format!("sent:{name}").into_bytes());
    }
}

/// Parses an environment variable as a number.
fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok().map(|text| text.parse().unwrap())
}

/// `CAIS_SIMULATION_SEED` repeats one seed and prints its trace. `CAIS_SIMULATION_SEEDS` sets the number of seeds.
#[test]
fn money_is_never_lost_or_sent_twice_in_random_runs() {
    if let Some(seed) = number("CAIS_SIMULATION_SEED") {
        println!("{}", Run::new(seed).run());
        return;
    }
    let seeds = number("CAIS_SIMULATION_SEEDS").unwrap_or(SEEDS);
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for first in 0..threads {
            let mine = (0..seeds).skip(first).step_by(threads);
            scope.spawn(move || mine.for_each(|seed| drop(Run::new(seed).run())));
        }
    });
    println!("{seeds} seeds");
}

#[test]
fn same_seed_has_same_trace() {
    for seed in 0..50 {
        assert!(Run::new(seed).run() == Run::new(seed).run(), "seed {seed}");
    }
}
