//! Reads of the statement and the timeline, with any filter. Only cursors of this account are accepted.

use cais_domain::ids::EntryId;
use cais_domain::ledger::{Bucket, EntryKind};
use cais_domain::money::Money;
use cais_domain::timeline::Direction;
use cais_ports::{EntryFilter, PageRequest, Span, TransactionFilter};
use cais_testkit::builders::{an_account, fresh};
use cais_testkit::psp::OrderReply;
use cais_use_cases::{statement, timeline};

use crate::bed::{TestBed, part};

async fn busy() -> TestBed {
    let bed = TestBed::new().await;
    for key in ["a", "b", "c"] {
        let charge = bed.paid().await;
        bed.psp.set(OrderReply::Completes);
        bed.refund(key, &charge, part(100)).await.unwrap();
    }
    bed.pending().await;
    bed
}

#[tokio::test]
async fn statement_pages_are_contiguous_and_explain_the_balance() {
    let bed = busy().await;
    let read = |filter, starting_after| {
        statement::list(&bed.ports, bed.account.id, filter, PageRequest { limit: 2, starting_after })
    };
    let (mut seen, mut after): (Vec<(EntryKind, Money, Money)>, Option<EntryId>) = (Vec::new(), None);
    loop {
        let page = read(EntryFilter::default(), after).await.unwrap();
        seen.extend(page.rows.iter().map(|entry| (entry.kind, entry.amount, entry.balance_after)));
        after = page.rows.last().map(|entry| entry.id);
        if !page.has_more {
            break;
        }
    }
    assert_eq!(seen.len(), 6);
    let mut balance = Money::ZERO;
    for (_, amount, after) in seen.iter().rev() {
        balance = balance.checked_add(*amount).unwrap();
        assert_eq!(balance, *after);
    }
    assert_eq!(balance.centavos(), bed.available());

    // The filter excludes the cursor. The cursor still marks a position.
    let first = read(EntryFilter::default(), None).await.unwrap().rows[0].clone();
    assert_eq!(first.kind, EntryKind::Refund);
    let charges =
        EntryFilter { bucket: Some(Bucket::Available), kind: Some(EntryKind::Charge), created: Span::default() };
    assert_eq!(read(charges, Some(first.id)).await.unwrap().rows.len(), 2);
    assert_eq!(read(charges, Some(fresh())).await, Err(statement::ListError::UnknownCursor));
    let stranger = an_account();
    let page = PageRequest { limit: 2, starting_after: Some(first.id) };
    let foreign = statement::list(&bed.ports, stranger.id, charges, page).await;
    assert_eq!(foreign, Err(statement::ListError::UnknownCursor));
}

#[tokio::test]
async fn timeline_pages_are_contiguous() {
    let bed = busy().await;
    let all = TransactionFilter::default();
    let (mut seen, mut after) = (Vec::new(), None);
    loop {
        let page = timeline::list(&bed.ports, bed.account.id, all, 3, after).await.unwrap();
        seen.extend(page.rows.iter().map(cais_ports::Transaction::key));
        after = seen.last().map(|key| (Direction::CashIn, *key));
        if !page.has_more {
            break;
        }
    }
    assert_eq!(seen.len(), 4);
    for (direction, key) in
        [(Direction::CashOut, seen[0]), (Direction::CashIn, fresh::<cais_domain::ids::kind::Charge>().uuid())]
    {
        let refused = timeline::list(&bed.ports, bed.account.id, all, 3, Some((direction, key))).await;
        assert_eq!(refused, Err(timeline::ListError::UnknownCursor));
        assert_eq!(timeline::find(&bed.ports, bed.account.id, direction, key).await, Ok(None));
    }
    let found = timeline::find(&bed.ports, bed.account.id, Direction::CashIn, seen[0]).await.unwrap();
    assert_eq!(found.map(|transaction| transaction.key()), Some(seen[0]));
    assert_eq!(timeline::find(&bed.ports, fresh(), Direction::CashIn, seen[0]).await, Ok(None));
}

#[tokio::test]
async fn read_with_failed_store_is_unavailable() {
    let bed = busy().await;
    bed.store.set_unreachable(true);
    let page = PageRequest { limit: 2, starting_after: None };
    let refused = statement::list(&bed.ports, bed.account.id, EntryFilter::default(), page).await;
    assert!(matches!(refused, Err(statement::ListError::Unavailable { .. })), "{refused:?}");
    let refused = timeline::list(&bed.ports, bed.account.id, TransactionFilter::default(), 2, None).await;
    assert!(matches!(refused, Err(timeline::ListError::Unavailable { .. })), "{refused:?}");
}
