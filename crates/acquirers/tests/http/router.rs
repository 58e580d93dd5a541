//! Tests the order of acquirers, and the failover between them.

use std::sync::Arc;
use std::time::Duration;

use cais_acquirers::breaker::{FAILURES_TO_OPEN, OPEN_FOR};
use cais_acquirers::{Route, Router};
use cais_domain::acquirer_name::AcquirerName;
use cais_domain::money::Money;
use cais_ports::acquirer::MockAcquirer;
use cais_ports::{
    Acquirer, AcquirerError, Acquirers, CallbackItem, CallbackPayout, IssueError, UpstreamCharge, UpstreamPage,
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

fn reply(word: &str) -> Result<UpstreamCharge, AcquirerError> {
    match word {
        "takes" => Ok(charge()),
        "refuses" => Err(AcquirerError::Refused("no".to_owned())),
        "is down" => Err(AcquirerError::Unavailable("down".to_owned())),
        _ => Err(AcquirerError::OutcomeUnknown("lost".to_owned())),
    }
}

/// Creates an acquirer that expects `times` creations and always gives the same answer.
pub fn acquirer(called: &str, word: &'static str, times: usize) -> Arc<dyn Acquirer> {
    let mut mock = MockAcquirer::new();
    mock.expect_name().return_const(name(called));
    mock.expect_create_charge().times(times).returning(move |_, _| reply(word));
    Arc::new(mock)
}

#[tokio::test]
async fn charge_fails_over_only_after_certain_failure() {
    // The answer of each acquirer, and its number of calls.
    type Words = [(&'static str, usize); 3];
    let cases: [(Words, &str, &str); 9] = [
        ([("takes", 1), ("takes", 0), ("takes", 0)], "a", "a issued it"),
        ([("refuses", 1), ("takes", 1), ("takes", 0)], "a", "b issued it"),
        ([("is down", 1), ("refuses", 1), ("takes", 1)], "a", "c issued it"),
        ([("is down", 1), ("loses", 1), ("takes", 0)], "a", "unknown at b: lost"),
        ([("loses", 1), ("takes", 0), ("takes", 0)], "a", "unknown at a: lost"),
        ([("is down", 1), ("refuses", 1), ("is down", 1)], "a", "none: a down, b no, c down"),
        ([("takes", 0), ("takes", 1), ("takes", 0)], "b", "b issued it"),
        ([("takes", 1), ("refuses", 1), ("takes", 0)], "b", "a issued it"),
        ([("refuses", 1), ("is down", 1), ("refuses", 1)], "c", "none: c no, a no, b down"),
    ];
    for (words, begin_with, wanted) in cases {
        let [a, b, c] = words;
        let router = Router::new(vec![acquirer("a", a.0, a.1), acquirer("b", b.0, b.1), acquirer("c", c.0, c.1)]);
        let issued = router.issue(&order(), &name(begin_with), BUDGET).await;
        assert_eq!(shown(issued), wanted, "{words:?} from {begin_with}");
    }
}

fn shown(issued: Result<(AcquirerName, UpstreamCharge), IssueError>) -> String {
    match issued {
        Ok((name, _)) => format!("{name} issued it"),
        Err(IssueError::Unknown { acquirer, reason }) => format!("unknown at {acquirer}: {reason}"),
        Err(IssueError::NoneTook { reasons }) => {
            let message = |error: &AcquirerError| match error {
                AcquirerError::Refused(why) | AcquirerError::Unavailable(why) | AcquirerError::OutcomeUnknown(why) => {
                    why.clone()
                }
            };
            let list: Vec<_> = reasons.iter().map(|(name, why)| format!("{name} {}", message(why))).collect();
            format!("none: {}", list.join(", "))
        }
    }
}

#[tokio::test]
async fn unknown_acquirer_or_passed_deadline_makes_no_call() {
    let router = Router::new(vec![acquirer("a", "takes", 0)]);
    let issued = router.issue(&order(), &name("gone"), BUDGET).await;
    assert_eq!(shown(issued), "none: gone the acquirer is not configured");
    let issued = router.issue(&order(), &name("a"), Duration::ZERO).await;
    assert_eq!(shown(issued), "none: ");
    assert!(router.named(&name("gone")).is_none());
    assert!(Router::new(Vec::new()).first(&[]).is_none());
}

#[tokio::test]
async fn open_breaker_skips_acquirer_then_allows_one_trial() {
    let clock = FakeClock::new();
    let failures = usize::try_from(FAILURES_TO_OPEN).unwrap();
    let router = Router::with_clock(
        vec![
            // The next call after the breaker's pause.
            acquirer("a", "is down", failures + 1),
            acquirer("b", "takes", failures + 3),
        ],
        &clock.as_clock(),
    );
    let (a, b) = (name("a"), name("b"));
    for _ in 0..failures {
        assert_eq!(router.first(&[]), Some(a.clone()));
        assert!(!router.is_refusing(&a));
        assert_eq!(shown(router.issue(&order(), &a, BUDGET).await), "b issued it");
    }
    assert_eq!(router.first(&[]), Some(b.clone()));
    assert!(router.is_refusing(&a) && !router.is_refusing(&b) && !router.is_refusing(&name("gone")));
    // Skipped without a call, also by name.
    assert_eq!(shown(router.issue(&order(), &a, BUDGET).await), "b issued it");
    let result = router.named(&a).unwrap().create_charge(&order(), BUDGET).await;
    assert_eq!(kind(&result), "unavailable");
    clock.pass(OPEN_FOR);
    assert!(!router.is_refusing(&a));
    assert_eq!(router.first(&[]), Some(a.clone()));
    assert_eq!(shown(router.issue(&order(), &a, BUDGET).await), "b issued it");
    assert_eq!(router.first(&[]), Some(b));
    assert_eq!(shown(router.issue(&order(), &a, BUDGET).await), "b issued it");
}

#[tokio::test]
async fn all_breakers_open_gives_error_without_reasons() {
    let failures = usize::try_from(FAILURES_TO_OPEN).unwrap();
    let router = Router::new(vec![acquirer("a", "is down", failures)]);
    for _ in 0..failures {
        assert_eq!(shown(router.issue(&order(), &name("a"), BUDGET).await), "none: a down");
    }
    assert!(router.first(&[]).is_none());
    assert_eq!(shown(router.issue(&order(), &name("a"), BUDGET).await), "none: ");
}

#[tokio::test]
async fn business_refusals_never_open_a_breaker() {
    let router = Router::new(vec![acquirer("a", "refuses", 50)]);
    for _ in 0..50 {
        assert_eq!(shown(router.issue(&order(), &name("a"), BUDGET).await), "none: a no");
    }
    assert!(router.first(&[]).is_some());
}

#[tokio::test]
async fn reads_and_writes_share_one_breaker() {
    let mut mock = MockAcquirer::new();
    mock.expect_name().return_const(name("a"));
    let sent = || CallbackItem::Sent(CallbackPayout { instruction_id: instruction_id(), returns: Vec::new() });
    mock.expect_callbacks().returning(move |_| Ok(vec![sent()]));
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
    // A callback is read without a call to the acquirer, so the breaker does not matter.
    assert_eq!(guarded.callbacks(b"{}").unwrap(), vec![sent()]);
}

#[tokio::test]
async fn slow_acquirer_leaves_time_for_the_next() {
    let mut first = MockAcquirer::new();
    first.expect_name().return_const(name("a"));
    first.expect_create_charge().times(1).returning(|_, budget| {
        assert!(budget <= Duration::from_millis(6_500), "{budget:?}");
        reply("refuses")
    });
    let mut second = MockAcquirer::new();
    second.expect_name().return_const(name("b"));
    second.expect_create_charge().times(1).returning(|_, budget| {
        assert!(budget > Duration::from_secs(7), "{budget:?}");
        reply("takes")
    });
    let router = Router::new(vec![Arc::new(first), Arc::new(second)]);
    assert_eq!(shown(router.issue(&order(), &name("a"), BUDGET).await), "b issued it");
}

/// Creates an acquirer for five calls, each answered with `error`. The breaker is open afterwards.
fn broken(error: &AcquirerError) -> MockAcquirer {
    let mut mock = MockAcquirer::new();
    mock.expect_name().return_const(name("a"));
    mock.expect_sends_payouts().return_const(true);
    let copy = |error: &AcquirerError| error.clone();
    let (one, two, three, four, five, six) =
        (copy(error), copy(error), copy(error), copy(error), copy(error), copy(error));
    mock.expect_send_payout().returning(move |_, _| Err(one.clone()));
    mock.expect_find_payout().returning(move |_, _| Err(two.clone()));
    mock.expect_send_refund().returning(move |_, _| Err(three.clone()));
    mock.expect_find_refund().returning(move |_, _, _| Err(four.clone()));
    mock.expect_list_received().returning(move |_, _| Err(five.clone()));
    mock.expect_list_sent().returning(move |_, _| Err(six.clone()));
    mock
}

/// Returns the outcomes of the six outgoing calls.
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
async fn outgoing_calls_pass_the_breaker() {
    let router = Router::new(vec![Arc::new(broken(&AcquirerError::OutcomeUnknown("late".to_owned())))]);
    let guarded = router.named(&name("a")).unwrap();
    let after_five = ["unknown", "unknown", "unknown", "unknown", "unknown", "unavailable"];
    assert_eq!(money_out(&*guarded, BUDGET).await, after_five);
    assert_eq!(money_out(&*guarded, BUDGET).await, ["unavailable"; 6]);
    assert_eq!(router.first_sender(&[]), None);

    let router = Router::new(vec![Arc::new(broken(&AcquirerError::Refused("no".to_owned())))]);
    let guarded = router.named(&name("a")).unwrap();
    for _ in 0..3 {
        assert_eq!(money_out(&*guarded, BUDGET).await, ["refused"; 6]);
    }
    assert_eq!(money_out(&*guarded, Duration::ZERO).await, ["unavailable"; 6]);
    assert_eq!(router.first_sender(&[]), Some(name("a")));
}

#[tokio::test]
async fn absent_payout_counts_as_an_answer() {
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
    assert_eq!(router.first(&[]), Some(name("a")));
}

#[tokio::test]
async fn payout_goes_to_first_available_sender() {
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
    assert_eq!((router.first(&[]), router.first_sender(&[])), (Some(name("a")), Some(name("b"))));
    assert!(router.named(&name("b")).unwrap().sends_payouts());
    for _ in 0..FAILURES_TO_OPEN {
        assert!(router.named(&name("b")).unwrap().find_payout(&instruction_id(), BUDGET).await.is_err());
    }
    assert_eq!((router.first(&[]), router.first_sender(&[])), (Some(name("a")), Some(name("c"))));
    assert_eq!(Router::new(vec![called("a", false)]).first_sender(&[]), None);
}

/// Creates an acquirer that sends payouts or not.
fn sender(text: &str, sends: bool) -> Arc<dyn Acquirer> {
    let mut mock = MockAcquirer::new();
    mock.expect_name().return_const(name(text));
    mock.expect_sends_payouts().return_const(sends);
    mock.expect_create_charge().returning(|_, _| reply("refuses"));
    Arc::new(mock)
}

#[test]
fn order_and_preference_select_the_acquirer() {
    let numbered = |order| Route { order, ..Route::default() };
    let router = Router::with_routes(vec![
        (sender("a", true), numbered(None)),
        (sender("b", true), numbered(Some(2))),
        (sender("c", true), numbered(Some(1))),
    ]);
    assert_eq!(router.names(), ["c", "b", "a"].map(name));
    for (preferred, wanted) in [(&[][..], "c"), (&["b"], "b"), (&["gone", "a"], "a"), (&["gone"], "c")] {
        let preferred: Vec<_> = preferred.iter().map(|text| name(text)).collect();
        assert_eq!(router.first(&preferred), Some(name(wanted)), "{preferred:?}");
        assert_eq!(router.first_sender(&preferred), Some(name(wanted)), "{preferred:?}");
    }
}

#[test]
fn acquirers_with_one_number_share_by_weight() {
    let route = |weight| Route { order: Some(1), weight, ..Route::default() };
    let last = Route { order: Some(2), weight: 9, ..Route::default() };
    let router = Router::with_routes(vec![
        (sender("a", true), route(3)),
        (sender("b", true), route(1)),
        (sender("c", true), last),
    ]);
    let chosen: Vec<_> = (0..8).filter_map(|_| router.first(&[])).collect();
    let count = |text: &str| chosen.iter().filter(|found| **found == name(text)).count();
    assert_eq!((count("a"), count("b"), count("c")), (6, 2, 0));
}

#[test]
fn question_and_payouts_take_no_turn_of_charges() {
    let route = || Route { order: Some(1), ..Route::default() };
    let router = Router::with_routes(vec![(sender("a", true), route()), (sender("b", true), route())]);
    for wanted in ["a", "b", "a", "b"] {
        for _ in 0..3 {
            assert!(router.is_available());
        }
        // A payout between two charges does not change the turn of charges.
        assert_eq!((router.first(&[]), router.first_sender(&[])), (Some(name(wanted)), Some(name(wanted))));
    }
    router.set_drained(vec![name("a"), name("b")]);
    assert!(!router.is_available());
}

#[tokio::test]
async fn drained_acquirer_gets_no_new_order() {
    let router = Router::new(vec![sender("a", true), sender("b", true)]);
    router.set_drained(vec![name("a")]);
    assert_eq!((router.first(&[name("a")]), router.first_sender(&[])), (Some(name("b")), Some(name("b"))));
    assert!(router.named(&name("a")).is_some(), "open orders are finished there");
    let issued = router.issue(&order(), &name("b"), BUDGET).await;
    assert_eq!(shown(issued), "none: b no", "a drained acquirer is no failover");
    router.set_drained(vec![name("a"), name("b")]);
    assert_eq!((router.first(&[]), router.first_sender(&[])), (None, None));
    router.set_drained(Vec::new());
    assert_eq!(router.first(&[]), Some(name("a")));
}

#[tokio::test]
async fn operations_limit_new_orders_and_failover() {
    let route = |charges, payouts| Route { charges, payouts, ..Route::default() };
    let router = Router::with_routes(vec![
        (sender("a", true), route(true, false)),
        (sender("b", true), route(false, true)),
        (sender("c", false), route(true, true)),
    ]);
    let preferred = [name("b"), name("c"), name("a")];
    assert_eq!((router.first(&[]), router.first_sender(&[])), (Some(name("a")), Some(name("b"))));
    assert_eq!((router.first(&preferred), router.first_sender(&preferred)), (Some(name("c")), Some(name("b"))));
    let issued = router.issue(&order(), &name("a"), BUDGET).await;
    assert_eq!(shown(issued), "none: a no, c no");
}

#[tokio::test]
async fn replaced_client_receives_later_calls() {
    let router = Router::new(vec![acquirer("a", "refuses", 1)]);
    assert_eq!(shown(router.issue(&order(), &name("a"), BUDGET).await), "none: a no");
    router.replace(&acquirer("gone", "takes", 0));
    router.replace(&acquirer("a", "takes", 1));
    assert_eq!(shown(router.issue(&order(), &name("a"), BUDGET).await), "a issued it");
}
