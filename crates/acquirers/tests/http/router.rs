//! The order of acquirers, and who is asked after whom.

use std::sync::Arc;
use std::time::Duration;

use cais_acquirers::Router;
use cais_acquirers::breaker::{FAILURES_TO_OPEN, OPEN_FOR};
use cais_domain::acquirer_name::AcquirerName;
use cais_domain::money::Money;
use cais_ports::acquirer::MockAcquirer;
use cais_ports::{
    Acquirer, AcquirerError, Acquirers, IssueError, Noticed, NoticedPayout, UpstreamCharge, UpstreamPage,
    UpstreamStatus,
};
use jiff::Timestamp;

use crate::answers::{BUDGET, CODE, day, instruction_id, kind, order, payout_order, pix, refund_order, txid};
use crate::breaker::FakeClock;

fn name(text: &str) -> AcquirerName {
    AcquirerName::parse(text).unwrap()
}

fn charge() -> UpstreamCharge {
    UpstreamCharge {
        txid: txid(),
        amount: Money::from_centavos(1_050),
        status: UpstreamStatus::Active,
        copy_paste: Some(CODE.to_owned()),
        expires_at: Timestamp::UNIX_EPOCH,
        payments: Vec::new(),
        answered_at: None,
    }
}

fn says(word: &str) -> Result<UpstreamCharge, AcquirerError> {
    match word {
        "takes" => Ok(charge()),
        "refuses" => Err(AcquirerError::Refused("no".to_owned())),
        "is down" => Err(AcquirerError::Unavailable("down".to_owned())),
        _ => Err(AcquirerError::OutcomeUnknown("lost".to_owned())),
    }
}

/// One that is asked exactly so often to make a charge, and says the same each time.
fn acquirer(called: &str, word: &'static str, times: usize) -> Arc<dyn Acquirer> {
    let mut mock = MockAcquirer::new();
    mock.expect_name().return_const(name(called));
    mock.expect_create_charge().times(times).returning(move |_, _| says(word));
    Arc::new(mock)
}

#[tokio::test]
async fn a_charge_goes_on_only_after_certain_failures() {
    // What each says and how often it is asked.
    type Words = [(&'static str, usize); 3];
    let cases: [(Words, &str, &str); 9] = [
        ([("takes", 1), ("takes", 0), ("takes", 0)], "a", "a took it"),
        ([("refuses", 1), ("takes", 1), ("takes", 0)], "a", "b took it"),
        ([("is down", 1), ("refuses", 1), ("takes", 1)], "a", "c took it"),
        ([("is down", 1), ("loses", 1), ("takes", 0)], "a", "unknown at b: lost"),
        ([("loses", 1), ("takes", 0), ("takes", 0)], "a", "unknown at a: lost"),
        ([("is down", 1), ("refuses", 1), ("is down", 1)], "a", "none: a down, b no, c down"),
        ([("takes", 0), ("takes", 1), ("takes", 0)], "b", "b took it"),
        ([("takes", 1), ("refuses", 1), ("takes", 0)], "b", "a took it"),
        ([("refuses", 1), ("is down", 1), ("refuses", 1)], "c", "none: c no, a no, b down"),
    ];
    for (words, begin_with, wanted) in cases {
        let [a, b, c] = words;
        let router = Router::new(vec![acquirer("a", a.0, a.1), acquirer("b", b.0, b.1), acquirer("c", c.0, c.1)]);
        let issued = router.issue(&order(), &name(begin_with), BUDGET).await;
        assert_eq!(told(issued), wanted, "{words:?} from {begin_with}");
    }
}

fn told(issued: Result<(AcquirerName, UpstreamCharge), IssueError>) -> String {
    match issued {
        Ok((name, _)) => format!("{name} took it"),
        Err(IssueError::Unknown { acquirer, reason }) => format!("unknown at {acquirer}: {reason}"),
        Err(IssueError::NoneTook { reasons }) => {
            let said = |error: &AcquirerError| match error {
                AcquirerError::Refused(why) | AcquirerError::Unavailable(why) | AcquirerError::OutcomeUnknown(why) => {
                    why.clone()
                }
            };
            let list: Vec<_> = reasons.iter().map(|(name, why)| format!("{name} {}", said(why))).collect();
            format!("none: {}", list.join(", "))
        }
    }
}

#[tokio::test]
async fn the_unknown_and_the_timeless_are_not_asked() {
    let router = Router::new(vec![acquirer("a", "takes", 0)]);
    let issued = router.issue(&order(), &name("gone"), BUDGET).await;
    assert_eq!(told(issued), "none: gone it is not configured");
    let issued = router.issue(&order(), &name("a"), Duration::ZERO).await;
    assert_eq!(told(issued), "none: ");
    assert!(router.named(&name("gone")).is_none());
    assert!(Router::new(Vec::new()).first().is_none());
}

#[tokio::test]
async fn one_that_is_down_is_left_alone_and_then_tried_once() {
    let clock = FakeClock::new();
    let failures = usize::try_from(FAILURES_TO_OPEN).unwrap();
    let router = Router::with_clock(
        vec![
            // Once more after its rest.
            acquirer("a", "is down", failures + 1),
            acquirer("b", "takes", failures + 3),
        ],
        &clock.as_clock(),
    );
    let (a, b) = (name("a"), name("b"));
    for _ in 0..failures {
        assert_eq!(router.first(), Some(a.clone()));
        assert_eq!(told(router.issue(&order(), &a, BUDGET).await), "b took it");
    }
    assert_eq!(router.first(), Some(b.clone()));
    // Skipped without being asked, also by name.
    assert_eq!(told(router.issue(&order(), &a, BUDGET).await), "b took it");
    let result = router.named(&a).unwrap().create_charge(&order(), BUDGET).await;
    assert_eq!(kind(&result), "unavailable");
    clock.pass(OPEN_FOR);
    assert_eq!(router.first(), Some(a.clone()));
    assert_eq!(told(router.issue(&order(), &a, BUDGET).await), "b took it");
    assert_eq!(router.first(), Some(b));
    assert_eq!(told(router.issue(&order(), &a, BUDGET).await), "b took it");
}

#[tokio::test]
async fn all_being_left_alone_is_said_without_reasons() {
    let failures = usize::try_from(FAILURES_TO_OPEN).unwrap();
    let router = Router::new(vec![acquirer("a", "is down", failures)]);
    for _ in 0..failures {
        assert_eq!(told(router.issue(&order(), &name("a"), BUDGET).await), "none: a down");
    }
    assert!(router.first().is_none());
    assert_eq!(told(router.issue(&order(), &name("a"), BUDGET).await), "none: ");
}

#[tokio::test]
async fn refusals_of_the_business_never_open_a_breaker() {
    let router = Router::new(vec![acquirer("a", "refuses", 50)]);
    for _ in 0..50 {
        assert_eq!(told(router.issue(&order(), &name("a"), BUDGET).await), "none: a no");
    }
    assert!(router.first().is_some());
}

#[tokio::test]
async fn reads_and_writes_share_one_breaker() {
    let mut mock = MockAcquirer::new();
    mock.expect_name().return_const(name("a"));
    let sent = || Noticed::Sent(NoticedPayout { instruction_id: instruction_id(), returns: Vec::new() });
    mock.expect_notices().returning(move |_| Ok(vec![sent()]));
    mock.expect_find_charge().times(2).returning(|_, _| Err(AcquirerError::OutcomeUnknown("late".to_owned())));
    mock.expect_cancel_charge().times(2).returning(|_, _| Err(AcquirerError::Unavailable("down".to_owned())));
    mock.expect_register_callback().times(1).returning(|_, _| Err(AcquirerError::OutcomeUnknown("late".to_owned())));
    let router = Router::new(vec![Arc::new(mock)]);
    let guarded = router.named(&name("a")).unwrap();
    assert_eq!(guarded.name(), &name("a"));
    for _ in 0..2 {
        assert_eq!(kind(&guarded.find_charge(&txid(), BUDGET).await), "unknown");
        assert_eq!(kind(&guarded.cancel_charge(&txid(), BUDGET).await), "unavailable");
    }
    assert_eq!(kind(&guarded.register_callback("https://x.example", BUDGET).await), "unknown");
    for _ in 0..3 {
        assert_eq!(kind(&guarded.find_charge(&txid(), BUDGET).await), "unavailable");
        assert_eq!(kind(&guarded.cancel_charge(&txid(), BUDGET).await), "unavailable");
        assert_eq!(kind(&guarded.register_callback("https://x.example", BUDGET).await), "unavailable");
    }
    // Reading a callback asks nobody.
    assert_eq!(guarded.notices(b"{}").unwrap(), vec![sent()]);
}

#[tokio::test]
async fn who_follows_is_left_time() {
    let mut first = MockAcquirer::new();
    first.expect_name().return_const(name("a"));
    first.expect_create_charge().times(1).returning(|_, budget| {
        assert!(budget <= Duration::from_millis(6_500), "{budget:?}");
        says("refuses")
    });
    let mut second = MockAcquirer::new();
    second.expect_name().return_const(name("b"));
    second.expect_create_charge().times(1).returning(|_, budget| {
        assert!(budget > Duration::from_secs(7), "{budget:?}");
        says("takes")
    });
    let router = Router::new(vec![Arc::new(first), Arc::new(second)]);
    assert_eq!(told(router.issue(&order(), &name("a"), BUDGET).await), "b took it");
}

/// One that is left alone after five calls of any kind, each of which it answers with `error`.
fn broken(error: &AcquirerError) -> MockAcquirer {
    let mut mock = MockAcquirer::new();
    mock.expect_name().return_const(name("a"));
    mock.expect_sends_payouts().return_const(true);
    let told = |error: &AcquirerError| error.clone();
    let (one, two, three, four, five, six) =
        (told(error), told(error), told(error), told(error), told(error), told(error));
    mock.expect_send_payout().returning(move |_, _| Err(one.clone()));
    mock.expect_find_payout().returning(move |_, _| Err(two.clone()));
    mock.expect_send_refund().returning(move |_, _| Err(three.clone()));
    mock.expect_find_refund().returning(move |_, _, _| Err(four.clone()));
    mock.expect_list_received().returning(move |_, _| Err(five.clone()));
    mock.expect_list_sent().returning(move |_, _| Err(six.clone()));
    mock
}

/// What each of the six calls that money out needs comes to.
async fn money_out(guarded: &dyn Acquirer, budget: Duration) -> [&'static str; 6] {
    let refund = refund_order();
    [
        kind(&guarded.send_payout(&payout_order(), budget).await),
        kind(&guarded.find_payout(&instruction_id(), budget).await),
        kind(&guarded.send_refund(&refund, budget).await),
        kind(&guarded.find_refund(&pix(), refund.id, budget).await),
        kind(&guarded.list_received(day(0), budget).await),
        kind(&guarded.list_sent(day(0), budget).await),
    ]
}

#[tokio::test]
async fn money_out_goes_through_the_breaker() {
    let router = Router::new(vec![Arc::new(broken(&AcquirerError::OutcomeUnknown("late".to_owned())))]);
    let guarded = router.named(&name("a")).unwrap();
    let after_five = ["unknown", "unknown", "unknown", "unknown", "unknown", "unavailable"];
    assert_eq!(money_out(&*guarded, BUDGET).await, after_five);
    assert_eq!(money_out(&*guarded, BUDGET).await, ["unavailable"; 6]);
    assert_eq!(router.first_sender(), None);

    let router = Router::new(vec![Arc::new(broken(&AcquirerError::Refused("no".to_owned())))]);
    let guarded = router.named(&name("a")).unwrap();
    for _ in 0..3 {
        assert_eq!(money_out(&*guarded, BUDGET).await, ["refused"; 6]);
    }
    assert_eq!(money_out(&*guarded, Duration::ZERO).await, ["unavailable"; 6]);
    assert_eq!(router.first_sender(), Some(name("a")));
}

#[tokio::test]
async fn not_to_know_a_name_is_an_answer() {
    let mut mock = MockAcquirer::new();
    mock.expect_name().return_const(name("a"));
    mock.expect_find_payout().returning(|_, _| Ok(None));
    mock.expect_find_refund().returning(|_, _, _| Ok(None));
    mock.expect_list_sent().returning(|_, _| Ok(UpstreamPage::new(Vec::new(), None)));
    let router = Router::new(vec![Arc::new(mock)]);
    let guarded = router.named(&name("a")).unwrap();
    for _ in 0..20 {
        assert_eq!(guarded.find_payout(&instruction_id(), BUDGET).await, Ok(None));
        assert_eq!(guarded.find_refund(&pix(), refund_order().id, BUDGET).await, Ok(None));
        assert!(guarded.list_sent(day(0), BUDGET).await.is_ok());
    }
    assert_eq!(router.first(), Some(name("a")));
}

#[tokio::test]
async fn payouts_go_to_the_first_that_can_send_them() {
    let called = |text: &str, sends: bool| {
        let mut mock = MockAcquirer::new();
        mock.expect_name().return_const(name(text));
        mock.expect_sends_payouts().return_const(sends);
        let down =
            |_: &cais_domain::instruction_id::InstructionId, _| Err(AcquirerError::Unavailable("down".to_owned()));
        mock.expect_find_payout().returning(down);
        let acquirer: Arc<dyn Acquirer> = Arc::new(mock);
        acquirer
    };
    let router = Router::new(vec![called("a", false), called("b", true), called("c", true), called("b", false)]);
    assert_eq!(router.names(), ["a", "b", "c"].map(name));
    assert_eq!((router.first(), router.first_sender()), (Some(name("a")), Some(name("b"))));
    assert!(router.named(&name("b")).unwrap().sends_payouts());
    for _ in 0..FAILURES_TO_OPEN {
        assert!(router.named(&name("b")).unwrap().find_payout(&instruction_id(), BUDGET).await.is_err());
    }
    assert_eq!((router.first(), router.first_sender()), (Some(name("a")), Some(name("c"))));
    assert_eq!(Router::new(vec![called("a", false)]).first_sender(), None);
}
