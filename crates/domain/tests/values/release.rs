//! Tests releases: money is released once, when it is due, from `pending` to `available`.

use cais_domain::ledger::{Bucket, EntryKind, LedgerAccount, Overdraft};
use cais_domain::money::Money;
use jiff::{SignedDuration, Timestamp};

use crate::credit::{payment, pending};

#[test]
fn release_happens_once_and_not_early() {
    let credit = pending(1_000, 60).credit(payment(0, 1_000), 90, Timestamp::UNIX_EPOCH).unwrap();
    let release = credit.release.unwrap();
    let due = Timestamp::UNIX_EPOCH.checked_add(SignedDuration::from_secs(90)).unwrap();
    assert_eq!((release.amount, release.due_at), (Money::from_centavos(940), due));
    let early = due.checked_sub(SignedDuration::from_micros(1)).unwrap();
    assert_eq!(release.clone().release(early), None);
    let (released, transfer) = release.clone().release(due).unwrap();
    assert_eq!(
        (transfer.kind, transfer.overdraft, transfer.amount),
        (EntryKind::Release, Overdraft::Forbidden, release.amount)
    );
    let bucket = |bucket| LedgerAccount::Merchant(release.account, bucket);
    assert_eq!((transfer.from, transfer.to), (bucket(Bucket::Pending), bucket(Bucket::Available)));
    assert_eq!(released.release(due), None);
}

#[test]
fn release_without_delay_or_money_is_absent() {
    let at_once = pending(1_000, 60).credit(payment(0, 1_000), 0, Timestamp::UNIX_EPOCH).unwrap();
    assert_eq!(at_once.release, None);
    let all_fee = pending(1_000, 1_000).credit(payment(0, 1_000), 90, Timestamp::UNIX_EPOCH).unwrap();
    assert_eq!(all_fee.release, None);
}
