//! Accounts, API keys and callbacks are read back exactly as written, and change only in their changeable fields.

use cais_domain::acquirer_name::AcquirerName;
use cais_domain::crypto::rate::parse_spread;
use cais_domain::document::Document;
use cais_domain::fee::{FeeRule, FeeSchedule, Operation};
use cais_domain::ids::CallbackId;
use cais_domain::merchant::account::{Account, AccountStatus, Feature, Features, Kyc, Limits};
use cais_domain::merchant::api_key::{Scope, Scopes};
use cais_domain::money::Money;
use cais_domain::rate::Percentage;
use cais_ports::{
    AnyRecord, ApiKeyRecord, Callback, CallbackCounts, CallbackState, ChangeSet, PageRequest, PollPosition, RecordKey,
    SecretHash, UpstreamList, Write,
};

use super::Harness;
use super::harness::after_s;
use crate::builders::{a_callback, a_key, a_position, an_account, fresh, start, steps};

/// The kind of the key selects the type of the record. A key with one different column finds no other record.
pub async fn records_are_found_by_their_keys(h: &mut Harness) {
    let [account, other] = [h.account().await, h.account().await];
    let charge = h.pending_charge(account.id).await;
    let position = PollPosition { version: 1, ..a_position() };
    h.commit_ok(steps::write(Write::insert(a_position()), start())).await;
    let position_of = |list| RecordKey::Position { acquirer: position.acquirer.clone(), list };
    let cases = [
        (RecordKey::Account { id: account.id }, Some(AnyRecord::from(account.clone()))),
        (RecordKey::Account { id: fresh() }, None),
        (RecordKey::Charge { account: account.id, id: charge.id }, Some(charge.clone().into())),
        (RecordKey::Charge { account: other.id, id: charge.id }, None),
        (position_of(position.list), Some(position.clone().into())),
        (position_of(UpstreamList::Returns), None),
    ];
    for (key, expected) in cases {
        assert_eq!(h.store.find_record(key.clone()).await.unwrap(), expected, "{key:?}");
    }
}

/// Accounts are read by id and by e-mail.
pub async fn accounts_come_back(h: &mut Harness) {
    let account = h.account().await;
    h.account().await;
    assert_reads(h, &account).await;
}

/// The accounts have the greatest and smallest values, every feature, and a fee rule for each operation.
pub async fn extreme_accounts_come_back(h: &mut Harness) {
    for account in extreme_accounts() {
        h.commit_ok(steps::open_account(&account)).await;
        assert_reads(h, &Account { version: 1, ..account }).await;
    }
}

/// Each change increases the version by one.
pub async fn accounts_come_back_changed(h: &mut Harness) {
    let mut account = h.account().await;
    for extreme in extreme_accounts() {
        account = Account {
            id: account.id,
            email: account.email,
            created_at: account.created_at,
            version: account.version,
            ..extreme
        };
        let update = Write::update(account.clone());
        h.commit_ok(steps::write(update, after_s(1))).await;
        account.version += 1;
        assert_reads(h, &account).await;
    }
}

/// Each API key is found by its prefix, and is returned with its account.
pub async fn keys_come_back_with_their_account(h: &mut Harness) {
    let account = h.account().await;
    h.account().await;
    let plain = a_key(account.id);
    let limited = ApiKeyRecord {
        name: "caixa \u{1F980} 'n' \"q\"".to_owned(),
        keyed_hash: SecretHash([0; 32]),
        scopes: Scopes::from_iter([Scope::ChargesRead, Scope::EventsRead]),
        expires_at: Some(after_s(1)),
        allowed_addresses: vec!["10.0.0.0/8".to_owned(), "2001:db8::/32".to_owned()],
        revoked_at: Some(after_s(2)),
        ..a_key(account.id)
    };
    let keyed_hash = SecretHash(std::array::from_fn(|index| u8::MAX - u8::try_from(index).unwrap()));
    let bare = ApiKeyRecord {
        name: String::new(),
        keyed_hash,
        scopes: Scopes::default(),
        allowed_addresses: vec!["0.0.0.0/0".to_owned()],
        ..a_key(account.id)
    };
    for key in [plain, limited, bare] {
        h.commit_ok(steps::add_key(&key)).await;
        let found = h.store.find_key(&key.prefix).await.unwrap();
        assert_eq!(found, Some((ApiKeyRecord { version: 1, ..key }, account.clone())));
    }
    let unknown = a_key(account.id).prefix;
    assert_eq!(h.store.find_key(&unknown).await.unwrap(), None);
}

/// An API key is read back with another expiry, and after its revocation.
pub async fn keys_come_back_changed(h: &mut Harness) {
    let account = h.account().await;
    let mut key = a_key(account.id);
    h.commit_ok(steps::add_key(&key)).await;
    key.version = 1;
    for (revoked_at, expires_at) in [(None, Some(after_s(5))), (Some(after_s(6)), None)] {
        key = ApiKeyRecord { revoked_at, expires_at, ..key };
        let update = Write::update(key.clone());
        h.commit_ok(steps::write(update, after_s(1))).await;
        key.version += 1;
        let (found, _) = h.store.find_key(&key.prefix).await.unwrap().unwrap();
        assert_eq!(found, key);
    }
}

/// Callbacks are read back with arbitrary bytes and any number of attempts.
pub async fn callbacks_come_back(h: &mut Harness) {
    let bodies = [Vec::new(), (0..=u8::MAX).collect(), vec![b' '; 65_536]];
    for (body, attempts) in bodies.into_iter().zip([0, 1, 2_000_000_000]) {
        let callback = Callback { body, attempts, ..a_callback() };
        h.commit_ok(steps::receive(&callback)).await;
        let due = h.store.list_due_callbacks(after_s(1), 50).await.unwrap();
        let found = due.iter().find(|found| found.id == callback.id);
        assert_eq!(found, Some(&Callback { version: 1, ..callback }));
    }
}

/// A postponed callback is due at its new time. A callback that is done or unmatched is no longer due.
pub async fn callbacks_come_back_changed(h: &mut Harness) {
    for last in [CallbackState::Done, CallbackState::Unmatched] {
        let callback = a_callback();
        h.commit_ok(steps::receive(&callback)).await;
        let put_off = Callback { attempts: 3, due_at: Some(after_s(60)), version: 1, ..callback };
        let update = |callback: &Callback| steps::write(Write::update(callback.clone()), start());
        h.commit_ok(update(&put_off)).await;
        let put_off = Callback { version: 2, ..put_off };
        assert_eq!(h.store.list_due_callbacks(after_s(59), 50).await.unwrap(), []);
        let due = h.store.list_due_callbacks(after_s(61), 50).await.unwrap();
        assert_eq!(due, std::slice::from_ref(&put_off));
        let done = Callback { state: last, due_at: None, ..put_off };
        h.commit_ok(update(&done)).await;
        assert_eq!(h.store.list_due_callbacks(after_s(61), 50).await.unwrap(), []);
    }
}

async fn assert_reads(h: &Harness, account: &Account) {
    let by_id = h.store.find_account(account.id).await.unwrap();
    assert_eq!(by_id.as_ref(), Some(account));
    let by_email = h.store.find_account_by_email(&account.email).await.unwrap();
    assert_eq!(by_email.as_ref(), Some(account));
}

fn extreme_accounts() -> [Account; 2] {
    let greatest = Money::from_centavos(i64::MAX);
    let rule = |percentage: &str, min, max| {
        let percentage = Percentage::parse(percentage).unwrap();
        FeeRule::try_new(greatest, percentage, min, max).unwrap()
    };
    let fees = FeeSchedule::default()
        .with(Operation::PixIn, rule("0.9999", None, None))
        .with(Operation::PixOut, rule("100", Some(Money::ZERO), None))
        .with(Operation::CryptoIn, rule("0.0001", None, Some(greatest)))
        .with(Operation::CryptoOut, rule("0", Some(greatest), Some(greatest)));
    let greatest = Account {
        name: "Loja \u{1F980} 'da' \"Ana\" 漢字".to_owned(),
        document: Document::parse("12ABC34501DE35").unwrap(),
        status: AccountStatus::Suspended,
        kyc: Kyc::Rejected,
        features: Feature::ALL.into_iter().fold(Features::default(), Features::with),
        fees,
        limits: Limits { charge: greatest, payout: greatest },
        release_delay_s: 2_000_000_000,
        crypto_spread: Some(parse_spread("9.9999").unwrap()),
        acquirers: ["main", "backup"].map(|name| AcquirerName::parse(name).unwrap()).to_vec(),
        ..an_account()
    };
    let least = Account {
        name: String::new(),
        kyc: Kyc::Pending,
        features: Features::default(),
        limits: Limits { charge: Money::ZERO, payout: Money::ZERO },
        ..an_account()
    };
    [greatest, least]
}

/// Every callback is found by its id. Unmatched callbacks are listed newest first in pages. Open and unmatched callbacks are counted by
/// their acquirer.
pub async fn unmatched_callbacks_are_listed_and_counted(h: &mut Harness) {
    let before = h.store.count_callbacks().await.unwrap();
    let mut callbacks = Vec::new();
    for state in [CallbackState::Unmatched, CallbackState::Done, CallbackState::Waiting, CallbackState::Unmatched] {
        let due_at = (state == CallbackState::Waiting).then(start);
        let callback = Callback { state, due_at, ..a_callback() };
        h.commit_ok(steps::receive(&callback)).await;
        callbacks.push(Callback { version: 1, ..callback });
    }
    for callback in &callbacks {
        assert_eq!(h.store.find_callback(callback.id).await.unwrap().as_ref(), Some(callback));
    }
    assert_eq!(h.store.find_callback(fresh()).await.unwrap(), None);
    callbacks.retain(|callback| callback.state == CallbackState::Unmatched);
    callbacks.sort_by_key(|callback| std::cmp::Reverse(callback.id));
    let page = |starting_after| PageRequest { limit: 1, starting_after };
    let first = h.store.list_unmatched_callbacks(page(None)).await.unwrap();
    assert!(first.has_more, "two are unmatched, and a page has one");
    let newest = first.rows.first().unwrap();
    let second = h.store.list_unmatched_callbacks(page(Some(newest.id))).await.unwrap();
    assert_eq!([first.rows.clone(), second.rows].concat(), callbacks);
    let after = h.store.count_callbacks().await.unwrap();
    let acquirer = &newest.acquirer;
    let of = |counts: &CallbackCounts| {
        [&counts.open, &counts.unmatched].map(|counts| counts.get(acquirer).copied().unwrap_or_default())
    };
    let (before, after) = (of(&before), of(&after));
    assert_eq!((after[0] - before[0], after[1] - before[1]), (1, 2));
}

/// A waiting or unmatched callback is found by its acquirer and its body, the identifiers in the callback. The body may have any length.
pub async fn open_callbacks_are_found_by_their_names(h: &mut Harness) {
    let other = AcquirerName::parse("other").unwrap();
    for (state, length) in
        [(CallbackState::Waiting, 1), (CallbackState::Unmatched, 1), (CallbackState::Waiting, 10_000)]
    {
        let due_at = (state == CallbackState::Waiting).then(start);
        let id: CallbackId = fresh();
        let callback = Callback { id, state, due_at, body: id.to_string().repeat(length).into_bytes(), ..a_callback() };
        let find = async |acquirer: &AcquirerName, names: &[u8]| h.store.find_named_callback(acquirer, names).await;
        assert_eq!(find(&callback.acquirer, &callback.body).await, Ok(None));
        h.commit_ok(steps::receive(&callback)).await;
        let callback = Callback { version: 1, ..callback };
        let find = async |acquirer: &AcquirerName, names: &[u8]| h.store.find_named_callback(acquirer, names).await;
        assert_eq!(find(&callback.acquirer, &callback.body).await, Ok(Some(callback.clone())));
        assert_eq!(find(&other, &callback.body).await, Ok(None));
        assert_eq!(find(&callback.acquirer, b"received").await, Ok(None));
        let mut done = ChangeSet::new(start());
        let callback = Callback { state: CallbackState::Done, due_at: None, ..callback };
        done.writes.push(Write::update(callback.clone()));
        h.commit_ok(done).await;
        assert_eq!(h.store.find_named_callback(&callback.acquirer, &callback.body).await, Ok(None));
    }
}
