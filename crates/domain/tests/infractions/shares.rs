//! Tests the rest of a Pix that infractions can block, and its division among them.

use cais_domain::infraction::{apportion, left_of};
use cais_domain::ledger::Bucket;
use cais_domain::money::Money;

use crate::book::{Book, CHARGED, money};

fn limits(book: &Book) -> Vec<i64> {
    book.infractions.iter().map(|infraction| infraction.limit.centavos()).collect()
}

#[test]
fn infractions_on_one_pix_never_hold_more_than_it() {
    let mut book = Book::paid(CHARGED);
    book.open(700);
    book.open(700);
    assert_eq!((limits(&book), book.balance(Bucket::Blocked)), (vec![700, 300], 1_000));
    book.win(0);
    assert_eq!(limits(&book)[1], 700, "the second infraction holds the rest of the Pix");
    assert_eq!((book.balance(Bucket::Available), book.balance(Bucket::Blocked)), (300, 700));
    book.lose(1);
    assert_eq!((book.balance(Bucket::Available), book.balance(Bucket::Blocked), book.returned()), (300, 0, 700));
    assert_eq!(book.charge.refunds.done, money(700));
}

#[test]
fn lost_infraction_takes_precedence() {
    for (disputed, left) in [(CHARGED, 0), (600, 400)] {
        let mut book = Book::paid(CHARGED);
        book.open(disputed);
        book.open(disputed);
        assert_eq!(limits(&book), [disputed, CHARGED - disputed]);
        book.take_precedence(1, disputed);
        assert_eq!(limits(&book), [CHARGED - disputed, disputed], "siblings cannot hold the amount of the acquirer");
        assert_eq!(book.balance(Bucket::Blocked), CHARGED);
        book.lose(1);
        assert_eq!((book.returned(), book.balance(Bucket::Blocked)), (disputed, left));
        book.win(0);
        assert_eq!((book.balance(Bucket::Available), book.balance(Bucket::Blocked)), (left, 0));
        assert_eq!(book.charge.refunds.done, money(disputed));
    }
}

#[test]
fn refunded_part_is_not_held_and_failed_refund_is() {
    let mut book = Book::paid(CHARGED);
    book.refund(600);
    book.open(CHARGED);
    assert_eq!(limits(&book), [400]);
    book.settle_refund(0, false);
    assert_eq!(apportion(&book.payment, &book.charge, &book.infractions, None).unwrap().len(), 1);
    book.amend(0, CHARGED);
    assert_eq!((limits(&book), book.balance(Bucket::Blocked)), (vec![1_000], 1_000));
}

#[test]
fn infraction_on_refunded_charge_holds_nothing_and_ends() {
    let mut book = Book::paid(CHARGED);
    book.refund(CHARGED);
    book.settle_refund(0, true);
    book.open(CHARGED);
    assert_eq!((limits(&book), book.blocks.len()), (vec![0], 1));
    book.lose(0);
    assert_eq!((book.returned(), book.blocks.len(), book.charge.open_infractions), (0, 0, 0));
    assert_eq!(book.charge.refunds.done, money(CHARGED), "no amount counts twice");
}

#[test]
fn excess_is_returned_without_counting_as_refunded() {
    let mut book = Book::paid(1_500);
    book.open(1_500);
    book.lose(0);
    assert_eq!((book.returned(), book.charge.refunds.done), (1_500, money(CHARGED)));
    assert_eq!(left_of(&book.payment, &book.charge, &book.infractions).unwrap(), Money::ZERO);
    assert_eq!(book.charge.state.status().as_str(), "refunded");
}

#[test]
fn disputed_underpayment_leaves_charge_unchanged() {
    let mut book = Book::paid(300);
    book.open(CHARGED);
    assert_eq!(limits(&book), [300]);
    book.lose(0);
    assert_eq!((book.returned(), book.charge.refunds.done), (300, Money::ZERO));
    assert_eq!(book.charge.state.status().as_str(), "pending");
    assert_eq!(left_of(&book.payment, &book.charge, &book.infractions).unwrap(), Money::ZERO);
}

#[test]
fn impossible_amounts_are_bounded() {
    let mut book = Book::paid(CHARGED);
    book.open(-5);
    book.open(i64::MAX);
    assert_eq!(limits(&book), [0, 1_000]);
    book.amend(0, i64::MIN);
    assert_eq!(limits(&book), [0, 1_000]);
}

#[test]
fn changed_amount_changes_the_block() {
    let mut book = Book::paid(CHARGED);
    book.open(400);
    book.open(400);
    book.amend(0, 900);
    assert_eq!((limits(&book), book.balance(Bucket::Blocked)), (vec![900, 100], 1_000));
    book.amend(0, 100);
    assert_eq!((limits(&book), book.balance(Bucket::Blocked)), (vec![100, 400], 500));
}
