//! Defense against a dispute: one defense, before the deadline, with a response that contains only certain facts.

use std::time::Duration;

use cais_domain::event::EventType;
use cais_domain::infraction::{InfractionState, InfractionStatus};
use cais_domain::merchant::account::{Account, AccountStatus};
use cais_ports::{Clock as _, UpstreamInfractionStatus};
use cais_testkit::builders::{an_account, fresh};
use cais_testkit::psp::{List, Listing, Moment, OrderKind, Sending};
use cais_use_cases::infractions::defend::{DefendError, defend};
use jiff::ToSpan as _;

use crate::world::World;

#[tokio::test]
async fn defense_is_sent_with_its_evidence() {
    let world = World::new().await;
    world.disputed().await;
    let defended = world.defend_with("Entregue.", Some("https://shop.example/1")).await.unwrap();
    assert_eq!(defended, world.last());
    assert_eq!(defended.state, InfractionState::UnderReview { at: world.clock.now() });
    let defense = defended.defense.unwrap();
    assert_eq!(defense.text.unwrap().as_str(), "Entregue.");
    assert_eq!(defense.submitted_at, Some(world.clock.now()));
    assert_eq!(world.psp.defense_orders().pop().unwrap().whole_text(), "Entregue.\nhttps://shop.example/1");
    assert_eq!((world.psp.defenses(), world.money()), ((1, 1), [0, 0, 1_000]));
    assert_eq!(world.event_types(), [EventType::InfractionOpened, EventType::InfractionUnderReview]);
    assert_eq!((world.poll().await, world.resume().await), (0, 0), "no work is left");
    world.check().await;
}

#[tokio::test]
async fn same_defense_is_a_repeat_and_another_is_refused() {
    let world = World::new().await;
    world.disputed().await;
    let first = world.defend("Entregue.").await.unwrap();
    assert_eq!(world.defend("Entregue.").await, Ok(first.clone()));
    assert_eq!(world.defend("Outra.").await, Err(DefendError::Defended(InfractionStatus::UnderReview)));
    assert_eq!(
        world.defend_with("Entregue.", Some("https://e.example")).await,
        Err(DefendError::Defended(InfractionStatus::UnderReview))
    );
    assert_eq!((world.psp.defenses(), world.last()), ((1, 1), first));
}

#[tokio::test]
async fn defense_is_accepted_until_last_microsecond() {
    for (late, taken) in [(0, true), (1, false)] {
        let world = World::new().await;
        world.disputed().await;
        let deadline = world.last().deadline_at.unwrap();
        world.clock.set(deadline + late.microseconds());
        let answer = world.defend("Entregue.").await;
        assert_eq!(answer.is_ok(), taken);
        if !taken {
            assert_eq!(answer, Err(DefendError::TooLate));
            assert_eq!(world.psp.defenses(), (0, 0), "the acquirer receives no defense");
        }
        world.check().await;
    }
}

#[tokio::test]
async fn defense_late_by_acquirers_clock_is_refused() {
    let world = World::new().await;
    let (_, id) = world.disputed().await;
    world.psp.change(&id, |row| row.deadline_at = row.deadline_at.map(|at| at - 168.hours() - 1.second()));
    assert_eq!(world.defend("Entregue.").await, Err(DefendError::TooLate));
    assert_eq!((world.statuses(), world.last().defense), (vec![InfractionStatus::Open], None));
    assert_eq!((world.psp.defenses(), world.resume().await), ((1, 0), 0));
    world.check().await;
}

#[tokio::test]
async fn late_or_refused_defense_is_looked_up_before_withdrawal() {
    for (given, taking, answer) in [
        ("Entregue.", Sending::TooLate, Ok(InfractionStatus::UnderReview)),
        ("Do portal.", Sending::TooLate, Err(DefendError::Defended(InfractionStatus::UnderReview))),
        ("Entregue.", Sending::Refuses, Ok(InfractionStatus::UnderReview)),
        ("Do portal.", Sending::Refuses, Err(DefendError::Defended(InfractionStatus::UnderReview))),
    ] {
        let world = World::new().await;
        let (_, id) = world.disputed().await;
        world.psp.receive_defense(&id, given);
        world.psp.set_for(OrderKind::Defense, taking);
        let defended = world.defend("Entregue.").await;
        assert_eq!(defended.map(|infraction| infraction.state.status()), answer);
        assert_eq!(world.last().defense.unwrap().text.unwrap().as_str(), given);
        assert_eq!(world.statuses(), [InfractionStatus::UnderReview]);
        world.check().await;
    }
}

#[tokio::test]
async fn late_or_refused_defense_is_kept_until_lookup_succeeds() {
    for taking in [Sending::TooLate, Sending::Refuses] {
        let world = World::new().await;
        world.disputed().await;
        world.psp.set_for(OrderKind::Defense, taking);
        world.psp.set_list(List::Infractions, Listing::Silent);
        assert_eq!(world.defend("Entregue.").await, Err(DefendError::Unknown { retry_after_s: 2 }));
        assert!(world.last().defense.is_some());
        world.psp.set_list(List::Infractions, Listing::Pages(9));
        world.clock.advance(crate::world::A_WHILE);
        assert_eq!((world.resume().await, world.last().defense), (1, None));
        assert_eq!(world.psp.defenses(), (2, 0));
        world.check().await;
    }
}

#[tokio::test]
async fn defense_not_accepted_can_be_submitted_again() {
    let refused = DefendError::Refused("the defense is incomplete".to_owned());
    for (taking, expected) in [(Sending::Down, DefendError::AcquirerUnavailable), (Sending::Refuses, refused)] {
        let world = World::new().await;
        world.disputed().await;
        world.psp.set_for(OrderKind::Defense, taking);
        assert_eq!(world.defend("Entregue.").await, Err(expected), "{taking:?}");
        assert_eq!((world.last().defense, world.last().due_at), (None, None));
        assert_eq!((world.statuses(), world.money()), (vec![InfractionStatus::Open], [0, 0, 1_000]));
        world.psp.set_for(OrderKind::Defense, Sending::Takes);
        assert!(world.defend("Outras palavras.").await.is_ok());
        world.check().await;
    }
}

#[tokio::test]
async fn refusal_after_deadline_is_too_late() {
    for (sleep, expected) in
        [(1, DefendError::Refused("the defense is incomplete".to_owned())), (2, DefendError::TooLate)]
    {
        let world = World::new().await;
        world.disputed().await;
        world.clock.set(world.last().deadline_at.unwrap() - 1.second());
        world.psp.set_for(OrderKind::Defense, Sending::Refuses);
        let slept = world.sleeping_after_commit(Duration::from_secs(sleep));
        assert_eq!(slept.defend("Entregue.").await, Err(expected));
        assert_eq!((world.last().defense, world.statuses()), (None, vec![InfractionStatus::Open]));
        world.check().await;
    }
}

#[tokio::test]
async fn defense_with_lost_reply_is_looked_up() {
    let world = World::new().await;
    world.disputed().await;
    world.psp.set_for(OrderKind::Defense, Sending::LosesReplies);
    let defended = world.defend("Entregue.").await.unwrap();
    assert_eq!(defended.state.status(), InfractionStatus::UnderReview);
    assert_eq!(world.psp.defenses(), (1, 1));
    world.check().await;
}

#[tokio::test]
async fn repeat_with_unknown_arrival_reads_and_does_not_send() {
    let world = World::new().await;
    world.disputed().await;
    world.psp.set_for(OrderKind::Defense, Sending::LosesReplies);
    world.psp.set_list(List::Infractions, Listing::Silent);
    let unknown = Err(DefendError::Unknown { retry_after_s: 2 });
    assert_eq!(world.defend("Entregue.").await, unknown);
    assert_eq!(world.defend("Entregue.").await, unknown);
    assert_eq!(world.defend("Outra.").await, Err(DefendError::Defended(InfractionStatus::Open)));
    world.psp.set_list(List::Infractions, Listing::Pages(9));
    assert!(world.defend("Entregue.").await.is_ok());
    assert_eq!((world.psp.defenses(), world.statuses()), ((1, 1), vec![InfractionStatus::UnderReview]));
    world.check().await;
}

#[tokio::test]
async fn earlier_defense_from_elsewhere_is_kept() {
    let world = World::new().await;
    let (_, id) = world.disputed().await;
    world.psp.receive_defense(&id, "Já respondido no portal.");
    assert_eq!(world.defend("Entregue.").await, Err(DefendError::Defended(InfractionStatus::UnderReview)));
    let infraction = world.last();
    assert_eq!(infraction.state.status(), InfractionStatus::UnderReview);
    assert_eq!(infraction.defense.unwrap().text.unwrap().as_str(), "Já respondido no portal.");
    assert_eq!(world.psp.defenses(), (1, 0));
    world.check().await;
}

#[tokio::test]
async fn defense_shown_without_text_or_spacing_is_the_sent_one() {
    for hides in [true, false] {
        let world = World::new().await;
        let (_, id) = world.disputed().await;
        world.psp.set_for(OrderKind::Defense, Sending::LosesReplies);
        if hides {
            world.psp.hide_words();
        } else {
            let psp = world.psp.clone();
            world.psp.when(Moment::Ordered, move || {
                psp.change(&id, |row| {
                    let defense = row.defense.as_mut().unwrap();
                    defense.text = Some(" Entregue  ontem.\r\n ".to_owned());
                });
            });
        }
        let defense = world.defend("Entregue\nontem.").await.unwrap().defense.unwrap();
        assert_eq!(defense.text.unwrap().as_str(), "Entregue\nontem.");
    }
}

#[tokio::test]
async fn ended_infraction_cannot_be_defended() {
    for (upstream, status) in [
        (UpstreamInfractionStatus::Accepted, InfractionStatus::Lost),
        (UpstreamInfractionStatus::Rejected, InfractionStatus::Won),
        (UpstreamInfractionStatus::Cancelled, InfractionStatus::Cancelled),
    ] {
        let world = World::new().await;
        let (_, id) = world.disputed().await;
        world.psp.settle(&id, upstream);
        world.poll().await;
        assert_eq!(world.defend("Entregue.").await, Err(DefendError::InvalidState(status)));
        assert_eq!(world.psp.defenses(), (0, 0));
    }
}

#[tokio::test]
async fn infraction_that_ends_during_defense_keeps_both() {
    let world = World::new().await;
    let (_, id) = world.disputed().await;
    let other = world.clone();
    world.psp.when(Moment::Ordered, move || {
        other.psp.settle(&id, UpstreamInfractionStatus::Rejected);
        futures_util::FutureExt::now_or_never(other.poll()).unwrap();
    });
    let infraction = world.defend("Entregue.").await.unwrap();
    assert_eq!(infraction.state.status(), InfractionStatus::Won);
    assert!(infraction.defense.unwrap().submitted_at.is_some());
    assert_eq!(world.event_types()[1..], [EventType::InfractionUnderReview, EventType::InfractionWon]);
    world.check().await;
}

#[tokio::test]
async fn defense_requires_own_account_with_write_permission() {
    let world = World::new().await;
    world.disputed().await;
    let (id, text) = (world.last().id, cais_domain::text::Text::parse("x", 9, cais_domain::text::LineBreaks::Refused));
    let text = text.unwrap();
    let stranger = defend(&world.ports, &an_account(), id, text.clone(), None).await;
    assert_eq!(stranger, Err(DefendError::NotFound));
    let nothing = defend(&world.ports, &world.account, fresh(), text.clone(), None).await;
    assert_eq!(nothing, Err(DefendError::NotFound));
    let suspended = Account { status: AccountStatus::Suspended, ..world.account.clone() };
    let refused = defend(&world.ports, &suspended, id, text, None).await;
    assert!(matches!(refused, Err(DefendError::NotPermitted(_))));
    assert_eq!(world.psp.defenses(), (0, 0));
}

#[tokio::test]
async fn process_resumed_after_deadline_sends_no_defense() {
    let world = World::new().await;
    world.disputed().await;
    let slept = world.sleeping_after_commit(Duration::from_secs(40));
    assert_eq!(slept.defend("Entregue.").await, Err(DefendError::Unknown { retry_after_s: 2 }));
    assert_eq!(world.psp.defenses(), (0, 0));
    world.clock.advance(crate::world::A_WHILE);
    assert_eq!(world.resume().await, 1);
    assert_eq!((world.psp.defenses(), world.statuses()), ((1, 1), vec![InfractionStatus::UnderReview]));
    world.check().await;
}

#[tokio::test]
async fn process_resumed_near_deadline_leaves_sending_to_others() {
    let world = World::new().await;
    world.disputed().await;
    world.psp.set_list(List::Infractions, Listing::Pages(9));
    world.clock.set(world.last().deadline_at.unwrap() - 20.seconds());
    // After ten seconds, other nodes may send the defense again.
    let slept = world.sleeping_after_commit(Duration::from_secs(6));
    assert_eq!(slept.defend("Entregue.").await, Err(DefendError::Unknown { retry_after_s: 2 }));
    assert_eq!((world.psp.defenses(), world.last().defense.is_some()), ((0, 0), true));
    world.clock.advance(Duration::from_secs(4));
    assert_eq!((world.resume().await, world.psp.defenses()), (1, (1, 1)));
    world.check().await;
}
