//! Events: each account has its own sequence from 1, without a gap.

use std::collections::BTreeSet;

use cais_domain::event::EventType;
use cais_domain::ids::AccountId;
use cais_ports::ChangeSet;

use super::Harness;
use super::harness::{commit_concurrently, hold};
use crate::builders::{an_event, start};

/// The number of concurrent callers.
const CALLERS: usize = 64;

/// Events of other accounts have no effect on the sequence.
pub async fn sequences_count_from_one_in_each_account(h: &mut Harness) {
    let accounts = [h.account().await.id, h.account().await.id];
    for sequence in 1..=5 {
        for account in accounts {
            assert_eq!(h.commit_ok(events(&[account])).await.sequences, [sequence]);
            assert_eq!(h.store.last_sequence(account).await.unwrap(), sequence);
        }
    }
}

/// The change set has events of several accounts. The sequence numbers are returned in the order of the events.
pub async fn change_set_receives_its_sequences_in_order(h: &mut Harness) {
    let (a, b) = (h.account().await.id, h.account().await.id);
    assert!(h.commit_ok(events(&[])).await.sequences.is_empty());
    assert_eq!(h.commit_ok(events(&[a, b, a, a])).await.sequences, [1, 1, 2, 3]);
    assert_eq!(h.commit_ok(events(&[b, a, b])).await.sequences, [2, 4, 3]);
    for kind in EventType::ALL {
        let mut change = events(&[]);
        change.events.push(an_event(a, kind, "chg_1"));
        h.commit_ok(change).await;
    }
    let last = 4 + i64::try_from(EventType::ALL.len()).unwrap();
    assert_eq!(h.store.last_sequence(a).await.unwrap(), last);
}

/// Of many callers, some are refused. The assigned numbers have no gap up to the last.
pub async fn sequences_have_no_gap_under_load(h: &mut Harness) {
    let (a, b) = (h.account().await.id, h.account().await.id);
    let mut given: [BTreeSet<i64>; 2] = [BTreeSet::new(), BTreeSet::new()];
    for _ in 0..4 {
        let changes: Vec<_> = (0..CALLERS)
            .map(|caller| {
                let mut change = events(&[a, b, a]);
                if caller % 4 == 0 {
                    change.transfers.push(hold(a, 1));
                }
                change
            })
            .collect();
        let outcomes = commit_concurrently(&h.store, changes).await;
        for (caller, outcome) in outcomes.into_iter().enumerate() {
            assert_eq!(outcome.is_err(), caller % 4 == 0, "{outcome:?}");
            let sequences = outcome.map(|committed| committed.sequences).unwrap_or_default();
            for (place, sequence) in sequences.into_iter().enumerate() {
                let [of_a, of_b] = &mut given;
                let of = if place == 1 { of_b } else { of_a };
                assert!(of.insert(sequence), "{sequence} was given twice");
            }
        }
    }
    for (account, given) in [a, b].into_iter().zip(given) {
        let last = h.store.last_sequence(account).await.unwrap();
        assert!(given.into_iter().eq(1..=last));
    }
}

fn events(accounts: &[AccountId]) -> ChangeSet {
    let event = |account: &AccountId| an_event(*account, EventType::ChargePaid, "chg_1");
    ChangeSet { events: accounts.iter().map(event).collect(), ..ChangeSet::new(start()) }
}
