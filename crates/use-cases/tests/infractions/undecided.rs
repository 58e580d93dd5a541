//! An acquirer that does not show defenses, and does not list the returns of lost infractions.

use cais_domain::infraction::InfractionStatus;
use cais_ports::{UpstreamInfractionStatus, alerts};
use cais_testkit::CapturedLogs;
use cais_testkit::builders::start;
use cais_testkit::psp::{OrderKind, Sending};
use cais_use_cases::infractions::defend::DefendError;
use cais_use_cases::reconcile::run;

use crate::world::{A_WHILE, LONG, World};

#[tokio::test]
async fn undecided_report_agrees_with_open_and_defended() {
    let logs = CapturedLogs::start();
    let world = World::new().await;
    world.psp.be_vague();
    let (_, id) = world.disputed().await;
    world.clock.advance(LONG);
    assert_eq!((world.poll().await, world.statuses()), (0, vec![InfractionStatus::Open]));
    world.defend("Entregue.").await.unwrap();
    for _ in 0..3 {
        world.clock.advance(LONG);
        assert_eq!((world.poll().await, world.statuses()), (0, vec![InfractionStatus::UnderReview]));
    }
    assert_eq!(logs.alerts(alerts::INFRACTION_CONTRADICTED), Vec::<serde_json::Value>::new());
    world.psp.settle(&id, UpstreamInfractionStatus::Rejected);
    world.clock.advance(LONG);
    assert_eq!((world.poll().await, world.statuses()), (1, vec![InfractionStatus::Won]));
    assert_eq!(world.money(), [1_000, 0, 0]);
    world.check().await;
}

#[tokio::test]
async fn refused_first_defense_is_withdrawn() {
    let world = World::new().await;
    world.psp.be_vague();
    world.disputed().await;
    world.psp.set_for(OrderKind::Defense, Sending::Refuses);
    let refused = world.defend("Entregue.").await;
    assert!(matches!(refused, Err(DefendError::Refused(_))), "{refused:?}");
    world.psp.set_for(OrderKind::Defense, Sending::Takes);
    world.defend("Entregue, com recibo.").await.unwrap();
    assert_eq!((world.psp.defenses(), world.statuses()), ((2, 1), vec![InfractionStatus::UnderReview]));
}

/// The first request may have arrived, and no read shows that it did not.
#[tokio::test]
async fn defense_of_unknown_arrival_is_never_withdrawn() {
    let world = World::new().await;
    world.psp.be_vague();
    world.disputed().await;
    world.psp.set_for(OrderKind::Defense, Sending::LosesReplies);
    assert_eq!(world.defend("Entregue.").await, Err(DefendError::Unknown { retry_after_s: 2 }));
    world.psp.set_for(OrderKind::Defense, Sending::Refuses);
    world.clock.advance(A_WHILE);
    assert_eq!(world.resume().await, 0);
    assert_eq!(world.last().defense.unwrap().text.unwrap().as_str(), "Entregue.");
    world.psp.set_for(OrderKind::Defense, Sending::Takes);
    world.clock.advance(LONG);
    assert_eq!(world.resume().await, 1);
    assert_eq!(world.statuses(), [InfractionStatus::UnderReview]);
}

#[tokio::test]
async fn unlisted_return_of_a_loss_is_no_difference() {
    let world = World::new().await;
    world.psp.be_vague();
    let (_, id) = world.disputed().await;
    world.psp.settle(&id, UpstreamInfractionStatus::Accepted);
    world.poll().await;
    assert_eq!((world.statuses(), world.money()), (vec![InfractionStatus::Lost], [0, 0, 0]));
    for _ in 0..2 {
        world.clock.advance(LONG);
        let until = world.clock.advance(std::time::Duration::from_secs(1));
        let found = run(&world.ports, start(), until, true, &|_| {}).await.unwrap();
        assert_eq!(found.differences, []);
    }
}
