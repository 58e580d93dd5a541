//! Tests every pair of state and action of an infraction with one table. The table also generates the diagram in
//! `docs/INFRACTIONS.md`.
#![expect(clippy::unwrap_used, clippy::panic, clippy::arithmetic_side_effects, reason = "a test fails by panicking")]

use std::fmt::Write as _;
use std::path::Path;

use jiff::{Timestamp, ToSpan as _};
use uuid::Uuid;

use super::*;
use crate::block::{BlockChange, BlockEnd};
use crate::charge::{Charge, ChargeState, ChargeTerms, Issued, Origin, Settlement};
use crate::event::EventType;
use crate::payment::{CreditedPayment, Payment, PaymentRole};
use crate::split::Split;
use crate::text::{LineBreaks, Text};

/// The stage of an infraction: its status. `Sent` is an open infraction with a defense that is not confirmed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    Open,
    Sent,
    UnderReview,
    Won,
    Lost,
    Cancelled,
}

#[derive(Debug, Clone, Copy)]
enum Action {
    Amend,
    Defend,
    DefendOtherwise,
    SendAgain,
    Withdraw,
    Review,
    Mark,
    Win,
    Lose,
    Cancel,
}

/// All actions, each with its label in the diagram.
const ACTIONS: [(Action, &str); 10] = [
    (Action::Amend, "the acquirer reports a change"),
    (Action::Defend, "the merchant submits a defense"),
    (Action::DefendOtherwise, "the merchant submits another defense"),
    (Action::SendAgain, "the defense is sent again"),
    (Action::Withdraw, "the acquirer did not accept the defense"),
    (Action::Review, "the acquirer has a defense"),
    (Action::Mark, "an operator has to decide"),
    (Action::Win, "dispute rejected"),
    (Action::Lose, "dispute accepted"),
    (Action::Cancel, "dispute withdrawn"),
];

/// The expected result of each pair:
/// - the next status;
/// - `same` if the step was applied before, so that nothing changes;
/// - `no` for the error `InvalidState`;
/// - `defended` for the error `Defended`: the infraction has another defense.
const TABLE: [(Stage, [&str; 10]); 6] = [
    //                    amend   defend  otherwise again withdraw review       mark    win    lose    cancel
    (Stage::Open, ["open", "open", "open", "no", "same", "under_review", "open", "won", "lost", "cancelled"]),
    (Stage::Sent, ["open", "same", "defended", "open", "open", "under_review", "open", "won", "lost", "cancelled"]),
    (
        Stage::UnderReview,
        ["under_review", "same", "defended", "no", "no", "same", "under_review", "won", "lost", "cancelled"],
    ),
    (Stage::Won, ["no", "no", "no", "no", "no", "no", "no", "same", "no", "no"]),
    (Stage::Lost, ["no", "no", "no", "no", "no", "no", "no", "no", "same", "no"]),
    (Stage::Cancelled, ["no", "no", "no", "no", "no", "no", "no", "no", "no", "same"]),
];

fn start() -> Timestamp {
    "2026-01-02T03:04:05Z".parse().unwrap()
}

fn deadline() -> Timestamp {
    start() + 72.hours()
}

fn acquirer() -> AcquirerName {
    AcquirerName::parse("main").unwrap()
}

fn pix() -> EndToEndId {
    EndToEndId::parse("E1234567820260102030400000000001").unwrap()
}

fn text(text: &str) -> Text {
    Text::parse(text, MAX_DEFENSE_TEXT, LineBreaks::Allowed).unwrap()
}

fn money(centavos: i64) -> Money {
    Money::from_centavos(centavos)
}

/// Returns a payment of R$ 10.00. The whole amount settled the charge.
fn payment() -> CreditedPayment {
    let payment = Payment { end_to_end_id: pix(), amount: money(1_000), paid_at: start(), acquirer: acquirer() };
    let (account, charge) = (AccountId::new(Uuid::nil()), ChargeId::new(Uuid::nil()));
    let (role, credited_at, refunded_beyond) = (PaymentRole::Settles, start(), Money::ZERO);
    CreditedPayment { payment, account, charge, role, credited_at, refunded_beyond }
}

/// Returns a paid charge with the given number of open infractions.
fn charge(open_infractions: u32) -> Charge {
    let terms = ChargeTerms {
        amount: money(1_000),
        fee: money(60),
        description: None,
        payer_name: None,
        payer_document: None,
        expires_in_s: 3_600,
        external_id: None,
        postback: None,
        split: Split::NONE,
        origin: Origin::Api,
    };
    let issued = Issued { acquirer: acquirer(), copy_paste: "000201".into(), expires_at: start() };
    let settlement = Settlement { paid_at: start(), end_to_end_id: pix(), parts: Vec::new() };
    let (id, account) = (ChargeId::new(Uuid::nil()), AccountId::new(Uuid::nil()));
    let state = ChargeState::Paid(issued, settlement);
    Charge { state, open_infractions, ..Charge::open(id, account, terms, acquirer(), start()) }
}

fn report(reason: &str) -> DisputeReport {
    DisputeReport {
        id: InfractionId::new(Uuid::from_u128(1)),
        acquirer: acquirer(),
        upstream_id: "upstream".into(),
        reason: Some(reason.into()),
        situation: Situation::Scam,
        amount: money(400),
        opened_at: start(),
        deadline_at: Some(deadline()),
    }
}

fn taken(step: Result<InfractionStep, InfractionError>) -> InfractionChange {
    match step {
        Ok(InfractionStep::Taken(change)) => *change,
        other => panic!("{other:?}"),
    }
}

fn opened() -> InfractionChange {
    let (payment, charge) = (payment(), charge(0));
    let disputed = Disputed { payment: &payment, charge: &charge, infractions: &[] };
    taken(Infraction::open(report("golpe"), disputed, start()))
}

fn infraction(stage: Stage) -> Infraction {
    let sent = Defense { text: Some(text("ours")), evidence_url: None, sent_at: start(), submitted_at: None };
    let submitted = Defense { submitted_at: Some(start()), ..sent.clone() };
    let (at, returned, refunded) = (start(), money(400), money(400));
    let (state, defense) = match stage {
        Stage::Open => (InfractionState::Open, None),
        Stage::Sent => (InfractionState::Open, Some(sent)),
        Stage::UnderReview => (InfractionState::UnderReview { at }, Some(submitted)),
        Stage::Won => (InfractionState::Won { at }, Some(submitted)),
        Stage::Lost => (InfractionState::Lost { returned, refunded, at }, None),
        Stage::Cancelled => (InfractionState::Cancelled { at }, None),
    };
    let due_at = (stage == Stage::Sent).then(start);
    Infraction { state, defense, due_at, ..opened().infraction }
}

fn apply(infraction: Infraction, action: Action) -> Result<InfractionStep, InfractionError> {
    let open = u32::from(infraction.state.status().is_open());
    let (payment, charge, all, at) = (payment(), charge(open), [infraction.clone()], deadline());
    let disputed = Disputed { payment: &payment, charge: &charge, infractions: &all };
    match action {
        Action::Amend => infraction.amend(&report("coerção"), disputed),
        Action::Defend => infraction.defend(text("ours"), None, at),
        Action::DefendOtherwise => infraction.defend(text("ours"), Some(text("https://e.example")), at),
        Action::SendAgain => infraction.send_again(at),
        Action::Withdraw => infraction.withdraw_defense(),
        Action::Review => infraction.review(None, at),
        Action::Mark => infraction.mark(ReviewReason::ReopenedUnseen, at),
        Action::Win => infraction.win(disputed, money(400), at),
        Action::Lose => infraction.lose(disputed, money(400), at),
        Action::Cancel => infraction.cancel(disputed, money(400), at),
    }
}

#[test]
fn every_state_and_action_has_the_expected_result() {
    for (stage, row) in TABLE {
        for ((action, _), expected) in ACTIONS.into_iter().zip(row) {
            let before = infraction(stage);
            let got = match apply(before.clone(), action) {
                Ok(InfractionStep::Taken(change)) => change.infraction.state.status().as_str(),
                Ok(InfractionStep::AlreadyTaken(same)) => {
                    assert_eq!(*same, before, "a repeat changes nothing");
                    "same"
                }
                Err(InfractionError::InvalidState(named)) => {
                    assert_eq!(named, before.state.status(), "the error names the state");
                    "no"
                }
                Err(InfractionError::Defended(_)) => "defended",
                Err(other) => panic!("{stage:?} {action:?}: {other}"),
            };
            assert_eq!(got, expected, "{stage:?} {action:?}");
        }
    }
}

#[test]
fn events_are_published_only_for_visible_states() {
    assert_eq!(opened().event, Some(EventType::InfractionOpened));
    for (action, event) in [
        (Action::Amend, None),
        (Action::Defend, None),
        (Action::Review, Some(EventType::InfractionUnderReview)),
        (Action::Mark, None),
        (Action::Win, Some(EventType::InfractionWon)),
        (Action::Lose, Some(EventType::InfractionLost)),
        (Action::Cancel, Some(EventType::InfractionCancelled)),
    ] {
        assert_eq!(taken(apply(infraction(Stage::Open), action)).event, event, "{action:?}");
    }
}

#[test]
fn each_step_changes_block_and_charge_as_expected() {
    let opening = opened();
    let [BlockChange::Hold { limit, .. }] = &opening.blocks[..] else { panic!("{:?}", opening.blocks) };
    assert_eq!((*limit, opening.charge.unwrap().open_infractions), (money(400), 1));
    for (action, returned) in [(Action::Win, 0), (Action::Cancel, 0), (Action::Lose, 400)] {
        let change = taken(apply(infraction(Stage::UnderReview), action));
        let [BlockChange::End { held, to, .. }] = &change.blocks[..] else { panic!("{:?}", change.blocks) };
        assert_eq!((*held, matches!(to, BlockEnd::Returned(_))), (money(400), returned > 0), "{action:?}");
        let charge = change.charge.unwrap();
        assert_eq!((charge.open_infractions, charge.refunds.done), (0, money(returned)), "{action:?}");
        assert_eq!(change.infraction.due_at, None);
    }
    for action in [Action::Defend, Action::Review, Action::Mark] {
        let change = taken(apply(infraction(Stage::Open), action));
        assert!(change.blocks.is_empty() && change.charge.is_none(), "{action:?} moves no money");
    }
}

#[test]
fn lost_infraction_returns_at_most_the_given_amount() {
    for (most, returned, limit) in [(-1, 0, 0), (0, 0, 0), (100, 100, 100), (300, 300, 300), (350, 300, 350)] {
        let before = infraction(Stage::UnderReview);
        let (payment, charge, all) = (payment(), charge(1), [before.clone()]);
        let disputed = Disputed { payment: &payment, charge: &charge, infractions: &all };
        let change = taken(before.lose_at_most(disputed, (money(300), money(most)), deadline()));
        let lost = InfractionState::Lost { returned: money(returned), refunded: money(returned), at: deadline() };
        assert_eq!((change.infraction.state.clone(), change.infraction.limit), (lost, money(limit)));
        assert_eq!(change.charge.unwrap().refunds.done, money(returned));
        let (freed, end) = change.blocks.split_at(change.blocks.len() - 1);
        let [BlockChange::End { held, to: BlockEnd::Returned(_), .. }] = end else { panic!("{end:?}") };
        assert_eq!(*held, money(returned));
        match freed {
            [] => assert_eq!(returned, 300),
            [BlockChange::Hold { limit, .. }] => assert_eq!((*limit, returned < 300), (money(returned), true)),
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn marked_infraction_needs_review_until_it_ends() {
    let mark = |infraction: Infraction| infraction.mark(ReviewReason::UnexplainedReturn, deadline());
    let marked = taken(mark(infraction(Stage::UnderReview))).infraction;
    assert_eq!(marked.review, Some(Review { reason: ReviewReason::UnexplainedReturn, since: deadline() }));
    assert!(marked.needs_review() && !infraction(Stage::UnderReview).needs_review());
    assert_eq!(
        mark(marked.clone()),
        Ok(InfractionStep::AlreadyTaken(Box::new(marked.clone()))),
        "the first mark stays"
    );
    let ended = taken(apply(marked, Action::Win)).infraction;
    assert!(ended.review.is_some() && !ended.needs_review());
}

#[test]
fn defense_is_accepted_until_the_deadline_inclusive() {
    let open = infraction(Stage::Open);
    let late = deadline() + 1.microsecond();
    assert!(matches!(open.clone().defend(text("ours"), None, deadline()), Ok(InfractionStep::Taken(_))));
    assert_eq!(open.clone().defend(text("ours"), None, late), Err(InfractionError::TooLate(deadline())));
    let repeat = infraction(Stage::Sent).defend(text("ours"), None, late);
    assert!(matches!(repeat, Ok(InfractionStep::AlreadyTaken(_))), "the same defense is accepted after the deadline");
    let endless = Infraction { deadline_at: None, ..open };
    assert!(endless.defend(text("ours"), None, late).is_ok());
}

#[test]
fn defense_at_the_acquirer_is_kept_unchanged() {
    let theirs =
        Defense { text: Some(text("theirs")), evidence_url: None, sent_at: start(), submitted_at: Some(start()) };
    let change = taken(infraction(Stage::Sent).review(Some(theirs.clone()), deadline()));
    assert_eq!((change.infraction.defense, change.infraction.due_at), (Some(theirs), None));
    let ours = taken(infraction(Stage::Sent).review(None, deadline())).infraction.defense.unwrap();
    assert_eq!((ours.text, ours.sent_at, ours.submitted_at), (Some(text("ours")), start(), Some(deadline())));
    let unreported = taken(infraction(Stage::Open).review(None, deadline())).infraction;
    assert_eq!(unreported.defense, None);
    let again = unreported.defend(text("ours"), None, deadline());
    assert_eq!(again, Err(InfractionError::InvalidState(InfractionStatus::UnderReview)));
}

#[test]
fn pause_grows_while_defense_is_unconfirmed() {
    let mut sent = taken(apply(infraction(Stage::Open), Action::Defend)).infraction;
    for seconds in [1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300] {
        assert_eq!(sent.due_at, Some(deadline() + seconds.seconds()));
        sent = sent.schedule_next_poll(deadline());
    }
    let again = taken(sent.send_again(deadline() + 1.hour())).infraction;
    assert_eq!(again.defense.map(|defense| defense.sent_at), Some(deadline() + 1.hour()));
    let withdrawn = taken(apply(infraction(Stage::Sent), Action::Withdraw)).infraction;
    assert_eq!((withdrawn.defense, withdrawn.due_at, withdrawn.attempts), (None, None, 0));
}

/// Returns the Mermaid diagram of all changes of status in the table.
fn diagram() -> String {
    let mut lines = String::from("stateDiagram-v2\n    [*] --> open: a dispute becomes known\n");
    for stage in [Stage::Open, Stage::UnderReview] {
        for (action, label) in ACTIONS {
            let before = infraction(stage);
            let from = before.state.status();
            let Ok(InfractionStep::Taken(change)) = apply(before, action) else { continue };
            let to = change.infraction.state.status();
            if to != from {
                writeln!(lines, "    {} --> {}: {label}", from.as_str(), to.as_str()).unwrap();
            }
        }
    }
    for status in InfractionStatus::ALL.into_iter().filter(|status| !status.is_open()) {
        writeln!(lines, "    {} --> [*]", status.as_str()).unwrap();
    }
    lines
}

#[test]
fn documentation_contains_the_state_diagram() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/INFRACTIONS.md");
    let written = std::fs::read_to_string(page).unwrap();
    let fenced = format!("```mermaid\n{}```\n", diagram());
    assert!(written.contains(&fenced), "docs/INFRACTIONS.md has to contain:\n{fenced}");
}
