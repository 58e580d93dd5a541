//! Every operation with every crash point and every reply, with and without work of the second node.

use std::time::Duration;

use cais_ports::UpstreamProgress;
use cais_testkit::psp::{OrderKind, OrderReply};

use crate::bed::TestBed;
use crate::node::CrashPoint;
use crate::worker::Worker;

/// A time longer than the lease of a request, and shorter than the pause before an order is sent again.
const PAST_LEASE: Duration = Duration::from_secs(31);

/// The replies that every kind of order can get.
const REPLIES: [OrderReply; 7] = [
    OrderReply::Accepts,
    OrderReply::LosesReplies,
    OrderReply::ArrivesLate,
    OrderReply::ArrivesLateAndRefuses,
    OrderReply::Silent,
    OrderReply::Refuses,
    OrderReply::Down,
];

#[derive(Debug, Clone, Copy)]
struct Case {
    kind: OrderKind,
    point: CrashPoint,
    reply: OrderReply,
    second_works: bool,
}

impl Case {
    /// Returns whether the order must fail. The only proof of a failure is a refusal of the first request that was
    /// stored before the crash. For a defense, a repeat is a new order.
    fn fails(self) -> bool {
        let is_stored = self.point == CrashPoint::AfterOutcome && self.reply == OrderReply::Refuses;
        match self.kind {
            OrderKind::Payout | OrderKind::Refund => is_stored,
            OrderKind::Withdrawal => self.withdrawal_fails(),
            OrderKind::Charge | OrderKind::Defense | OrderKind::Deposit => false,
        }
    }

    /// Returns whether the withdrawal must fail. A withdrawal that may have been created is never created again. If it
    /// is absent, an operator fails it.
    const fn withdrawal_fails(self) -> bool {
        match (self.point, self.reply) {
            (CrashPoint::BeforeIntent, _) | (CrashPoint::AfterOutcome, OrderReply::Down) => false,
            (CrashPoint::AfterIntent, _) | (_, OrderReply::Silent | OrderReply::Refuses | OrderReply::Down) => true,
            (CrashPoint::AfterRequest | CrashPoint::AfterReply | CrashPoint::AfterOutcome, _) => false,
        }
    }

    /// Returns whether the crash point is reached. A defense with an unknown outcome needs no second commit, because
    /// the first commit has left it to a worker.
    fn is_reached(self) -> bool {
        let is_unknown =
            matches!(self.reply, OrderReply::ArrivesLate | OrderReply::ArrivesLateAndRefuses | OrderReply::Silent);
        !(is_unknown && self.kind == OrderKind::Defense && self.point == CrashPoint::AfterOutcome)
    }

    fn run(self) {
        let mut bed = TestBed::new(format!("{self:?}"));
        let operation = bed.operation(self.kind, 300);
        let number = bed.begin(operation);
        bed.set_for(self.kind, self.reply);
        bed.nodes[0].crash_at(self.point);
        bed.call(number, 0);
        bed.drain();
        assert_eq!(bed.trace().contains("node 0: dead"), self.is_reached(), "the crash point");
        bed.check_always();
        bed.clock.advance(PAST_LEASE);
        if self.second_works {
            for worker in Worker::ALL {
                bed.work(worker, 1);
            }
            bed.drain();
            bed.check_always();
        }
        bed.settle(&UpstreamProgress::Done { at: None });
        bed.check_end();
        assert_eq!(bed.executed(self.kind), usize::from(!self.fails()), "orders carried out");
    }
}

fn crash_everywhere(kind: OrderKind) {
    for point in CrashPoint::ALL {
        for reply in REPLIES {
            for second_works in [false, true] {
                Case { kind, point, reply, second_works }.run();
            }
        }
    }
}

#[test]
fn charge_is_issued_once_wherever_a_node_crashes() {
    crash_everywhere(OrderKind::Charge);
}

#[test]
fn payout_leaves_once_wherever_a_node_crashes() {
    crash_everywhere(OrderKind::Payout);
}

#[test]
fn refund_leaves_once_wherever_a_node_crashes() {
    crash_everywhere(OrderKind::Refund);
}

#[test]
fn defense_arrives_once_wherever_a_node_crashes() {
    crash_everywhere(OrderKind::Defense);
}

#[test]
fn withdrawal_is_created_once_wherever_a_node_crashes() {
    crash_everywhere(OrderKind::Withdrawal);
}

#[test]
fn deposit_is_issued_once_wherever_a_node_crashes() {
    crash_everywhere(OrderKind::Deposit);
}
