//! An operator decides a withdrawal whose outcome is not proven. The processor's record outweighs the operator.

use cais_domain::ids::CryptoWithdrawalId;
use cais_ports::{AuditFilter, AuditQueries as _, PageRequest, UpstreamWithdrawalStatus as Upstream};
use cais_testkit::builders::{an_operator, fresh};
use cais_testkit::psp::Looking;
use cais_use_cases::crypto::withdrawals::review::{Decision, ResolveError, list, resolve};

use crate::world::{LONG, World, text};

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
    world.clock.advance(crate::world::PAST_REVIEW);
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
    let operator = an_operator();
    let refused = resolve(&world.ports, &operator, id, (&Decision::Failed, &text("none"))).await;
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
