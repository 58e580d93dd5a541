//! An acquirer that does not show defenses, and does not list the returns of lost infractions.

use cais_domain::infraction::InfractionStatus;
use cais_ports::{UpstreamInfractionStatus, alerts};
use cais_testkit::CapturedLogs;
use cais_testkit::builders::start;
use cais_testkit::psp::{OrderKind, OrderReply};
use cais_use_cases::infractions::defend::DefendError;
use cais_use_cases::reconcile::run;

use crate::bed::{LONG, PAST_LAG, TestBed};

#[tokio::test]
async fn undecided_report_agrees_with_open_and_defended() {
    let logs = CapturedLogs::start();
    let bed = TestBed::new().await;
    bed.psp.hide_details();
    let (_, id) = bed.disputed().await;
    bed.clock.advance(LONG);
    assert_eq!((bed.poll().await, bed.statuses()), (0, vec![InfractionStatus::Open]));
    bed.defend("Entregue.").await.unwrap();
    for _ in 0..3 {
        bed.clock.advance(LONG);
        assert_eq!((bed.poll().await, bed.statuses()), (0, vec![InfractionStatus::UnderReview]));
    }
    assert_eq!(logs.alerts(alerts::INFRACTION_CONTRADICTED), Vec::<serde_json::Value>::new());
    bed.psp.settle(&id, UpstreamInfractionStatus::Rejected);
    bed.clock.advance(LONG);
    assert_eq!((bed.poll().await, bed.statuses()), (1, vec![InfractionStatus::Won]));
    assert_eq!(bed.money(), [1_000, 0, 0]);
    bed.check().await;
}

#[tokio::test]
async fn refused_first_defense_is_withdrawn() {
    let bed = TestBed::new().await;
    bed.psp.hide_details();
    bed.disputed().await;
    bed.psp.set_for(OrderKind::Defense, OrderReply::Refuses);
    let refused = bed.defend("Entregue.").await;
    assert!(matches!(refused, Err(DefendError::Refused(_))), "{refused:?}");
    bed.psp.set_for(OrderKind::Defense, OrderReply::Accepts);
    bed.defend("Entregue, com recibo.").await.unwrap();
    assert_eq!((bed.psp.defenses(), bed.statuses()), ((2, 1), vec![InfractionStatus::UnderReview]));
}

/// The first request may have arrived, and no read shows that it did not.
#[tokio::test]
async fn defense_of_unknown_arrival_is_never_withdrawn() {
    let bed = TestBed::new().await;
    bed.psp.hide_details();
    bed.disputed().await;
    bed.psp.set_for(OrderKind::Defense, OrderReply::LosesReplies);
    assert_eq!(bed.defend("Entregue.").await, Err(DefendError::Unknown { retry_after_s: 2 }));
    bed.psp.set_for(OrderKind::Defense, OrderReply::Refuses);
    bed.clock.advance(PAST_LAG);
    assert_eq!(bed.resume().await, 0);
    assert_eq!(bed.last().defense.unwrap().text.unwrap().as_str(), "Entregue.");
    bed.psp.set_for(OrderKind::Defense, OrderReply::Accepts);
    bed.clock.advance(LONG);
    assert_eq!(bed.resume().await, 1);
    assert_eq!(bed.statuses(), [InfractionStatus::UnderReview]);
}

#[tokio::test]
async fn unlisted_return_of_a_loss_is_no_difference() {
    let bed = TestBed::new().await;
    bed.psp.hide_details();
    let (_, id) = bed.disputed().await;
    bed.psp.settle(&id, UpstreamInfractionStatus::Accepted);
    bed.poll().await;
    assert_eq!((bed.statuses(), bed.money()), (vec![InfractionStatus::Lost], [0, 0, 0]));
    for _ in 0..2 {
        bed.clock.advance(LONG);
        let until = bed.clock.advance(std::time::Duration::from_secs(1));
        let found = run(&bed.ports, start(), until, true, &|_| {}).await.unwrap();
        assert_eq!(found.differences, []);
    }
}
