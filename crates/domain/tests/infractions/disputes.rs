//! Tests a disputed Pix with reports, refunds, credits and resolutions in any order.

use cais_domain::event::EventType;
use cais_domain::infraction::{Infraction, left_of};
use cais_domain::ledger::{Bucket, LedgerAccount};
use cais_domain::refund::RefundStatus;
use proptest::prelude::*;

use crate::book::{Book, CHARGED};

#[derive(Debug, Clone)]
enum Act {
    Open(i64),
    Amend(usize, i64),
    Win(usize),
    Lose(usize),
    Cancel(usize),
    Refund(i64),
    SettleRefund(usize, bool),
    Earn(bool, i64),
    Spend(i64),
    Release,
}

fn act() -> impl Strategy<Value = Act> {
    prop_oneof![
        3 => (1_i64..1_500).prop_map(Act::Open),
        2 => (0_usize..4, 1_i64..1_500).prop_map(|(number, amount)| Act::Amend(number, amount)),
        1 => (0_usize..4).prop_map(Act::Win),
        2 => (0_usize..4).prop_map(Act::Lose),
        1 => (0_usize..4).prop_map(Act::Cancel),
        3 => (1_i64..1_000).prop_map(Act::Refund),
        2 => (0_usize..4, any::<bool>()).prop_map(|(number, arrives)| Act::SettleRefund(number, arrives)),
        2 => (any::<bool>(), 1_i64..800).prop_map(|(waits, amount)| Act::Earn(waits, amount)),
        3 => (0_i64..=100).prop_map(Act::Spend),
        2 => Just(Act::Release),
    ]
}

fn perform(book: &mut Book, act: &Act) {
    match act {
        Act::Open(amount) => book.open(*amount),
        Act::Amend(number, amount) => book.amend(*number, *amount),
        Act::Win(number) => book.win(*number),
        Act::Lose(number) => book.lose(*number),
        Act::Cancel(number) => book.cancel(*number),
        Act::Refund(amount) => book.refund(*amount),
        Act::SettleRefund(number, arrives) => book.settle_refund(*number, *arrives),
        Act::Earn(waits, amount) => book.earn(if *waits { Bucket::Pending } else { Bucket::Available }, *amount),
        Act::Spend(percent) => book.spend(*percent),
        Act::Release => book.release(),
    }
}

/// Checks the invariants of the model.
fn check(book: &Book) -> Result<(), TestCaseError> {
    let open: Vec<&Infraction> =
        book.infractions.iter().filter(|infraction| infraction.state.status().is_open()).collect();
    let limits: i64 = open.iter().map(|infraction| infraction.limit.centavos()).sum();
    let left = left_of(&book.payment, &book.charge, &book.infractions).unwrap().centavos();
    prop_assert!(limits <= left, "limits {} of {}", limits, left);
    let refunded: i64 = book
        .refunds
        .iter()
        .filter(|refund| refund.state.status() != RefundStatus::Failed)
        .map(|refund| refund.amount.centavos())
        .sum();
    let amount = book.payment.payment.amount.centavos();
    prop_assert!(limits + refunded + book.returned() <= amount, "held, refunded and returned amounts fit into the Pix");
    let charge = &book.charge;
    prop_assert!(charge.refunds.done.checked_add(charge.refunds.in_flight).unwrap() <= charge.terms.amount);
    prop_assert_eq!(usize::try_from(charge.open_infractions).unwrap(), open.len());

    let held: i64 = book.blocks.values().map(|block| block.held.centavos()).sum();
    prop_assert_eq!(held, book.balance(Bucket::Blocked), "blocked is the sum of the blocks");
    let ids = |infraction: &&Infraction| infraction.id;
    prop_assert_eq!(book.blocks.keys().copied().collect::<Vec<_>>(), open.iter().map(ids).collect::<Vec<_>>());
    for infraction in &open {
        let block = &book.blocks[&infraction.id];
        prop_assert_eq!(block.limit, infraction.limit);
        prop_assert!(!block.held.is_negative() && block.held <= block.limit && block.limit <= infraction.amount);
    }
    let waits: i64 = book.waits.iter().sum();
    prop_assert!(!book.seized.is_negative() && book.seized.centavos() <= waits, "at most the waiting money is seized");
    prop_assert_eq!(
        book.balance(Bucket::Pending),
        waits - book.seized.centavos(),
        "waiting money is pending or seized"
    );
    for bucket in Bucket::ALL {
        prop_assert!(book.balance(bucket) >= 0, "{:?}", bucket);
    }
    let settled = [EventType::InfractionWon, EventType::InfractionLost, EventType::InfractionCancelled];
    for infraction in &book.infractions {
        let resolved =
            book.published.iter().filter(|(id, kind)| *id == infraction.id && settled.contains(kind)).count();
        prop_assert_eq!(resolved, usize::from(!infraction.state.status().is_open()), "resolved once");
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, ..ProptestConfig::default() })]
    #[test]
    fn blocks_refunds_and_returns_fit_into_the_pix(
        paid in prop_oneof![Just(CHARGED), 1_i64..2_000],
        acts in proptest::collection::vec(act(), 0..40),
    ) {
        let mut book = Book::paid(paid);
        for act in &acts {
            if matches!(act, Act::Open(_)) && book.infractions.len() >= 4 {
                continue;
            }
            perform(&mut book, act);
            check(&book)?;
            if !matches!(act, Act::Spend(_) | Act::Refund(_)) {
                let missing = book.blocks.values().any(|block| block.shortfall().unwrap().is_positive());
                let left = book.balance(Bucket::Available) + book.balance(Bucket::Pending);
                prop_assert!(!missing || left == 0, "a shortfall leaves no available money");
            }
        }
    }

    #[test]
    fn won_dispute_does_not_shorten_release_delay(
        waiting in proptest::collection::vec(1_i64..800, 1..5),
        disputed in proptest::collection::vec((1_i64..1_000, any::<bool>()), 1..4),
        releases in 0_usize..5,
    ) {
        let mut book = Book::paid(CHARGED);
        let mut untouched = Book::paid(CHARGED);
        for amount in &waiting {
            book.earn(Bucket::Pending, *amount);
            untouched.earn(Bucket::Pending, *amount);
        }
        book.spend(100);
        untouched.spend(100);
        for (amount, _) in &disputed {
            book.open(*amount);
        }
        for _ in 0..releases {
            book.release();
            untouched.release();
        }
        for (number, (_, wins)) in disputed.iter().enumerate() {
            if *wins { book.win(number) } else { book.cancel(number) }
            check(&book)?;
        }
        for bucket in [Bucket::Available, Bucket::Pending, Bucket::Blocked] {
            prop_assert_eq!(book.balance(bucket), untouched.balance(bucket), "{:?} equals a run without dispute", bucket);
        }
        prop_assert!(book.seized.is_zero());
    }

    #[test]
    fn infraction_with_repeated_reports_is_resolved_once(
        outcomes in proptest::collection::vec((0_usize..2, 0_usize..3), 1..12),
    ) {
        let mut book = Book::paid(CHARGED);
        book.open(700);
        book.open(700);
        let mut first = [None, None];
        for (number, outcome) in &outcomes {
            first[*number].get_or_insert(*outcome);
            let settle = [Book::win, Book::lose, Book::cancel][*outcome];
            settle(&mut book, *number);
            check(&book)?;
        }
        for (infraction, outcome) in book.infractions.iter().zip(first) {
            let status = outcome.map_or("open", |outcome| ["won", "lost", "cancelled"][outcome]);
            prop_assert_eq!(infraction.state.status().as_str(), status, "the first outcome stays");
        }
        let settlement: i64 = book
            .balances
            .iter()
            .filter(|(account, _)| matches!(account, LedgerAccount::System(..)))
            .map(|(_, balance)| *balance)
            .sum();
        prop_assert_eq!(settlement + CHARGED, book.returned(), "each return leaves settlement once");
    }
}
