//! Reports that cannot be true. They change no stored infraction and do not delay other reports.

use std::time::Duration;

use cais_domain::infraction::InfractionStatus;
use cais_domain::money::Money;
use cais_ports::{Clock as _, UpstreamInfractionStatus};

use crate::bed::{LONG, PAST_LAG, TestBed};

#[tokio::test]
async fn report_on_unknown_pix_blocks_nothing_and_delays_nothing() {
    let bed = TestBed::new().await;
    let stranger = bed.psp.receive(None, 5_000);
    bed.psp.dispute(&stranger, 5_000);
    let (_, pix) = bed.paid(1_000).await;
    bed.psp.dispute(&pix, 1_000);
    assert_eq!(bed.poll().await, 1);
    assert_eq!((bed.all().len(), bed.money()), (1, [0, 0, 1_000]));
    assert_eq!(bed.store.positions().len(), 2, "the list was read to its end");
    bed.check().await;
}

#[tokio::test]
async fn report_on_pix_of_another_acquirer_is_rejected() {
    let bed = TestBed::new().await;
    let (_, pix) = bed.paid(1_000).await;
    bed.second.dispute(&pix, 1_000);
    assert_eq!(bed.poll().await, 0);
    assert_eq!((bed.all(), bed.money()), (vec![], [1_000, 0, 0]));
    bed.check().await;
}

#[tokio::test]
async fn report_amount_is_bounded_and_zero_is_rejected() {
    let bed = TestBed::new().await;
    let (_, pix) = bed.paid(1_000).await;
    bed.paid(9_000).await;
    let nothing = bed.psp.dispute(&pix, 0);
    bed.psp.dispute(&pix, -5);
    assert_eq!(bed.poll().await, 0);
    assert_eq!(bed.money(), [10_000, 0, 0]);
    bed.psp.change(&nothing, |row| row.amount = Money::from_centavos(i64::MAX));
    bed.poll().await;
    assert_eq!(bed.money(), [9_000, 0, 1_000]);
    bed.psp.change(&nothing, |row| row.amount = Money::from_centavos(i64::MIN));
    assert_eq!(bed.poll().await, 0);
    assert_eq!(bed.money(), [9_000, 0, 1_000], "an applied amount stays");
    bed.psp.settle(&nothing, UpstreamInfractionStatus::Accepted);
    bed.poll().await;
    assert_eq!((bed.money(), bed.statuses()), ([9_000, 0, 0], vec![InfractionStatus::Lost]));
    bed.check().await;
}

#[tokio::test]
async fn report_that_changes_its_pix_is_rejected() {
    let bed = TestBed::new().await;
    let (_, id) = bed.disputed().await;
    let (_, other) = bed.paid(2_000).await;
    bed.psp.change(&id, |row| {
        row.end_to_end_id = other;
        row.status = UpstreamInfractionStatus::Accepted;
    });
    assert_eq!(bed.poll().await, 0);
    assert_eq!((bed.statuses(), bed.money()), (vec![InfractionStatus::Open], [2_000, 0, 1_000]));
    bed.check().await;
}

#[tokio::test]
async fn report_without_defense_does_not_remove_it() {
    let bed = TestBed::new().await;
    let (_, id) = bed.disputed().await;
    bed.defend("Entregue.").await.unwrap();
    bed.psp.reopen(&id);
    for _ in 0..2 {
        bed.clock.advance(PAST_LAG);
        assert_eq!(bed.poll().await, 0);
    }
    assert_eq!(bed.statuses(), [InfractionStatus::UnderReview]);
    bed.check().await;
}

#[tokio::test]
async fn start_before_the_defense_is_no_second_infraction() {
    for (later, is_logged) in [(1, true), (60, true), (61, false)] {
        let bed = TestBed::new().await;
        let (_, id) = bed.disputed().await;
        bed.clock.advance(PAST_LAG);
        bed.defend("Entregue.").await.unwrap();
        let since = bed.clock.now();
        bed.clock.advance(LONG);
        bed.psp.reopen(&id);
        bed.psp.change(&id, |row| {
            row.opened_at = since + Duration::from_secs(later);
            row.opened_at_is_reported = is_logged;
        });
        assert_eq!((bed.poll().await, bed.statuses()), (0, vec![InfractionStatus::UnderReview]), "{later}");
        bed.psp.change(&id, |row| {
            row.opened_at = since + Duration::from_secs(61);
            row.opened_at_is_reported = true;
        });
        assert_eq!(bed.poll().await, 1);
        assert!(bed.last().needs_review(), "{later}");
        bed.check().await;
    }
}

#[tokio::test]
async fn ambiguous_infraction_ids_are_rejected() {
    let bed = TestBed::new().await;
    let (_, id) = bed.disputed().await;
    let (_, pix) = bed.paid(2_000).await;
    let other = bed.psp.dispute(&pix, 2_000);
    for name in [format!("{id}/2"), String::new(), "a name".to_owned(), "x".repeat(129)] {
        let upstream = name.clone();
        bed.psp.change(&other, |row| row.id = upstream);
        assert_eq!(bed.poll().await, 0, "{name}");
        bed.psp.change(&name, |row| row.id.clone_from(&other));
    }
    assert_eq!(bed.poll().await, 1);
    bed.check().await;
}
