//! Reports that cannot be true. They change no stored infraction and do not delay other reports.

use std::time::Duration;

use cais_domain::infraction::InfractionStatus;
use cais_domain::money::Money;
use cais_ports::{Clock as _, UpstreamInfractionStatus};

use crate::world::{A_WHILE, LONG, World};

#[tokio::test]
async fn report_on_unknown_pix_blocks_nothing_and_delays_nothing() {
    let world = World::new().await;
    let stranger = world.psp.receive(None, 5_000);
    world.psp.dispute(&stranger, 5_000);
    let (_, pix) = world.paid(1_000).await;
    world.psp.dispute(&pix, 1_000);
    assert_eq!(world.poll().await, 1);
    assert_eq!((world.all().len(), world.money()), (1, [0, 0, 1_000]));
    assert_eq!(world.store.positions().len(), 2, "the list was read to its end");
    world.check().await;
}

#[tokio::test]
async fn report_on_pix_of_another_acquirer_is_rejected() {
    let world = World::new().await;
    let (_, pix) = world.paid(1_000).await;
    world.second.dispute(&pix, 1_000);
    assert_eq!(world.poll().await, 0);
    assert_eq!((world.all(), world.money()), (vec![], [1_000, 0, 0]));
    world.check().await;
}

#[tokio::test]
async fn report_amount_is_bounded_and_zero_is_rejected() {
    let world = World::new().await;
    let (_, pix) = world.paid(1_000).await;
    world.paid(9_000).await;
    let nothing = world.psp.dispute(&pix, 0);
    world.psp.dispute(&pix, -5);
    assert_eq!(world.poll().await, 0);
    assert_eq!(world.money(), [10_000, 0, 0]);
    world.psp.change(&nothing, |row| row.amount = Money::from_centavos(i64::MAX));
    world.poll().await;
    assert_eq!(world.money(), [9_000, 0, 1_000]);
    world.psp.change(&nothing, |row| row.amount = Money::from_centavos(i64::MIN));
    assert_eq!(world.poll().await, 0);
    assert_eq!(world.money(), [9_000, 0, 1_000], "an applied amount stays");
    world.psp.settle(&nothing, UpstreamInfractionStatus::Accepted);
    world.poll().await;
    assert_eq!((world.money(), world.statuses()), ([9_000, 0, 0], vec![InfractionStatus::Lost]));
    world.check().await;
}

#[tokio::test]
async fn report_that_changes_its_pix_is_rejected() {
    let world = World::new().await;
    let (_, id) = world.disputed().await;
    let (_, other) = world.paid(2_000).await;
    world.psp.change(&id, |row| {
        row.end_to_end_id = other;
        row.status = UpstreamInfractionStatus::Accepted;
    });
    assert_eq!(world.poll().await, 0);
    assert_eq!((world.statuses(), world.money()), (vec![InfractionStatus::Open], [2_000, 0, 1_000]));
    world.check().await;
}

#[tokio::test]
async fn report_without_defense_does_not_remove_it() {
    let world = World::new().await;
    let (_, id) = world.disputed().await;
    world.defend("Entregue.").await.unwrap();
    world.psp.reopen(&id);
    for _ in 0..2 {
        world.clock.advance(A_WHILE);
        assert_eq!(world.poll().await, 0);
    }
    assert_eq!(world.statuses(), [InfractionStatus::UnderReview]);
    world.check().await;
}

#[tokio::test]
async fn start_before_the_defense_is_no_second_infraction() {
    for (later, is_logged) in [(1, true), (60, true), (61, false)] {
        let world = World::new().await;
        let (_, id) = world.disputed().await;
        world.clock.advance(A_WHILE);
        world.defend("Entregue.").await.unwrap();
        let since = world.clock.now();
        world.clock.advance(LONG);
        world.psp.reopen(&id);
        world.psp.change(&id, |row| {
            row.opened_at = since + Duration::from_secs(later);
            row.opened_at_is_reported = is_logged;
        });
        assert_eq!((world.poll().await, world.statuses()), (0, vec![InfractionStatus::UnderReview]), "{later}");
        world.psp.change(&id, |row| {
            row.opened_at = since + Duration::from_secs(61);
            row.opened_at_is_reported = true;
        });
        assert_eq!(world.poll().await, 1);
        assert!(world.last().needs_review(), "{later}");
        world.check().await;
    }
}

#[tokio::test]
async fn ambiguous_infraction_ids_are_rejected() {
    let world = World::new().await;
    let (_, id) = world.disputed().await;
    let (_, pix) = world.paid(2_000).await;
    let other = world.psp.dispute(&pix, 2_000);
    for name in [format!("{id}/2"), String::new(), "a name".to_owned(), "x".repeat(129)] {
        let upstream = name.clone();
        world.psp.change(&other, |row| row.id = upstream);
        assert_eq!(world.poll().await, 0, "{name}");
        world.psp.change(&name, |row| row.id.clone_from(&other));
    }
    assert_eq!(world.poll().await, 1);
    world.check().await;
}
