//! Defense against a dispute: one defense, before the deadline, with a response that contains only certain facts.

use std::time::Duration;

use cais_domain::event::EventType;
use cais_domain::infraction::{InfractionState, InfractionStatus};
use cais_domain::merchant::account::{Account, AccountStatus};
use cais_ports::{Clock as _, UpstreamInfractionStatus};
use cais_testkit::builders::{an_account, fresh};
use cais_testkit::psp::{List, ListReply, Moment, OrderKind, OrderReply};
use cais_use_cases::infractions::defend::{DefendError, defend};
use jiff::ToSpan as _;

use crate::bed::TestBed;

#[tokio::test]
async fn defense_is_sent_with_its_evidence() {
    let bed = TestBed::new().await;
    bed.disputed().await;
    let defended = bed.defend_with("Entregue.", Some("https://shop.example/1")).await.unwrap();
    assert_eq!(defended, bed.last());
    assert_eq!(defended.state, InfractionState::UnderReview { at: bed.clock.now() });
    let defense = defended.defense.unwrap();
    assert_eq!(defense.text.unwrap().as_str(), "Entregue.");
    assert_eq!(defense.submitted_at, Some(bed.clock.now()));
    assert_eq!(bed.psp.defense_orders().pop().unwrap().whole_text(), "Entregue.\nhttps://shop.example/1");
    assert_eq!((bed.psp.defenses(), bed.money()), ((1, 1), [0, 0, 1_000]));
    assert_eq!(bed.event_types(), [EventType::InfractionOpened, EventType::InfractionUnderReview]);
    assert_eq!((bed.poll().await, bed.resume().await), (0, 0), "no work is left");
    bed.check().await;
}

#[tokio::test]
async fn same_defense_is_a_repeat_and_another_is_refused() {
    let bed = TestBed::new().await;
    bed.disputed().await;
    let first = bed.defend("Entregue.").await.unwrap();
    assert_eq!(bed.defend("Entregue.").await, Ok(first.clone()));
    assert_eq!(bed.defend("Outra.").await, Err(DefendError::Defended(InfractionStatus::UnderReview)));
    assert_eq!(
        bed.defend_with("Entregue.", Some("https://e.example")).await,
        Err(DefendError::Defended(InfractionStatus::UnderReview))
    );
    assert_eq!((bed.psp.defenses(), bed.last()), ((1, 1), first));
}

#[tokio::test]
async fn defense_is_accepted_until_last_microsecond() {
    for (late, taken) in [(0, true), (1, false)] {
        let bed = TestBed::new().await;
        bed.disputed().await;
        let deadline = bed.last().deadline_at.unwrap();
        bed.clock.set(deadline + late.microseconds());
        let answer = bed.defend("Entregue.").await;
        assert_eq!(answer.is_ok(), taken);
        if !taken {
            assert_eq!(answer, Err(DefendError::TooLate));
            assert_eq!(bed.psp.defenses(), (0, 0), "the acquirer receives no defense");
        }
        bed.check().await;
    }
}

#[tokio::test]
async fn defense_late_by_acquirers_clock_is_refused() {
    let bed = TestBed::new().await;
    let (_, id) = bed.disputed().await;
    bed.psp.change(&id, |row| row.deadline_at = row.deadline_at.map(|at| at - 168.hours() - 1.second()));
    assert_eq!(bed.defend("Entregue.").await, Err(DefendError::TooLate));
    assert_eq!((bed.statuses(), bed.last().defense), (vec![InfractionStatus::Open], None));
    assert_eq!((bed.psp.defenses(), bed.resume().await), ((1, 0), 0));
    bed.check().await;
}

#[tokio::test]
async fn late_or_refused_defense_is_looked_up_before_withdrawal() {
    for (given, taking, answer) in [
        ("Entregue.", OrderReply::TooLate, Ok(InfractionStatus::UnderReview)),
        ("Do portal.", OrderReply::TooLate, Err(DefendError::Defended(InfractionStatus::UnderReview))),
        ("Entregue.", OrderReply::Refuses, Ok(InfractionStatus::UnderReview)),
        ("Do portal.", OrderReply::Refuses, Err(DefendError::Defended(InfractionStatus::UnderReview))),
    ] {
        let bed = TestBed::new().await;
        let (_, id) = bed.disputed().await;
        bed.psp.receive_defense(&id, given);
        bed.psp.set_for(OrderKind::Defense, taking);
        let defended = bed.defend("Entregue.").await;
        assert_eq!(defended.map(|infraction| infraction.state.status()), answer);
        assert_eq!(bed.last().defense.unwrap().text.unwrap().as_str(), given);
        assert_eq!(bed.statuses(), [InfractionStatus::UnderReview]);
        bed.check().await;
    }
}

#[tokio::test]
async fn late_or_refused_defense_is_kept_until_lookup_succeeds() {
    for taking in [OrderReply::TooLate, OrderReply::Refuses] {
        let bed = TestBed::new().await;
        bed.disputed().await;
        bed.psp.set_for(OrderKind::Defense, taking);
        bed.psp.set_list_reply(List::Infractions, ListReply::Silent);
        assert_eq!(bed.defend("Entregue.").await, Err(DefendError::Unknown { retry_after_s: 2 }));
        assert!(bed.last().defense.is_some());
        bed.psp.set_list_reply(List::Infractions, ListReply::Pages(9));
        bed.clock.advance(crate::bed::PAST_LAG);
        assert_eq!((bed.resume().await, bed.last().defense), (1, None));
        assert_eq!(bed.psp.defenses(), (2, 0));
        bed.check().await;
    }
}

#[tokio::test]
async fn defense_not_accepted_can_be_submitted_again() {
    let refused = DefendError::Refused("the defense is incomplete".to_owned());
    for (taking, expected) in [(OrderReply::Down, DefendError::AcquirerUnavailable), (OrderReply::Refuses, refused)] {
        let bed = TestBed::new().await;
        bed.disputed().await;
        bed.psp.set_for(OrderKind::Defense, taking);
        assert_eq!(bed.defend("Entregue.").await, Err(expected), "{taking:?}");
        assert_eq!((bed.last().defense, bed.last().due_at), (None, None));
        assert_eq!((bed.statuses(), bed.money()), (vec![InfractionStatus::Open], [0, 0, 1_000]));
        bed.psp.set_for(OrderKind::Defense, OrderReply::Accepts);
        assert!(bed.defend("Outras palavras.").await.is_ok());
        bed.check().await;
    }
}

#[tokio::test]
async fn refusal_after_deadline_is_too_late() {
    for (sleep, expected) in
        [(1, DefendError::Refused("the defense is incomplete".to_owned())), (2, DefendError::TooLate)]
    {
        let bed = TestBed::new().await;
        bed.disputed().await;
        bed.clock.set(bed.last().deadline_at.unwrap() - 1.second());
        bed.psp.set_for(OrderKind::Defense, OrderReply::Refuses);
        let slept = bed.sleeping_after_commit(Duration::from_secs(sleep));
        assert_eq!(slept.defend("Entregue.").await, Err(expected));
        assert_eq!((bed.last().defense, bed.statuses()), (None, vec![InfractionStatus::Open]));
        bed.check().await;
    }
}

#[tokio::test]
async fn defense_with_lost_reply_is_looked_up() {
    let bed = TestBed::new().await;
    bed.disputed().await;
    bed.psp.set_for(OrderKind::Defense, OrderReply::LosesReplies);
    let defended = bed.defend("Entregue.").await.unwrap();
    assert_eq!(defended.state.status(), InfractionStatus::UnderReview);
    assert_eq!(bed.psp.defenses(), (1, 1));
    bed.check().await;
}

#[tokio::test]
async fn repeat_with_unknown_arrival_reads_and_does_not_send() {
    let bed = TestBed::new().await;
    bed.disputed().await;
    bed.psp.set_for(OrderKind::Defense, OrderReply::LosesReplies);
    bed.psp.set_list_reply(List::Infractions, ListReply::Silent);
    let unknown = Err(DefendError::Unknown { retry_after_s: 2 });
    assert_eq!(bed.defend("Entregue.").await, unknown);
    assert_eq!(bed.defend("Entregue.").await, unknown);
    assert_eq!(bed.defend("Outra.").await, Err(DefendError::Defended(InfractionStatus::Open)));
    bed.psp.set_list_reply(List::Infractions, ListReply::Pages(9));
    assert!(bed.defend("Entregue.").await.is_ok());
    assert_eq!((bed.psp.defenses(), bed.statuses()), ((1, 1), vec![InfractionStatus::UnderReview]));
    bed.check().await;
}

#[tokio::test]
async fn earlier_defense_from_elsewhere_is_kept() {
    let bed = TestBed::new().await;
    let (_, id) = bed.disputed().await;
    bed.psp.receive_defense(&id, "Já respondido no portal.");
    assert_eq!(bed.defend("Entregue.").await, Err(DefendError::Defended(InfractionStatus::UnderReview)));
    let infraction = bed.last();
    assert_eq!(infraction.state.status(), InfractionStatus::UnderReview);
    assert_eq!(infraction.defense.unwrap().text.unwrap().as_str(), "Já respondido no portal.");
    assert_eq!(bed.psp.defenses(), (1, 0));
    bed.check().await;
}

#[tokio::test]
async fn defense_shown_without_text_or_spacing_is_the_sent_one() {
    for hides in [true, false] {
        let bed = TestBed::new().await;
        let (_, id) = bed.disputed().await;
        bed.psp.set_for(OrderKind::Defense, OrderReply::LosesReplies);
        if hides {
            bed.psp.hide_defense_texts();
        } else {
            let psp = bed.psp.clone();
            bed.psp.when(Moment::Ordered, move || {
                psp.change(&id, |row| {
                    let defense = row.defense.as_mut().unwrap();
                    defense.text = Some(" Entregue  ontem.\r\n ".to_owned());
                });
            });
        }
        let defense = bed.defend("Entregue\nontem.").await.unwrap().defense.unwrap();
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
        let bed = TestBed::new().await;
        let (_, id) = bed.disputed().await;
        bed.psp.settle(&id, upstream);
        bed.poll().await;
        assert_eq!(bed.defend("Entregue.").await, Err(DefendError::InvalidState(status)));
        assert_eq!(bed.psp.defenses(), (0, 0));
    }
}

#[tokio::test]
async fn infraction_that_ends_during_defense_keeps_both() {
    let bed = TestBed::new().await;
    let (_, id) = bed.disputed().await;
    let other = bed.clone();
    bed.psp.when(Moment::Ordered, move || {
        other.psp.settle(&id, UpstreamInfractionStatus::Rejected);
        futures_util::FutureExt::now_or_never(other.poll()).unwrap();
    });
    let infraction = bed.defend("Entregue.").await.unwrap();
    assert_eq!(infraction.state.status(), InfractionStatus::Won);
    assert!(infraction.defense.unwrap().submitted_at.is_some());
    assert_eq!(bed.event_types()[1..], [EventType::InfractionUnderReview, EventType::InfractionWon]);
    bed.check().await;
}

#[tokio::test]
async fn defense_requires_own_account_with_write_permission() {
    let bed = TestBed::new().await;
    bed.disputed().await;
    let (id, text) = (bed.last().id, cais_domain::text::Text::parse("x", 9, cais_domain::text::LineBreaks::Refused));
    let text = text.unwrap();
    let stranger = defend(&bed.ports, &an_account(), id, text.clone(), None).await;
    assert_eq!(stranger, Err(DefendError::NotFound));
    let nothing = defend(&bed.ports, &bed.account, fresh(), text.clone(), None).await;
    assert_eq!(nothing, Err(DefendError::NotFound));
    let suspended = Account { status: AccountStatus::Suspended, ..bed.account.clone() };
    let refused = defend(&bed.ports, &suspended, id, text, None).await;
    assert!(matches!(refused, Err(DefendError::NotPermitted(_))));
    assert_eq!(bed.psp.defenses(), (0, 0));
}

#[tokio::test]
async fn process_resumed_after_deadline_sends_no_defense() {
    let bed = TestBed::new().await;
    bed.disputed().await;
    let slept = bed.sleeping_after_commit(Duration::from_secs(40));
    assert_eq!(slept.defend("Entregue.").await, Err(DefendError::Unknown { retry_after_s: 2 }));
    assert_eq!(bed.psp.defenses(), (0, 0));
    bed.clock.advance(crate::bed::PAST_LAG);
    assert_eq!(bed.resume().await, 1);
    assert_eq!((bed.psp.defenses(), bed.statuses()), ((1, 1), vec![InfractionStatus::UnderReview]));
    bed.check().await;
}

#[tokio::test]
async fn process_resumed_near_deadline_leaves_sending_to_others() {
    let bed = TestBed::new().await;
    bed.disputed().await;
    bed.psp.set_list_reply(List::Infractions, ListReply::Pages(9));
    bed.clock.set(bed.last().deadline_at.unwrap() - 20.seconds());
    // After ten seconds, other nodes may send the defense again.
    let slept = bed.sleeping_after_commit(Duration::from_secs(6));
    assert_eq!(slept.defend("Entregue.").await, Err(DefendError::Unknown { retry_after_s: 2 }));
    assert_eq!((bed.psp.defenses(), bed.last().defense.is_some()), ((0, 0), true));
    bed.clock.advance(Duration::from_secs(4));
    assert_eq!((bed.resume().await, bed.psp.defenses()), (1, (1, 1)));
    bed.check().await;
}
