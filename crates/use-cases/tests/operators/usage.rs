//! The last use of keys, the log of requests, and the sums of the last days.

use std::time::Duration;

use cais_domain::ids::AccountId;
use cais_domain::ledger::{Bucket, EntryKind, LedgerAccount, Overdraft, SystemAccount, Transfer};
use cais_domain::merchant::api_key::{KeyPrefix, Scopes};
use cais_domain::money::Money;
use cais_ports::{ChangeSet, Clock as _, KeyUse, LoggedRequest, PageRequest, Store as _, UsageQueries as _};
use cais_testkit::builders::{fresh, start};
use cais_use_cases::daily_totals::{DAYS, DailyTotals, DayTotal};
use cais_use_cases::keys::KeyRing;
use cais_use_cases::keys::create::{CreateKey, create};
use cais_use_cases::request_log::{MAX_PER_PASS, RequestLog};
use jiff::Timestamp;

use crate::bed::{EMAIL, TestBed, email, name, operator};

#[tokio::test]
async fn last_use_of_key_is_stored_in_batches() {
    let bed = TestBed::with_account().await;
    let scopes = Scopes::parse("charges:read").unwrap();
    let (expires_in_days, allowed_addresses) = (None, vec!["192.0.2.0/24".parse().unwrap()]);
    let command = CreateKey { email: email(EMAIL), name: name("till"), scopes, expires_in_days, allowed_addresses };
    let key = create(&bed.ports, &operator(), command).await.unwrap();
    let ring = KeyRing::new(bed.ports.clone());
    let uses = async || bed.store.list_key_uses(key.record.account).await.unwrap();
    ring.authenticate(&key.token, Some("203.0.113.1".parse().unwrap())).await.unwrap_err();
    assert_eq!(ring.store_uses().await.unwrap().done, 0, "a refused use is no use");

    let first_at = bed.clock.now();
    ring.authenticate(&key.token, Some("192.0.2.1".parse().unwrap())).await.unwrap();
    assert!(ring.recognize(&key.token, Some("192.0.2.2".parse().unwrap())).is_some());
    assert_eq!(uses().await, [], "no request waits for the store");
    assert_eq!(ring.store_uses().await.unwrap().done, 1);
    let stored =
        |at: Timestamp, address: &str| KeyUse { key: key.token.prefix.clone(), at, address: address.to_owned() };
    assert_eq!(uses().await, [stored(first_at, "192.0.2.1")]);
    assert_eq!(ring.store_uses().await.unwrap().done, 0);

    bed.clock.advance(Duration::from_mins(1));
    ring.authenticate(&key.token, Some("192.0.2.2".parse().unwrap())).await.unwrap();
    ring.store_uses().await.unwrap();
    assert_eq!(uses().await, [stored(bed.clock.now(), "192.0.2.2")]);
}

fn request(account: AccountId) -> LoggedRequest {
    LoggedRequest {
        id: fresh(),
        account,
        at: start(),
        method: "GET".to_owned(),
        path: "/v1/charges".to_owned(),
        status: 200,
        key: KeyPrefix::from_random(&[7; 12]),
        took_ms: 3,
    }
}

#[tokio::test]
async fn requests_above_the_limit_of_a_pass_are_counted() {
    let bed = TestBed::with_account().await;
    let (log, account) = (RequestLog::default(), fresh());
    let stored = async || {
        let page = PageRequest { limit: 1_000, starting_after: None };
        bed.store.list_requests(account, page).await.unwrap().rows.len()
    };
    for _ in 0..MAX_PER_PASS + 7 {
        log.record(account, || request(account));
    }
    assert_eq!((stored().await, log.dropped(account)), (0, 7));
    assert_eq!(log.store(&bed.ports).await.unwrap().done, MAX_PER_PASS);
    assert_eq!(stored().await, MAX_PER_PASS);
    log.record(account, || request(account));
    assert_eq!(log.store(&bed.ports).await.unwrap().done, 1, "the next pass has room again");
    assert_eq!(log.store(&bed.ports).await.unwrap().done, 0);
    assert_eq!((stored().await, log.dropped(account)), (MAX_PER_PASS + 1, 7));
}

#[tokio::test]
async fn loud_account_hides_no_request_of_others() {
    let bed = TestBed::with_account().await;
    let (log, loud, second, quiet) = (RequestLog::default(), fresh(), fresh(), fresh());
    let send = |account: AccountId, times: usize| (0..times).for_each(|_| log.record(account, || request(account)));
    send(loud, 10 * MAX_PER_PASS);
    send(quiet, 3);
    send(second, 10 * MAX_PER_PASS);
    send(loud, MAX_PER_PASS);
    assert_eq!(log.store(&bed.ports).await.unwrap().done, MAX_PER_PASS);
    let stored = async |account| {
        let page = PageRequest { limit: 1_000, starting_after: None };
        bed.store.list_requests(account, page).await.unwrap().rows.len()
    };
    assert_eq!((stored(quiet).await, log.dropped(quiet)), (3, 0));
    let (first, other) = (stored(loud).await, stored(second).await);
    assert!(first + other == MAX_PER_PASS - 3 && first.abs_diff(other) <= 1, "{first} {other}");
    let dropped = u64::try_from(11 * MAX_PER_PASS - first).unwrap();
    assert_eq!(log.dropped(loud), dropped, "each account sees its own number");
}

/// Moves amounts at an instant. Positive amounts enter the available balance, and negative amounts leave it.
async fn moved(bed: &TestBed, account: AccountId, at: Timestamp, amounts: &[i64]) {
    let (own, fees) =
        (LedgerAccount::Merchant(account, Bucket::Available), LedgerAccount::system(SystemAccount::Fees, account));
    let transfer = |centavos: &i64| {
        let (from, to) = if *centavos < 0 { (own.clone(), fees.clone()) } else { (fees.clone(), own.clone()) };
        Transfer {
            from,
            to,
            amount: Money::from_centavos(centavos.abs()),
            overdraft: Overdraft::Allowed,
            kind: EntryKind::Fee,
            resource: None,
            end_to_end_id: None,
        }
    };
    let transfers = amounts.iter().map(transfer).collect();
    bed.store.commit(ChangeSet { transfers, ..ChangeSet::new(at) }).await.unwrap();
}

fn sums(days: &[DayTotal], ago: usize) -> (i64, i64) {
    let day = days.iter().rev().nth(ago).unwrap();
    (day.incoming.centavos(), day.outgoing.centavos())
}

#[tokio::test]
async fn totals_are_those_of_sao_paulo_days() {
    let bed = TestBed::with_account().await;
    let (totals, account) = (DailyTotals::default(), fresh());
    // The clock starts at 2026-01-02T03:04:05Z. In São Paulo this is four minutes after midnight.
    let before_midnight: Timestamp = "2026-01-02T02:59:59.999Z".parse().unwrap();
    let midnight: Timestamp = "2026-01-02T03:00:00Z".parse().unwrap();
    moved(&bed, account, before_midnight, &[500, -20]).await;
    moved(&bed, account, midnight, &[300, 7, -100]).await;
    moved(&bed, fresh(), midnight, &[9_999]).await;
    for _ in 0..2 {
        let read = totals.read(&bed.ports, account).await.unwrap();
        assert!(read.is_complete && read.days.len() == usize::try_from(DAYS).unwrap());
        assert_eq!((sums(&read.days, 0), sums(&read.days, 1), sums(&read.days, 2)), ((307, 100), (500, 20), (0, 0)));
    }
    moved(&bed, account, bed.clock.now(), &[1]).await;
    let read = totals.read(&bed.ports, account).await.unwrap();
    assert_eq!((sums(&read.days, 0), sums(&read.days, 1)), ((308, 100), (500, 20)), "a new entry counts at once");
    bed.clock.advance(Duration::from_hours(29 * 24));
    let read = totals.read(&bed.ports, account).await.unwrap();
    assert_eq!((sums(&read.days, 29), sums(&read.days, 0)), ((308, 100), (0, 0)), "the oldest day left the sums");
}

#[tokio::test]
async fn large_account_is_counted_in_bounded_steps() {
    let bed = TestBed::with_account().await;
    let (totals, account) = (DailyTotals::default(), fresh());
    for _ in 0..25 {
        moved(&bed, account, bed.clock.now(), &[1; 1_000]).await;
    }
    let first = totals.read(&bed.ports, account).await.unwrap();
    assert_eq!((first.is_complete, sums(&first.days, 0)), (false, (10_000, 0)));
    totals.catch_up(&bed.ports, account).await.unwrap();
    let all = totals.read(&bed.ports, account).await.unwrap();
    assert_eq!((all.is_complete, sums(&all.days, 0)), (true, (25_000, 0)));
}
