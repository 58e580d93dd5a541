//! Crypto quotes, deposits, payments and withdrawals are read back exactly as written, are guarded by their versions, and are found and
//! listed.

use cais_domain::acquirer_name::AcquirerName;
use cais_domain::crypto::deposit::{
    Arrival, ArrivedCoins, DepositPayment, DepositState, DepositStatus, PaymentReview, PaymentState, Received,
    Resolution,
};
use cais_domain::crypto::withdrawal::{WithdrawalPrice, WithdrawalState, WithdrawalStatus, WithdrawalStep};
use cais_domain::crypto::{CryptoAmount, Currency, Deposit, Quote, Side, Withdrawal};
use cais_domain::external_id::ExternalId;
use cais_domain::fee::FeeRule;
use cais_domain::money::Money;
use cais_domain::rate::Percentage;
use cais_domain::text::{LineBreaks, Text};
use cais_ports::{
    AnyRecord, ChangeSet, CommitError, Page, PageRequest, PruneBefore, Reservation, ReservationKey, Versioned, Write,
};
use futures_util::future::join_all;

use super::Harness;
use super::harness::{after_s, walk};
use crate::builders::{
    a_deposit, a_deposit_payment, a_postback, a_processor_id, a_quote, a_withdrawal, an_endpoint, deposit_in_status,
    fresh, main_acquirer, start, steps, usdt, withdrawal_in_status,
};

async fn insert(h: &Harness, record: impl Into<AnyRecord>) {
    h.commit_ok(steps::write(Write::insert(record), start())).await;
}

async fn update(h: &Harness, record: impl Versioned) {
    h.commit_ok(steps::write(Write::update(record), start())).await;
}

/// Each quote is read back before and after its use, with every part of a fee rule. Another account does not find the quote.
pub async fn crypto_quotes_come_back(h: &mut Harness) {
    let account = h.account().await.id;
    for side in Side::ALL {
        let mut quote = a_quote(account, side);
        let (min, max) = (Some(Money::from_centavos(1)), Some(Money::from_centavos(i64::MAX)));
        quote.prices.fee_rule = FeeRule::try_new(Money::ZERO, Percentage::parse("99.9999").unwrap(), min, max).unwrap();
        insert(h, quote.clone()).await;
        let read = Quote { version: 1, ..quote };
        assert_eq!(h.store.find_crypto_quote(account, read.id).await.unwrap(), Some(read.clone()));
        let used = Quote { used_by: Some("cdp_1".to_owned()), ..read };
        update(h, used.clone()).await;
        let read = Quote { version: 2, ..used };
        assert_eq!(h.store.find_crypto_quote(account, read.id).await.unwrap(), Some(read.clone()));
        assert_eq!(h.store.find_crypto_quote(fresh(), read.id).await.unwrap(), None);
    }
}

/// Of two uses of the same version, the second is refused.
pub async fn crypto_quote_is_used_once(h: &mut Harness) {
    let quote = a_quote(h.account().await.id, Side::Withdrawal);
    insert(h, quote.clone()).await;
    let used = |by: &str| Quote { used_by: Some(by.to_owned()), version: 1, ..quote.clone() };
    update(h, used("cwd_1")).await;
    let again = h.commit(steps::write(Write::update(used("cwd_2")), start())).await;
    assert_eq!(again, Err(CommitError::Stale));
    let stored = h.store.find_crypto_quote(quote.account, quote.id).await.unwrap().unwrap();
    assert_eq!(stored.used_by.as_deref(), Some("cwd_1"));
}

/// The newest quote of a currency is found among the quotes of all accounts.
pub async fn newest_crypto_quote_is_found_by_currency(h: &mut Harness) {
    let accounts = [h.account().await.id, h.account().await.id];
    let mut last = None;
    for account in accounts {
        let mut other = a_quote(account, Side::Deposit);
        other.terms.currency = Currency::Trx;
        other.prices.coins = CryptoAmount::parse(Currency::Trx, "1").unwrap();
        let quote = a_quote(account, Side::Deposit);
        insert(h, quote.clone()).await;
        insert(h, other).await;
        last = Some(Quote { version: 1, ..quote });
    }
    assert_eq!(h.store.find_newest_crypto_quote(Currency::UsdtErc20).await.unwrap(), last);
    assert_eq!(h.store.find_newest_crypto_quote(Currency::Ltc).await.unwrap(), None);
}

/// Each deposit is read back after its insert, and after an update to each state, with all optional values and with none.
pub async fn crypto_deposits_come_back_in_every_state(h: &mut Harness) {
    let account = h.account().await.id;
    for status in DepositStatus::ALL {
        let mut deposit = a_deposit(account);
        deposit.terms.description = Some(Text::parse("Pedido\n1 ã", 140, LineBreaks::Allowed).unwrap());
        deposit.terms.external_id = Some(ExternalId::parse(&format!("order {status:?}")).unwrap());
        deposit.terms.postback = Some(a_postback(&an_endpoint(account, 0)));
        for deposit in [deposit, a_deposit(account)] {
            insert(h, deposit.clone()).await;
            let read = Deposit { version: 1, ..deposit };
            assert_eq!(h.store.find_crypto_deposit(account, read.id).await.unwrap(), Some(read.clone()));
            let mut moved = deposit_in_status(read, status);
            (moved.tx_hash, moved.attempts) = (Some("0xabc".to_owned()), 7);
            if let DepositState::Pending(issued) = &mut moved.state {
                issued.extra_id = Some("memo".to_owned());
            }
            update(h, moved.clone()).await;
            let read = Deposit { version: 2, ..moved };
            assert_eq!(h.store.find_crypto_deposit(account, read.id).await.unwrap(), Some(read.clone()));
            assert_eq!(h.store.find_crypto_deposit(fresh(), read.id).await.unwrap(), None);
        }
        for resolution in Resolution::ALL {
            let credited = deposit_in_status(a_deposit(account), DepositStatus::Completed);
            let written = Deposit { resolution: Some(resolution), ..credited };
            insert(h, written.clone()).await;
            let read = Deposit { version: 1, ..written };
            assert_eq!(h.store.find_crypto_deposit(account, read.id).await.unwrap(), Some(read));
        }
    }
}

/// The deposit is found by the processor's payment id, which is reserved when the address is issued.
pub async fn crypto_deposit_is_found_by_its_payment(h: &mut Harness) {
    let deposit = deposit_in_status(a_deposit(h.account().await.id), DepositStatus::Pending);
    let (processor, payment) = (main_acquirer(), a_processor_id());
    let key = ReservationKey::crypto_payment(&processor, &payment);
    let reservation = Reservation { key, account: deposit.account, owner: deposit.id.to_string() };
    let mut change: ChangeSet = steps::write(Write::insert(deposit.clone()), start());
    change.reserve.push(reservation.clone());
    h.commit_ok(change).await;
    let found = h.store.find_crypto_deposit_of_payment(&processor, &payment).await.unwrap();
    assert_eq!(found, Some(Deposit { version: 1, ..deposit.clone() }));
    let other = AcquirerName::parse("other").unwrap();
    assert_eq!(h.store.find_crypto_deposit_of_payment(&other, &payment).await.unwrap(), None);
    assert_eq!(h.store.find_crypto_deposit_of_payment(&processor, &a_processor_id()).await.unwrap(), None);
    let mut again: ChangeSet = steps::write(Write::insert(a_deposit(deposit.account)), start());
    again.reserve.push(reservation);
    assert!(matches!(h.commit(again).await, Err(CommitError::Taken { .. })), "a payment id belongs to one deposit");
}

/// The pages contain the visible records of the account, the newest first.
pub async fn crypto_lists_show_visible_records_of_the_account(h: &mut Harness) {
    let (account, other) = (h.account().await.id, h.account().await.id);
    let (mut deposits, mut withdrawals) = (Vec::new(), Vec::new());
    for account in [account, other] {
        for status in DepositStatus::ALL {
            let deposit = deposit_in_status(a_deposit(account), status);
            insert(h, deposit.clone()).await;
            deposits.push(Deposit { version: 1, ..deposit });
        }
        for status in WithdrawalStatus::ALL {
            let withdrawal = withdrawal_in_status(a_withdrawal(account), status);
            insert(h, withdrawal.clone()).await;
            withdrawals.push(Withdrawal { version: 1, ..withdrawal });
        }
    }
    deposits.retain(|deposit| deposit.account == account && deposit.is_visible());
    withdrawals.retain(|withdrawal| withdrawal.account == account && withdrawal.is_visible());
    deposits.reverse();
    withdrawals.reverse();
    for limit in [1, 3, 50] {
        let read = async |page| h.store.list_crypto_deposits(account, page).await.unwrap();
        assert_eq!(walk(limit, |deposit: &Deposit| deposit.id, read).await, deposits, "limit {limit}");
        let read = async |page| h.store.list_crypto_withdrawals(account, page).await.unwrap();
        assert_eq!(walk(limit, |withdrawal: &Withdrawal| withdrawal.id, read).await, withdrawals, "limit {limit}");
    }
    let nothing: Page<Deposit> =
        h.store.list_crypto_deposits(fresh(), PageRequest { limit: 5, starting_after: None }).await.unwrap();
    assert_eq!(nothing, Page { rows: Vec::new(), has_more: false });
}

/// The list has the records of all accounts, the longest overdue first.
pub async fn due_crypto_records_come_longest_overdue_first(h: &mut Harness) {
    let accounts = [h.account().await.id, h.account().await.id];
    let (mut deposits, mut withdrawals) = (Vec::new(), Vec::new());
    for (due_s, account) in [40, 10, 30, 20].into_iter().zip(accounts.into_iter().cycle()) {
        let deposit = deposit_in_status(a_deposit(account), DepositStatus::Confirming);
        let deposit = Deposit { due_at: Some(after_s(due_s)), ..deposit };
        insert(h, deposit.clone()).await;
        deposits.push((due_s, deposit.id));
        let withdrawal = withdrawal_in_status(a_withdrawal(account), WithdrawalStatus::Processing);
        let withdrawal = Withdrawal { due_at: Some(after_s(due_s)), ..withdrawal };
        insert(h, withdrawal.clone()).await;
        withdrawals.push((due_s, withdrawal.id));
    }
    deposits.sort_unstable();
    withdrawals.sort_unstable();
    for (now_s, limit, expected) in [(5, 9, 0), (10, 9, 1), (35, 9, 3), (35, 2, 2), (60, 9, 4)] {
        let due = h.store.list_due_crypto_deposits(after_s(now_s), limit).await.unwrap();
        let ids = deposits.iter().map(|(_, id)| *id).take(expected);
        assert!(due.iter().map(|deposit| deposit.id).eq(ids), "deposits after {now_s} s, at most {limit}");
        let due = h.store.list_due_crypto_withdrawals(after_s(now_s), limit).await.unwrap();
        let ids = withdrawals.iter().map(|(_, id)| *id).take(expected);
        assert!(due.iter().map(|withdrawal| withdrawal.id).eq(ids), "withdrawals after {now_s} s, at most {limit}");
    }
}

/// The payments have each state and each review reason, with supported and unsupported coins. The list for review has only the
/// payments in review.
pub async fn deposit_payments_come_back_and_wait_for_review(h: &mut Harness) {
    let deposit = a_deposit(h.account().await.id);
    insert(h, deposit.clone()).await;
    let unsupported = ArrivedCoins::Unsupported { currency: "doge".to_owned(), amount: "1000.50".to_owned() };
    let states = PaymentReview::ALL.map(|reason| [PaymentState::Review(reason), PaymentState::Dismissed(reason)]);
    let states = states.into_iter().flatten().chain([PaymentState::Credited]);
    let (mut all, mut waiting) = (Vec::new(), Vec::new());
    for (second, state) in (0..).zip(states) {
        for coins in [ArrivedCoins::Supported(usdt("0.000001")), unsupported.clone()] {
            let new = DepositPayment {
                coins,
                created_at: after_s(second),
                ..a_deposit_payment(&deposit, PaymentState::Credited)
            };
            insert(h, new.clone()).await;
            let tx_hash = Some("0xabc".to_owned());
            let changed = DepositPayment {
                state,
                tx_hash,
                gross: Money::from_centavos(200),
                fee: Money::ZERO,
                version: 1,
                ..new
            };
            update(h, changed.clone()).await;
            let read = DepositPayment { version: 2, ..changed };
            if let PaymentState::Review(_) = state {
                waiting.push(read.clone());
            }
            all.push(read);
        }
    }
    all.sort_by(|one, other| one.id.cmp(&other.id));
    assert_eq!(h.store.list_deposit_payments(deposit.account, deposit.id, 50).await.unwrap(), all);
    assert_eq!(h.store.list_deposit_payments(fresh(), deposit.id, 50).await.unwrap(), []);
    assert_eq!(
        h.store.list_deposit_payments(deposit.account, deposit.id, 1).await.unwrap().as_slice(),
        all.get(..1).unwrap()
    );
    let mut review = h.store.list_payments_for_review(50).await.unwrap();
    assert!(review.is_sorted_by_key(|payment| payment.created_at), "the longest waiting comes first");
    review.sort_by(|one, other| one.id.cmp(&other.id));
    waiting.sort_by(|one, other| one.id.cmp(&other.id));
    assert_eq!(review, waiting);
}

/// Concurrent updates with consecutive versions are all accepted, also in one batch. The test uses a payment, because the key of its row
/// has three columns.
pub async fn updates_of_one_payment_in_a_batch_follow_each_other(h: &mut Harness) {
    let deposit = a_deposit(h.account().await.id);
    insert(h, deposit.clone()).await;
    let payment = a_deposit_payment(&deposit, PaymentState::Credited);
    insert(h, payment.clone()).await;
    let updates = (1..=20).map(|version| {
        let changed = DepositPayment { fee: Money::from_centavos(version), version, ..payment.clone() };
        h.commit(steps::write(Write::update(changed), start()))
    });
    for outcome in join_all(updates).await {
        outcome.unwrap();
    }
    let stored = h.store.list_deposit_payments(deposit.account, deposit.id, 50).await.unwrap();
    let stored: Vec<_> = stored.iter().map(|payment| (payment.version, payment.fee.centavos())).collect();
    assert_eq!(stored, [(21, 20)]);
}

/// The audit compares the entries of a deposit with the sums in the deposit and in its payments.
pub async fn credited_crypto_deposit_agrees_with_the_ledger(h: &mut Harness) {
    let deposit = deposit_in_status(a_deposit(h.account().await.id), DepositStatus::Pending);
    insert(h, deposit.clone()).await;
    let coins = ArrivedCoins::Supported(deposit.price.coins);
    let arrival = Arrival { id: a_processor_id(), coins, tx_hash: None, seen_at: start() };
    let received = Deposit { version: 1, ..deposit }.receive(None, arrival, start()).unwrap();
    let Received::Credited(resolved) = received else { unreachable!("{received:?}") };
    let writes = vec![Write::update(resolved.deposit.clone()), Write::insert(resolved.payment.clone())];
    h.commit_ok(ChangeSet { writes, transfers: resolved.transfers, ..ChangeSet::new(start()) }).await;
    h.audit().await;
    let mut other = Deposit { version: 2, ..resolved.deposit.clone() };
    other.credited.gross = Money::from_centavos(9_999);
    update(h, other).await;
    assert_eq!(h.store.verify_ledger().await.unwrap().differences.len(), 1);
    update(h, Deposit { version: 3, ..resolved.deposit }).await;
    h.audit().await;
    update(h, DepositPayment { fee: Money::ZERO, version: 1, ..resolved.payment.clone() }).await;
    assert_eq!(h.store.verify_ledger().await.unwrap().differences.len(), 1);
    update(h, DepositPayment { version: 2, ..resolved.payment }).await;
    h.audit().await;
}

/// The audit reports a stored fee that differs from the booked fee.
pub async fn completed_crypto_withdrawal_agrees_with_the_ledger(h: &mut Harness) {
    let account = h.account().await.id;
    h.fund(account, 100_000).await;
    let withdrawal = a_withdrawal(account);
    let mut pending = ChangeSet { transfers: withdrawal.hold(), ..ChangeSet::new(start()) };
    pending.writes.push(Write::insert(withdrawal.clone()));
    h.commit_ok(pending).await;
    h.audit().await;
    let step = Withdrawal { version: 1, ..withdrawal }.complete(None, None, start()).unwrap();
    let WithdrawalStep::Taken { withdrawal, transfers, .. } = step else { unreachable!("{step:?}") };
    h.commit_ok(ChangeSet { writes: vec![Write::update(*withdrawal.clone())], transfers, ..ChangeSet::new(start()) })
        .await;
    h.audit().await;
    let stored = Withdrawal { version: 2, ..*withdrawal };
    let price = WithdrawalPrice { fee: Money::from_centavos(1), ..stored.price.clone() };
    update(h, Withdrawal { price, ..stored.clone() }).await;
    assert_eq!(h.store.verify_ledger().await.unwrap().differences.len(), 1);
    update(h, Withdrawal { version: 3, ..stored }).await;
    h.audit().await;
}

/// A used quote stays, because it explains its operation. A quote that expired recently stays, because the next rate is compared with
/// it.
pub async fn expired_unused_crypto_quotes_are_removed(h: &mut Harness) {
    let account = h.account().await.id;
    let [unused, used, young] = [0, 0, 100].map(|second| {
        let quote = a_quote(account, Side::Deposit);
        Quote { expires_at: after_s(second), ..quote }
    });
    let used = Quote { used_by: Some("cdp_1".to_owned()), ..used };
    for quote in [&unused, &used, &young] {
        insert(h, quote.clone()).await;
    }
    let before = PruneBefore { idempotency_records: start(), marks: after_s(100), events: start(), requests: start() };
    assert_eq!(h.store.prune(before).await.unwrap().crypto_quotes, 1);
    assert_eq!(h.store.prune(before).await.unwrap().crypto_quotes, 0);
    let is_there = async |quote: &Quote| h.store.find_crypto_quote(account, quote.id).await.unwrap().is_some();
    assert_eq!((is_there(&unused).await, is_there(&used).await, is_there(&young).await), (false, true, true));
}

/// Each withdrawal is read back after its insert, and after an update to each state, with optional values and without.
pub async fn crypto_withdrawals_come_back_in_every_state(h: &mut Harness) {
    let account = h.account().await.id;
    for status in WithdrawalStatus::ALL {
        let mut withdrawal = a_withdrawal(account);
        withdrawal.terms.description = Some(Text::parse("Pedido\n1 ã", 140, LineBreaks::Allowed).unwrap());
        withdrawal.terms.external_id = Some(ExternalId::parse(&format!("order {status:?}")).unwrap());
        for withdrawal in [withdrawal, a_withdrawal(account)] {
            insert(h, withdrawal.clone()).await;
            let read = Withdrawal { version: 1, ..withdrawal };
            assert_eq!(h.store.find_crypto_withdrawal(account, read.id).await.unwrap(), Some(read.clone()));
            let mut moved = withdrawal_in_status(read, status);
            (moved.network_fee, moved.tx_hash) = (Some(usdt("1.5")), Some("0xabc".to_owned()));
            moved.price = WithdrawalPrice { coins: usdt("17.25"), ..moved.price };
            update(h, moved.clone()).await;
            let read = Withdrawal { version: 2, ..moved };
            assert_eq!(h.store.find_crypto_withdrawal(account, read.id).await.unwrap(), Some(read.clone()));
            assert_eq!(h.store.find_crypto_withdrawal(fresh(), read.id).await.unwrap(), None);
            assert_eq!(h.store.find_crypto_withdrawal_of_any(read.id).await.unwrap(), Some(read.clone()));
            assert_eq!(h.store.find_crypto_withdrawal_of_any(fresh()).await.unwrap(), None);
            let Some(batch) = read.state.sent().and_then(|sent| sent.batch.clone()) else { continue };
            let found = h.store.find_crypto_withdrawal_of_batch(&read.processor, &batch).await.unwrap();
            assert_eq!(found, Some(read));
            let elsewhere = AcquirerName::parse("elsewhere").unwrap();
            assert_eq!(h.store.find_crypto_withdrawal_of_batch(&elsewhere, &batch).await.unwrap(), None);
        }
    }
}

/// The list has only withdrawals whose outcome an operator has to decide, the longest waiting first.
pub async fn withdrawals_wait_for_review(h: &mut Harness) {
    let account = h.account().await.id;
    let mut waiting = Vec::new();
    for second in [30, 10, 20] {
        let mut withdrawal = withdrawal_in_status(a_withdrawal(account), WithdrawalStatus::Processing);
        insert(h, withdrawal.clone()).await;
        if let WithdrawalState::Processing { review_since, .. } = &mut withdrawal.state {
            *review_since = Some(after_s(second));
        }
        let marked = Withdrawal { version: 1, ..withdrawal };
        update(h, marked.clone()).await;
        waiting.push((second, Withdrawal { version: 2, ..marked }));
        insert(h, withdrawal_in_status(a_withdrawal(account), WithdrawalStatus::Processing)).await;
    }
    waiting.sort_by_key(|(second, _)| *second);
    let waiting: Vec<_> = waiting.into_iter().map(|(_, withdrawal)| withdrawal).collect();
    assert_eq!(h.store.list_withdrawals_for_review(50).await.unwrap(), waiting);
    assert_eq!(h.store.list_withdrawals_for_review(2).await.unwrap().as_slice(), waiting.get(..2).unwrap());
}
