//! What reconciliation compares: payments and payouts of all accounts in a span of time, in order, page by page.

use cais_domain::end_to_end_id::EndToEndId;
use cais_domain::ids::PayoutId;
use cais_domain::money::Money;
use cais_domain::payment::{CreditedPayment, Payment, PaymentRole};
use cais_domain::payout::{Payout, PayoutStatus};
use jiff::ToSpan as _;

use super::Harness;
use super::harness::{after_s, instant};
use crate::builders::{a_payment, a_payout, fresh, main_acquirer, payout_in_status, start, steps};

/// By their end-to-end ids, whenever they were credited and whatever they were to their charges.
pub async fn payments_are_listed_in_order(h: &mut Harness) {
    let accounts = [h.account().await, h.account().await];
    let mut written = Vec::new();
    // In the order of bytes: digits, then upper case, then lower case. By the second at which they were received.
    let tails = [(7, "a0"), (3, "20"), (9, "b"), (1, "00"), (5, "A0"), (8, "aa"), (2, "01"), (6, "Ba"), (4, "9z")];
    let roles = [(1_000, PaymentRole::Settles), (30, PaymentRole::Extra), (999, PaymentRole::Short)];
    for (((second, tail), account), (amount, role)) in
        tails.into_iter().zip(accounts.iter().cycle()).zip(roles.into_iter().cycle())
    {
        let mut charge = h.pending_charge(account.id).await;
        if role == PaymentRole::Extra {
            h.good(steps::confirm_payment(&charge, a_payment(1_000), after_s(-1_000))).await;
            charge = h.read_charge(&charge).await;
        }
        let credited_at = after_s(1_000 - second);
        let payment = Payment {
            end_to_end_id: named(tail),
            amount: Money::from_centavos(amount),
            paid_at: after_s(second),
            acquirer: main_acquirer(),
        };
        h.good(steps::confirm_payment(&charge, payment.clone(), credited_at)).await;
        written.push(CreditedPayment { payment, account: account.id, charge: charge.id, role, credited_at });
    }
    written.sort_by(|one, other| one.payment.end_to_end_id.cmp(&other.payment.end_to_end_id));
    for (from_s, until_s) in [(1, 10), (3, 8), (9, 10), (4, 4), (8, 3), (20, 60)] {
        let (from, until) = (after_s(from_s), after_s(until_s));
        let wanted = |paid: &&CreditedPayment| paid.payment.paid_at >= from && paid.payment.paid_at < until;
        let expected: Vec<&CreditedPayment> = written.iter().filter(wanted).collect();
        for limit in [1, 2, 9, 50] {
            let mut walked: Vec<CreditedPayment> = Vec::new();
            loop {
                let after = walked.last().map(|paid| paid.payment.end_to_end_id.clone());
                let page = h.store.list_payments_between(from, until, after, limit).await.unwrap();
                assert!(page.len() <= usize::try_from(limit).unwrap());
                if page.is_empty() {
                    break;
                }
                walked.extend(page);
                assert!(walked.len() <= written.len(), "a list without end");
            }
            assert!(walked.iter().eq(expected.iter().copied()), "{from_s} to {until_s}, limit {limit}: {walked:#?}");
        }
    }
    // The place after which a page goes on need not be there.
    let after = Some(named("2Z"));
    let page = h.store.list_payments_between(after_s(1), after_s(10), after, 1).await.unwrap();
    assert!(page.iter().eq(written.iter().skip(3).take(1)));
    let microsecond = after_s(5) + 1.microsecond();
    let page = h.store.list_payments_between(after_s(5), microsecond, None, 50).await.unwrap();
    assert!(page.iter().eq(written.iter().skip(4).take(1)));
    let page = h.store.list_payments_between(microsecond, after_s(6), None, 50).await.unwrap();
    assert_eq!(page, []);
}

/// In whatever state, by their ids.
pub async fn payouts_are_listed_in_order(h: &mut Harness) {
    let accounts = [h.account().await.id, h.account().await.id];
    let mut written = Vec::new();
    for (status, account) in PayoutStatus::ALL.repeat(2).into_iter().zip(accounts.into_iter().cycle()) {
        let payout = a_payout(account);
        let created_at = instant(payout.id);
        written.push(h.payout(payout_in_status(Payout { created_at, ..payout }, status)).await);
    }
    let at = |place: usize| written.get(place).unwrap().created_at;
    let after_all = at(11) + 1.microsecond();
    for (from, until) in
        [(at(0), after_all), (at(0), at(11)), (at(3), at(8)), (at(4), at(4)), (at(8), at(3)), (after_all, start())]
    {
        let expected: Vec<&Payout> =
            written.iter().filter(|payout| payout.created_at >= from && payout.created_at < until).collect();
        for limit in [1, 5, 12, 50] {
            let mut walked: Vec<Payout> = Vec::new();
            loop {
                let after = walked.last().map(|payout| payout.id);
                let page = h.store.list_payouts_between(from, until, after, limit).await.unwrap();
                assert!(page.len() <= usize::try_from(limit).unwrap());
                if page.is_empty() {
                    break;
                }
                walked.extend(page);
                assert!(walked.len() <= written.len(), "a list without end");
            }
            assert!(walked.iter().eq(expected.iter().copied()), "{from} to {until}, limit {limit}: {walked:#?}");
        }
    }
    let beyond: PayoutId = fresh();
    assert_eq!(h.store.list_payouts_between(at(0), after_all, Some(beyond), 5).await.unwrap(), []);
}

/// An end-to-end id that ends like this, filled up behind it; before all that the builders make.
fn named(tail: &str) -> EndToEndId {
    EndToEndId::compose("00000000", start(), &format!("{tail:0<11}")).unwrap()
}
