//! The last use of each API key, the log of requests, and the sums of entries for the first page of the dashboard.

use cais_domain::ids::{EntryId, RequestId};
use cais_domain::ledger::{Bucket, EntryKind, LedgerAccount, Overdraft, SystemAccount, Transfer};
use cais_domain::merchant::account::Account;
use cais_domain::merchant::api_key::KeyPrefix;
use cais_domain::money::Money;
use cais_ports::{ChangeSet, EntrySums, HourSum, KeyUse, LoggedRequest, MAX_LOGGED_REQUESTS, PageRequest, PruneBefore};
use uuid::Uuid;

use super::Harness;
use super::harness::after_s;
use crate::builders::{a_key, fresh, start, steps};

/// The least and the greatest entry id: the bounds of a sum over all entries.
const ALL: [EntryId; 2] = [EntryId::new(Uuid::nil()), EntryId::new(Uuid::max())];

/// Later uses replace earlier ones. An unknown key and an earlier use have no effect. Keys without a use are not listed.
pub async fn latest_use_of_a_key_is_kept(h: &mut Harness) {
    let (account, other) = (h.account().await, h.account().await);
    let [used, unused, foreign] = [a_key(account.id), a_key(account.id), a_key(other.id)];
    for key in [&used, &unused, &foreign] {
        h.commit_ok(steps::add_key(key)).await;
    }
    let of = |key: &KeyPrefix, at_s: i64, address: &str| KeyUse {
        key: key.clone(),
        at: after_s(at_s),
        address: address.to_owned(),
    };
    let unknown = a_key(account.id).prefix;
    let first = vec![of(&used.prefix, 10, "192.0.2.1"), of(&unknown, 10, ""), of(&foreign.prefix, 11, "")];
    h.store.record_key_uses(first).await.unwrap();
    assert_eq!(h.store.list_key_uses(account.id).await.unwrap(), [of(&used.prefix, 10, "192.0.2.1")]);
    h.store.record_key_uses(vec![of(&used.prefix, 9, "192.0.2.2")]).await.unwrap();
    assert_eq!(h.store.list_key_uses(account.id).await.unwrap(), [of(&used.prefix, 10, "192.0.2.1")]);
    h.store.record_key_uses(vec![of(&used.prefix, 20, "2001:db8::1")]).await.unwrap();
    h.store.record_key_uses(Vec::new()).await.unwrap();
    assert_eq!(h.store.list_key_uses(account.id).await.unwrap(), [of(&used.prefix, 20, "2001:db8::1")]);
    assert_eq!(h.store.list_key_uses(other.id).await.unwrap(), [of(&foreign.prefix, 11, "")]);
    let (read, _) = h.store.find_key(&used.prefix).await.unwrap().unwrap();
    assert_eq!(read.version, 1, "a use does not change the version of the key");
}

fn request(account: &Account, at_s: i64) -> LoggedRequest {
    LoggedRequest {
        id: fresh(),
        account: account.id,
        at: after_s(at_s),
        method: "POST".to_owned(),
        path: "/v1/charges".to_owned(),
        status: 201,
        key: KeyPrefix::from_random(&[7; 12]),
        took_ms: 12,
    }
}

/// Requests are listed by account, each once, newest first. A trim keeps the newest requests; housekeeping removes requests by age.
pub async fn requests_are_listed_trimmed_and_pruned(h: &mut Harness) {
    let (account, other) = (h.account().await, h.account().await);
    let [oldest, middle, newest] = [0, 1, 2].map(|at_s| request(&account, at_s));
    let foreign = request(&other, 0);
    let both = vec![oldest.clone(), middle.clone(), newest.clone(), foreign.clone()];
    h.store.record_requests(both, Vec::new()).await.unwrap();
    h.store.record_requests(vec![oldest.clone()], vec![account.id]).await.unwrap();
    let page = |starting_after| PageRequest { limit: 2, starting_after };
    let first = h.store.list_requests(account.id, page(None)).await.unwrap();
    assert_eq!((first.rows, first.has_more), (vec![newest, middle.clone()], true));
    let rest = h.store.list_requests(account.id, page(Some(middle.id))).await.unwrap();
    assert_eq!((rest.rows, rest.has_more), (vec![oldest], false));
    assert_eq!(h.store.list_requests(other.id, page(None)).await.unwrap().rows, [foreign]);

    let many: Vec<LoggedRequest> = (0..MAX_LOGGED_REQUESTS).map(|_| request(&account, 50)).collect();
    let (oldest, newest) = (many.first().unwrap().id, many.last().unwrap().id);
    h.store.record_requests(many, vec![account.id, other.id]).await.unwrap();
    let seen = async |id: RequestId| {
        let page = PageRequest { limit: 1, starting_after: Some(id) };
        h.store.list_requests(account.id, page).await.unwrap().rows.pop().map(|row| row.id)
    };
    assert!(seen(newest).await.is_some());
    assert_eq!(seen(oldest).await, None, "the three older ones are gone");
    assert_eq!(h.store.list_requests(other.id, page(None)).await.unwrap().rows.len(), 1);

    let before = PruneBefore { idempotency_records: start(), marks: start(), events: start(), requests: after_s(1) };
    assert_eq!(h.store.prune(before).await.unwrap().requests, 1);
    assert_eq!(h.store.list_requests(other.id, page(None)).await.unwrap().rows, []);
    assert_eq!(h.store.list_requests(account.id, page(None)).await.unwrap().rows.len(), 2);
}

async fn moved(h: &Harness, account: &Account, at_s: i64, kind: EntryKind, centavos: i64) {
    let outside = LedgerAccount::system(SystemAccount::Fees, account.id);
    let own = LedgerAccount::Merchant(account.id, Bucket::Available);
    let (from, to) = if centavos < 0 { (own, outside) } else { (outside, own) };
    let amount = Money::from_centavos(centavos.abs());
    let overdraft = Overdraft::Allowed;
    let transfer = Transfer { from, to, amount, overdraft, kind, resource: None, end_to_end_id: None };
    h.commit_ok(ChangeSet { at: after_s(at_s), ..steps::transfer(transfer) }).await;
}

/// Credits and debits are summed apart, by hours of UTC. Releases do not count, nor do entries of the bucket
/// `in_transit`.
pub async fn entries_are_summed_by_hour(h: &mut Harness) {
    let (account, other) = (h.account().await, h.account().await);
    let hour = start().as_second().div_euclid(3_600);
    moved(h, &account, 0, EntryKind::Fee, 500).await;
    moved(h, &account, 1, EntryKind::Fee, -200).await;
    moved(h, &account, 2, EntryKind::Split, 70).await;
    moved(h, &account, 3, EntryKind::Release, 9_000).await;
    moved(h, &account, 7_201, EntryKind::Refund, -30).await;
    moved(h, &other, 0, EntryKind::Fee, 1).await;
    let [after, below] = ALL;
    let sums = h.store.sum_entries(account.id, after, below, 100).await.unwrap();
    let sum = |hour, incoming, outgoing| HourSum {
        hour,
        incoming: Money::from_centavos(incoming),
        outgoing: Money::from_centavos(outgoing),
    };
    assert_eq!((sums.hours, sums.entries), (vec![sum(hour, 570, 200), sum(hour + 2, 0, 30)], 5));
    let none = h.store.sum_entries(account.id, sums.last.unwrap(), below, 100).await.unwrap();
    assert_eq!(none, EntrySums::default());

    let held = h.account().await;
    let payout = h.held_payout(held.id).await;
    let gross = payout.terms.gross().unwrap().centavos();
    let sums = h.store.sum_entries(held.id, after, below, 100).await.unwrap();
    assert_eq!(sums.hours.iter().map(|sum| sum.outgoing.centavos()).sum::<i64>(), gross);
    assert_eq!(sums.hours.iter().map(|sum| sum.incoming.centavos()).sum::<i64>(), gross);
}

/// A sum covers at most `limit` entries, and the next sum continues after the last of them.
pub async fn sums_are_bounded_and_continue(h: &mut Harness) {
    let account = h.account().await;
    for at_s in 0..7 {
        moved(h, &account, at_s, EntryKind::Fee, 1 << at_s).await;
    }
    let [mut after, below] = ALL;
    let mut seen = Vec::new();
    loop {
        let sums = h.store.sum_entries(account.id, after, below, 3).await.unwrap();
        let Some(last) = sums.last else { break };
        seen.push((sums.entries, sums.hours.first().unwrap().incoming.centavos()));
        after = last;
    }
    assert_eq!(seen, [(3, 7), (3, 56), (1, 64)]);
}
