//! An operator decides a withdrawal whose outcome is not proven. If the processor's record contradicts the decision,
//! the decision is refused.

use cais_domain::ids::CryptoWithdrawalId;
use cais_ports::{AuditFilter, AuditQueries as _, PageRequest, UpstreamWithdrawalStatus as Upstream};
use cais_testkit::builders::{an_operator, fresh};
use cais_testkit::psp::Looking;
use cais_use_cases::crypto::withdrawals::review::{Decision, MissingRecord, ResolveError, list, resolve};

use crate::world::{LONG, PAST_REVIEW, World, text};

fn sent() -> Decision {
    Decision::Sent { tx_hash: text("0xabc") }
}

/// Creates a withdrawal that the processor reports as failed.
async fn failed() -> World {
    let world = World::new().await;
    world.processing().await;
    world.processor.set_status(Upstream::Failed);
    world.clock.advance(LONG);
    world.poll().await;
    world
}

async fn audit(world: &World) -> Vec<(String, String, String, String)> {
    let page = PageRequest { limit: 200, starting_after: None };
    let rows = world.store.list_audit(AuditFilter::default(), page).await.unwrap().rows;
    rows.into_iter().map(|row| (row.action, row.subject, row.before.unwrap(), row.after.unwrap())).collect()
}

#[tokio::test]
async fn absent_withdrawal_is_failed_by_an_operator() {
    let world = World::new().await;
    let marked = world.absent().await;
    assert_eq!(list(&world.ports).await.unwrap(), std::slice::from_ref(&marked));
    let resolved = world.resolve(Decision::Failed).await.unwrap();
    assert_eq!(resolved, world.only());
    world.given_back().await;
    assert_eq!(list(&world.ports).await.unwrap(), []);
    let before = r#"{"status":"processing","review":true}"#.to_owned();
    let after = r#"{"status":"failed","review":false,"note":"asked \"them\""}"#.to_owned();
    let row = ("crypto_withdrawal.resolve".to_owned(), marked.id.to_string(), before, after);
    assert_eq!(audit(&world).await, [row]);
    assert_eq!(world.resolve(Decision::Failed).await, Err(ResolveError::NotMarked(resolved.state.status())));
}

#[tokio::test]
async fn failed_withdrawal_is_resolved_as_sent_with_its_transaction() {
    let world = failed().await;
    let resolved = world.resolve(sent()).await.unwrap();
    assert_eq!(resolved.tx_hash.as_deref(), Some("0xabc"));
    world.paid().await;
    let after = audit(&world).await.remove(0).3;
    assert_eq!(after, r#"{"status":"completed","review":false,"tx_hash":"0xabc","note":"asked \"them\""}"#);
}

#[tokio::test]
async fn failed_withdrawal_is_given_back_by_an_operator() {
    let world = failed().await;
    world.resolve(Decision::Failed).await.unwrap();
    world.given_back().await;
}

#[tokio::test]
async fn record_of_the_processor_excludes_the_other_decision() {
    for (status, decision) in [
        (Upstream::Processing, Decision::Failed),
        (Upstream::Finished, Decision::Failed),
        (Upstream::Unverified, Decision::Failed),
        (Upstream::Unverified, sent()),
        (Upstream::Rejected, sent()),
    ] {
        let world = failed().await;
        world.processor.set_status(status);
        let refused = world.resolve(decision.clone()).await;
        assert_eq!(refused, Err(ResolveError::Shown(status)), "{decision:?}");
        world.held().await;
        assert_eq!(audit(&world).await, []);
    }
}

#[tokio::test]
async fn unreadable_processor_allows_no_decision() {
    for looking in [Looking::Silent, Looking::Down] {
        let world = World::new().await;
        world.absent().await;
        world.processor.set_looking(looking);
        for decision in [Decision::Failed, sent()] {
            let refused = world.resolve(decision).await;
            assert!(matches!(refused, Err(ResolveError::Upstream(_))), "{refused:?}");
        }
        world.held().await;
    }
}

#[tokio::test]
async fn missing_batch_is_never_failed_by_an_operator() {
    let world = World::new().await;
    let batch = world.processing().await.state.sent().unwrap().batch.clone().unwrap();
    world.processor.forget_batches();
    world.clock.advance(PAST_REVIEW);
    world.poll().await;
    assert_eq!(world.resolve(Decision::Failed).await, Err(ResolveError::NotShown(batch)));
    world.held().await;
    world.resolve(sent()).await.unwrap();
    world.paid().await;
}

#[tokio::test]
async fn only_a_marked_withdrawal_is_decided() {
    let world = World::new().await;
    let open = world.processing().await;
    assert_eq!(world.resolve(Decision::Failed).await, Err(ResolveError::NotMarked(open.state.status())));
    world.held().await;
    let id: CryptoWithdrawalId = fresh();
    let decision = (&Decision::Failed, &text("none"));
    let refused = resolve(&world.ports, &an_operator(), id, decision, MissingRecord::Refused).await;
    assert_eq!(refused, Err(ResolveError::NotFound(id)));
}

#[tokio::test]
async fn later_contradiction_of_a_decision_raises_an_alert() {
    let world = failed().await;
    let batch = world.only().state.sent().unwrap().batch.clone().unwrap();
    world.resolve(Decision::Failed).await.unwrap();
    world.processor.set_status(Upstream::Finished);
    let logs = cais_testkit::CapturedLogs::start();
    let name = world.processor.name.clone();
    cais_use_cases::crypto::withdrawals::callback::apply(&world.ports, &name, &batch, None).await.unwrap();
    assert_eq!(logs.alerts("crypto_withdrawal_contradicted").len(), 1);
    world.given_back().await;
}

#[tokio::test]
async fn withdrawal_of_a_lost_processor_is_ended_by_an_operator() {
    for (removed, looking) in [(true, Looking::Tells), (false, Looking::Silent), (false, Looking::Down)] {
        for decision in [Decision::Failed, sent()] {
            let mut world = World::new().await;
            world.processing().await;
            world.processor.set_looking(looking);
            if removed {
                world.0.ports.crypto = None;
            }
            let early = world.resolve_without_processor(decision.clone()).await;
            assert!(matches!(early, Err(ResolveError::NotMarked(_))), "its request may be in flight: {early:?}");
            world.clock.advance(PAST_REVIEW);
            world.poll().await;
            assert!(matches!(world.resolve(decision.clone()).await, Err(ResolveError::NotMarked(_))));
            world.held().await;
            world.resolve_without_processor(decision.clone()).await.unwrap();
            match decision {
                Decision::Failed => world.given_back().await,
                Decision::Sent { .. } => world.paid().await,
            }
            let (_, _, before, after) = audit(&world).await.remove(0);
            assert!(after.ends_with(r#","without_processor":true}"#) && !before.contains("without"), "{after}");
        }
    }
}

#[tokio::test]
async fn lost_batch_is_failed_without_the_processor() {
    let world = World::new().await;
    world.processing().await;
    world.processor.forget_batches();
    world.clock.advance(PAST_REVIEW);
    world.poll().await;
    world.resolve_without_processor(Decision::Failed).await.unwrap();
    world.given_back().await;
    assert!(audit(&world).await[0].3.contains("without_processor"));
}

#[tokio::test]
async fn readable_processor_outweighs_a_decision_without_it() {
    for (status, decision) in [
        (Upstream::Processing, Decision::Failed),
        (Upstream::Finished, Decision::Failed),
        (Upstream::Unverified, Decision::Failed),
        (Upstream::Rejected, sent()),
    ] {
        let world = failed().await;
        world.processor.set_status(status);
        assert_eq!(world.resolve_without_processor(decision).await, Err(ResolveError::Shown(status)));
        world.held().await;
    }
    // A record that permits the decision was read, so the row of the audit log does not contain `without_processor`.
    let world = failed().await;
    world.resolve_without_processor(Decision::Failed).await.unwrap();
    assert!(!audit(&world).await[0].3.contains("without_processor"));
    // If the processor answers, its records decide an open withdrawal.
    let world = World::new().await;
    world.processing().await;
    world.clock.advance(PAST_REVIEW);
    for decision in [Decision::Failed, sent()] {
        let refused = world.resolve_without_processor(decision).await;
        assert!(matches!(refused, Err(ResolveError::Shown(_) | ResolveError::NotMarked(_))), "{refused:?}");
    }
    world.held().await;
}
