//! Splits: stored with their charge, credited to several accounts in one commit, even while those accounts send payouts.

use cais_domain::charge::Charge;
use cais_domain::ids::AccountId;
use cais_domain::money::Money;
use cais_domain::payout::Payout;

use super::Harness;
use super::harness::{after_s, commit_concurrently};
use crate::builders::{a_payment, a_payout, a_split, pending_charge, steps};

/// The number of rounds of the race.
const ROUNDS: usize = 4;
/// The number of each account's charges that are paid in a round, and of its payouts. All of them are committed concurrently.
const OF_EACH: usize = 12;

/// Each beneficiary gets its part at once, and the creator the rest after the delay. A part that is rounded to zero makes no transfer.
pub async fn parts_of_a_charge_are_credited_together(h: &mut Harness) {
    let [creator, one, other, tiny] = accounts(h).await;
    let mut charge = pending_charge(creator);
    charge.terms.split = a_split(&[(one, "33.3333"), (other, "50"), (tiny, "0.0001")]);
    let charge = h.paid_charge(charge, 600).await;
    // The exact parts of the net value of 940 centavos: 313.33…, 470 and 0.00094.
    assert_eq!(h.balances(one).await, [313, 0, 0, 0]);
    assert_eq!(h.balances(other).await, [470, 0, 0, 0]);
    assert_eq!(h.balances(tiny).await, [0; 4]);
    assert_eq!(h.balances(creator).await, [0, 157, 0, 0]);
    let parts = &charge.state.settlement().unwrap().parts;
    assert_eq!(*parts, [313, 470, 0].map(Money::from_centavos));
    assert_eq!(h.store.last_sequence(one).await.unwrap(), 0, "a beneficiary has no event of another account's charge");

    let again = steps::credit_payment(&charge, a_payment(7), 0, after_s(2));
    h.commit_ok(again).await;
    assert_eq!(h.balances(creator).await, [7, 157, 0, 0], "only the amount of the charge is shared");
    assert_eq!(h.balances(one).await, [313, 0, 0, 0]);
}

/// With a split of the whole net value, no money is left or pending for the creator.
pub async fn charge_can_be_split_whole(h: &mut Harness) {
    let [creator, one, other, _] = accounts(h).await;
    let mut charge = pending_charge(creator);
    charge.terms.split = a_split(&[(one, "60"), (other, "40")]);
    h.paid_charge(charge, 600).await;
    assert_eq!(h.balances(creator).await, [0; 4]);
    assert_eq!(h.balances(one).await, [564, 0, 0, 0]);
    assert_eq!(h.balances(other).await, [376, 0, 0, 0]);
    assert_eq!(h.store.list_due_releases(after_s(100_000), 50).await.unwrap(), []);
}

/// The charges of each of four accounts pay the three others, in changing order, while all four send payouts. No deadlock occurs, and
/// every centavo arrives.
pub async fn splits_race_with_payouts_of_their_beneficiaries(h: &mut Harness) {
    let accounts = accounts(h).await;
    for account in accounts {
        h.fund(account, 1_050 * i64::try_from(ROUNDS * OF_EACH).unwrap()).await;
    }
    for round in 0..ROUNDS {
        let mut changes = Vec::new();
        for index in 0..OF_EACH {
            for (place, creator) in accounts.into_iter().enumerate() {
                let mut others: Vec<AccountId> = accounts.into_iter().filter(|other| *other != creator).collect();
                others.rotate_left((index + round) % 3);
                let mut charge = pending_charge(creator);
                let shares: Vec<_> = others.into_iter().zip(["10", "20", "30"]).collect();
                charge.terms.split = a_split(&shares);
                let charge = h.charge(charge).await;
                changes.push(steps::confirm_payment(&charge, a_payment(1_000), after_s(1)));
                let payout = steps::open_payout(&a_payout(creator));
                let between = (place + index) % changes.len();
                changes.insert(between, payout);
            }
        }
        let outcomes = commit_concurrently(&h.store, changes).await;
        assert!(outcomes.iter().all(Result::is_ok), "{outcomes:?}");
    }
    // The parts of 940 centavos are exact: 94, 188 and 282 are credited to the others, and 376 stay with the creator. Each account has each
    // position in the splits equally often, so all accounts receive the same sum.
    let rounds = i64::try_from(ROUNDS * OF_EACH).unwrap();
    for account in accounts {
        assert_eq!(h.balances(account).await, [940 * rounds, 0, 0, 1_050 * rounds]);
    }
}

/// The shares and parts of a charge are read back with it, in their order.
pub async fn split_is_read_back_with_its_charge(h: &mut Harness) {
    let [creator, one, other, tiny] = accounts(h).await;
    for shares in [vec![(one, "100")], vec![(other, "0.0001"), (tiny, "99.9998"), (one, "0.0001")]] {
        let split = a_split(&shares);
        let charge = Charge { terms: with(split.clone()), ..pending_charge(creator) };
        let stored = h.charge(charge).await;
        assert_eq!(h.read_charge(&stored).await, stored);
        let paid = steps::confirm_payment(&stored, a_payment(1_000), after_s(1));
        h.commit_ok(paid).await;
        let read = h.read_charge(&stored).await;
        assert_eq!(read.terms.split, split);
        let parts = &read.state.settlement().unwrap().parts;
        assert_eq!(parts.len(), shares.len());
        let listed = h.store.find_charge_by_txid(&stored.txid).await.unwrap();
        assert_eq!(listed, Some(read));
    }
}

/// A beneficiary's payout may spend the credit of a split, and not a centavo more.
pub async fn part_can_be_spent_at_once(h: &mut Harness) {
    let [creator, one, ..] = accounts(h).await;
    let mut charge = pending_charge(creator);
    charge.terms.amount = Money::from_centavos(1_110);
    charge.terms.split = a_split(&[(one, "100")]);
    h.paid_charge(charge, 600).await;
    let payouts: [Payout; 2] = [a_payout(one), a_payout(one)];
    h.commit_ok(steps::open_payout(&payouts[0])).await;
    assert_eq!(h.balances(one).await, [0, 0, 0, 1_050]);
    assert!(h.commit(steps::open_payout(&payouts[1])).await.is_err());
}

fn with(split: cais_domain::split::Split) -> cais_domain::charge::ChargeTerms {
    cais_domain::charge::ChargeTerms { split, ..crate::builders::terms() }
}

async fn accounts(h: &Harness) -> [AccountId; 4] {
    [h.account().await.id, h.account().await.id, h.account().await.id, h.account().await.id]
}
