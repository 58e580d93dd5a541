//! The reads of reconciliation: payments, payouts and crypto records of all accounts in a span of time, in order, page by page.

use cais_domain::acquirer_name::AcquirerName;
use cais_domain::crypto::Withdrawal;
use cais_domain::crypto::deposit::{DepositPayment, DepositStatus, PaymentState};
use cais_domain::crypto::withdrawal::WithdrawalStatus;
use cais_domain::end_to_end_id::EndToEndId;
use cais_domain::ids::PayoutId;
use cais_domain::money::Money;
use cais_domain::payment::{CreditedPayment, Payment, PaymentRole};
use cais_domain::payout::{Payout, PayoutStatus};
use cais_ports::Write;
use jiff::ToSpan as _;

use super::Harness;
use super::harness::{after_s, instant};
use crate::builders::{
    a_deposit, a_deposit_payment, a_payment, a_payout, a_withdrawal, deposit_in_status, fresh, main_acquirer,
    payout_in_status, start, steps, withdrawal_in_status,
};

/// The list has only payments of the acquirer, in the order of their instants of receipt and then their end-to-end ids. The instant of
/// the credit and the payment's role do not matter.
pub async fn payments_are_listed_in_order(h: &mut Harness) {
    let accounts = [h.account().await, h.account().await];
    let mut written = Vec::new();
    // The second of receipt and the tail of the end-to-end id. Ids sort by bytes: digits, upper case, lower case.
    let tails = [(7, "a0"), (3, "20"), (9, "b"), (3, "01"), (5, "A0"), (7, "A9"), (3, "aa"), (6, "Ba"), (4, "9z")];
    let roles = [(1_000, PaymentRole::Settles), (30, PaymentRole::Extra), (999, PaymentRole::Short)];
    let shared = tails.map(|(second, tail)| (second, tail, main_acquirer()));
    let others = [(3, "10", other()), (9, "c", other())];
    for (((second, tail, acquirer), account), (amount, role)) in
        shared.into_iter().chain(others).zip(accounts.iter().cycle()).zip(roles.into_iter().cycle())
    {
        let mut charge = h.pending_charge(account.id).await;
        if role == PaymentRole::Extra {
            h.commit_ok(steps::confirm_payment(&charge, a_payment(1_000), after_s(-1_000))).await;
            charge = h.read_charge(&charge).await;
        }
        let credited_at = after_s(1_000 - second);
        let payment = Payment {
            end_to_end_id: named(tail),
            amount: Money::from_centavos(amount),
            paid_at: after_s(second),
            acquirer,
        };
        h.commit_ok(steps::confirm_payment(&charge, payment.clone(), credited_at)).await;
        let (account, charge, refunded_beyond) = (account.id, charge.id, Money::ZERO);
        written.push(CreditedPayment { payment, account, charge, role, credited_at, refunded_beyond });
    }
    let place = |paid: &CreditedPayment| (paid.payment.paid_at, paid.payment.end_to_end_id.clone());
    written.sort_by_key(place);
    for paid in &written {
        let found = h.store.find_payment(paid.account, &paid.payment.end_to_end_id).await.unwrap();
        assert_eq!(found.as_ref(), Some(paid));
    }
    let foreign = written.first().unwrap();
    let stranger = accounts.iter().map(|account| account.id).find(|id| *id != foreign.account).unwrap();
    assert_eq!(h.store.find_payment(stranger, &foreign.payment.end_to_end_id).await.unwrap(), None);
    let both = vec![main_acquirer(), other()];
    assert_eq!(h.store.find_acquirers(after_s(3), after_s(4)).await.unwrap(), both);
    assert_eq!(h.store.find_acquirers(after_s(4), after_s(9)).await.unwrap(), [main_acquirer()]);
    assert_eq!(h.store.find_acquirers(after_s(10), after_s(20)).await.unwrap(), []);
    let (elsewhere, written): (Vec<_>, Vec<_>) = written.into_iter().partition(|paid| paid.payment.acquirer == other());
    let page = h.store.list_payments_between(&other(), after_s(1), after_s(10), None, 50).await.unwrap();
    assert_eq!(page, elsewhere);
    let main = main_acquirer();
    for (from_s, until_s) in [(1, 10), (3, 8), (9, 10), (4, 4), (8, 3), (20, 60)] {
        let (from, until) = (after_s(from_s), after_s(until_s));
        let wanted = |paid: &&CreditedPayment| paid.payment.paid_at >= from && paid.payment.paid_at < until;
        let expected: Vec<&CreditedPayment> = written.iter().filter(wanted).collect();
        for limit in [1, 2, 9, 50] {
            let mut walked: Vec<CreditedPayment> = Vec::new();
            loop {
                let after = walked.last().map(place);
                let page = h.store.list_payments_between(&main, from, until, after, limit).await.unwrap();
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
    // The cursor need not be an existing payment.
    let after = Some((after_s(3), named("2Z")));
    let page = h.store.list_payments_between(&main, after_s(1), after_s(10), after, 1).await.unwrap();
    assert!(page.iter().eq(written.iter().skip(2).take(1)), "the third of one instant");
    let before = Some((after_s(0), named("zz")));
    let page = h.store.list_payments_between(&main, after_s(3), after_s(10), before, 50).await.unwrap();
    assert_eq!(page, written);
    let microsecond = after_s(5) + 1.microsecond();
    let page = h.store.list_payments_between(&main, after_s(5), microsecond, None, 50).await.unwrap();
    assert!(page.iter().eq(written.iter().skip(4).take(1)));
    let page = h.store.list_payments_between(&main, microsecond, after_s(6), None, 50).await.unwrap();
    assert_eq!(page, []);
}

/// The list has only payouts of the acquirer, in any state, by their ids.
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
                let page = h.store.list_payouts_between(&main_acquirer(), from, until, after, limit).await.unwrap();
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
    let main = main_acquirer();
    assert_eq!(h.store.list_payouts_between(&main, at(0), after_all, Some(beyond), 5).await.unwrap(), []);
    assert_eq!(h.store.list_payouts_between(&other(), at(0), after_all, None, 5).await.unwrap(), []);
    assert_eq!(h.store.find_acquirers(at(0), after_all).await.unwrap(), [main]);
}

/// The lists have only the records of the processor. Payments are in the order of instant and id, withdrawals in the order of id.
pub async fn crypto_records_of_a_span_are_listed_in_order(h: &mut Harness) {
    let accounts = [h.account().await.id, h.account().await.id];
    let (main, other) = (main_acquirer(), other());
    let (mut payments, mut withdrawals) = (Vec::new(), Vec::new());
    for (status, account) in WithdrawalStatus::ALL.repeat(2).into_iter().zip(accounts.into_iter().cycle()) {
        let withdrawal = a_withdrawal(account);
        let created_at = instant(withdrawal.id);
        let withdrawal = withdrawal_in_status(Withdrawal { created_at, ..withdrawal }, status);
        h.commit_ok(steps::write(Write::insert(withdrawal.clone()), start())).await;
        withdrawals.push(Withdrawal { version: 1, ..withdrawal });
    }
    for (second, account) in [7, 3, 5, 3, 9].into_iter().zip(accounts.into_iter().cycle()) {
        let deposit = deposit_in_status(a_deposit(account), DepositStatus::Completed);
        h.commit_ok(steps::write(Write::insert(deposit.clone()), start())).await;
        let payment =
            DepositPayment { created_at: after_s(second), ..a_deposit_payment(&deposit, PaymentState::Credited) };
        h.commit_ok(steps::write(Write::insert(payment.clone()), start())).await;
        payments.push(DepositPayment { version: 1, ..payment });
    }
    let place = |payment: &DepositPayment| (payment.created_at, payment.id.clone());
    payments.sort_by_key(place);
    for (from_s, until_s) in [(0, 10), (3, 9), (3, 7), (4, 4), (9, 3)] {
        let (from, until) = (after_s(from_s), after_s(until_s));
        let wanted = |payment: &&DepositPayment| payment.created_at >= from && payment.created_at < until;
        let expected: Vec<&DepositPayment> = payments.iter().filter(wanted).collect();
        for limit in [1, 2, 50] {
            let mut walked: Vec<DepositPayment> = Vec::new();
            loop {
                let after = walked.last().map(place);
                let page = h.store.list_crypto_payments_between(&main, from, until, after, limit).await.unwrap();
                if page.is_empty() {
                    break;
                }
                walked.extend(page);
                assert!(walked.len() <= payments.len(), "a list without end");
            }
            assert!(walked.iter().eq(expected.iter().copied()), "{from_s} to {until_s}, limit {limit}: {walked:#?}");
        }
    }
    let at = |place: usize| withdrawals.get(place).unwrap().created_at;
    let after_all = withdrawals.last().unwrap().created_at + 1_i64.microsecond();
    for (from, until) in [(at(0), after_all), (at(2), at(6)), (at(4), at(4)), (at(6), at(2))] {
        let wanted = |one: &&Withdrawal| one.created_at >= from && one.created_at < until;
        let expected: Vec<&Withdrawal> = withdrawals.iter().filter(wanted).collect();
        for limit in [1, 3, 50] {
            let mut walked: Vec<Withdrawal> = Vec::new();
            loop {
                let after = walked.last().map(|withdrawal| withdrawal.id);
                let page = h.store.list_crypto_withdrawals_between(&main, from, until, after, limit).await.unwrap();
                if page.is_empty() {
                    break;
                }
                walked.extend(page);
                assert!(walked.len() <= withdrawals.len(), "a list without end");
            }
            assert!(walked.iter().eq(expected.iter().copied()), "{from} to {until}, limit {limit}: {walked:#?}");
        }
    }
    assert_eq!(h.store.list_crypto_payments_between(&other, start(), after_s(60), None, 5).await.unwrap(), []);
    assert_eq!(h.store.list_crypto_withdrawals_between(&other, at(0), after_all, None, 5).await.unwrap(), []);
    assert_eq!(h.store.find_acquirers(after_s(3), after_s(4)).await.unwrap(), std::slice::from_ref(&main));
    assert_eq!(h.store.find_acquirers(at(0), after_all).await.unwrap(), [main]);
}

fn other() -> AcquirerName {
    AcquirerName::parse("second").unwrap()
}

/// Returns an end-to-end id with this tail, padded with zeros at its end. The id sorts before all ids that the builders create.
fn named(tail: &str) -> EndToEndId {
    EndToEndId::compose("00000000", start(), &format!("{tail:0<11}")).unwrap()
}
