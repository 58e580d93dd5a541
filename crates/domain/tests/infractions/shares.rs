//! What of a Pix is left for its infractions, and how it is divided among them.

use cais_domain::infraction::{apportion, left_of};
use cais_domain::ledger::Bucket;
use cais_domain::money::Money;

use crate::book::{Book, CHARGED, money};

fn limits(book: &Book) -> Vec<i64> {
    book.infractions.iter().map(|infraction| infraction.limit.centavos()).collect()
}

#[test]
fn two_on_one_pix_never_hold_more_than_it_brought() {
    let mut book = Book::paid(CHARGED);
    book.open(700);
    book.open(700);
    assert_eq!((limits(&book), book.balance(Bucket::Blocked)), (vec![700, 300], 1_000));
    book.win(0);
    assert_eq!(limits(&book)[1], 700, "what the first leaves is there for the second");
    assert_eq!((book.balance(Bucket::Available), book.balance(Bucket::Blocked)), (300, 700));
    book.lose(1);
    assert_eq!((book.balance(Bucket::Available), book.balance(Bucket::Blocked), book.returned()), (300, 0, 700));
    assert_eq!(book.charge.refunds.done, money(700));
}

#[test]
fn what_is_lost_has_the_first_claim() {
    for (disputed, left) in [(CHARGED, 0), (600, 400)] {
        let mut book = Book::paid(CHARGED);
        book.open(disputed);
        book.open(disputed);
        assert_eq!(limits(&book), [disputed, CHARGED - disputed]);
        book.claim_first(1, disputed);
        assert_eq!(limits(&book), [CHARGED - disputed, disputed], "what its acquirer took nobody else can");
        assert_eq!(book.balance(Bucket::Blocked), CHARGED);
        book.lose(1);
        assert_eq!((book.returned(), book.balance(Bucket::Blocked)), (disputed, left));
        book.win(0);
        assert_eq!((book.balance(Bucket::Available), book.balance(Bucket::Blocked)), (left, 0));
        assert_eq!(book.charge.refunds.done, money(disputed));
    }
}

#[test]
fn what_was_refunded_is_not_held_and_what_failed_to_be_is() {
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
fn one_on_a_charge_that_was_refunded_holds_nothing_and_still_has_an_end() {
    let mut book = Book::paid(CHARGED);
    book.refund(CHARGED);
    book.settle_refund(0, true);
    book.open(CHARGED);
    assert_eq!((limits(&book), book.blocks.len()), (vec![0], 1));
    book.lose(0);
    assert_eq!((book.returned(), book.blocks.len(), book.charge.open_infractions), (0, 0, 0));
    assert_eq!(book.charge.refunds.done, money(CHARGED), "nothing is counted twice");
}

#[test]
fn what_was_paid_beyond_the_charge_goes_back_without_being_refunded() {
    let mut book = Book::paid(1_500);
    book.open(1_500);
    book.lose(0);
    assert_eq!((book.returned(), book.charge.refunds.done), (1_500, money(CHARGED)));
    assert_eq!(left_of(&book.payment, &book.charge, &book.infractions).unwrap(), Money::ZERO);
    assert_eq!(book.charge.state.status().as_str(), "refunded");
}

#[test]
fn a_pix_below_its_charge_can_be_disputed_without_changing_the_charge() {
    let mut book = Book::paid(300);
    book.open(CHARGED);
    assert_eq!(limits(&book), [300]);
    book.lose(0);
    assert_eq!((book.returned(), book.charge.refunds.done), (300, Money::ZERO));
    assert_eq!(book.charge.state.status().as_str(), "pending");
    assert_eq!(left_of(&book.payment, &book.charge, &book.infractions).unwrap(), Money::ZERO);
}

#[test]
fn amounts_that_cannot_be_are_bounded() {
    let mut book = Book::paid(CHARGED);
    book.open(-5);
    book.open(i64::MAX);
    assert_eq!(limits(&book), [0, 1_000]);
    book.amend(0, i64::MIN);
    assert_eq!(limits(&book), [0, 1_000]);
}

#[test]
fn an_amount_that_changes_moves_what_is_held() {
    let mut book = Book::paid(CHARGED);
    book.open(400);
    book.open(400);
    book.amend(0, 900);
    assert_eq!((limits(&book), book.balance(Bucket::Blocked)), (vec![900, 100], 1_000));
    book.amend(0, 100);
    assert_eq!((limits(&book), book.balance(Bucket::Blocked)), (vec![100, 400], 500));
}
