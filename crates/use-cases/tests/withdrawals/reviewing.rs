//! An operator decides a withdrawal whose outcome is not proven. If the processor's record contradicts the decision,
//! the decision is refused.

use cais_domain::ids::CryptoWithdrawalId;
use cais_ports::{AuditFilter, AuditQueries as _, PageRequest, UpstreamWithdrawalStatus as Upstream};
use cais_testkit::builders::{an_operator, fresh};
use cais_testkit::psp::LookupReply;
use cais_use_cases::crypto::withdrawals::review::{Decision, MissingRecord, ResolveError, list, resolve};

use crate::bed::{LONG, PAST_REVIEW, TestBed, text};

fn sent() -> Decision {
    Decision::Sent { tx_hash: text("0xabc") }
}

/// Creates a withdrawal that the processor reports as failed.
async fn failed() -> TestBed {
    let bed = TestBed::new().await;
    bed.processing().await;
    bed.processor.set_status(Upstream::Failed);
    bed.clock.advance(LONG);
    bed.poll().await;
    bed
}

async fn audit(bed: &TestBed) -> Vec<(String, String, String, String)> {
    let page = PageRequest { limit: 200, starting_after: None };
    let rows = bed.store.list_audit(AuditFilter::default(), page).await.unwrap().rows;
    rows.into_iter().map(|row| (row.action, row.subject, row.before.unwrap(), row.after.unwrap())).collect()
}

#[tokio::test]
async fn absent_withdrawal_is_failed_by_an_operator() {
    let bed = TestBed::new().await;
    let marked = bed.absent().await;
    assert_eq!(list(&bed.ports).await.unwrap(), std::slice::from_ref(&marked));
    let resolved = bed.resolve(Decision::Failed).await.unwrap();
    assert_eq!(resolved, bed.only());
    bed.money_returned().await;
    assert_eq!(list(&bed.ports).await.unwrap(), []);
    let before = r#"{"status":"processing","review":true}"#.to_owned();
    let after = r#"{"status":"failed","review":false,"note":"asked \"them\""}"#.to_owned();
    let row = ("crypto_withdrawal.resolve".to_owned(), marked.id.to_string(), before, after);
    assert_eq!(audit(&bed).await, [row]);
    assert_eq!(bed.resolve(Decision::Failed).await, Err(ResolveError::NotMarked(resolved.state.status())));
}

#[tokio::test]
async fn failed_withdrawal_is_resolved_as_sent_with_its_transaction() {
    let bed = failed().await;
    let resolved = bed.resolve(sent()).await.unwrap();
    assert_eq!(resolved.tx_hash.as_deref(), Some("0xabc"));
    bed.paid().await;
    let after = audit(&bed).await.remove(0).3;
    assert_eq!(after, r#"{"status":"completed","review":false,"tx_hash":"0xabc","note":"asked \"them\""}"#);
}

#[tokio::test]
async fn failed_withdrawal_is_given_back_by_an_operator() {
    let bed = failed().await;
    bed.resolve(Decision::Failed).await.unwrap();
    bed.money_returned().await;
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
        let bed = failed().await;
        bed.processor.set_status(status);
        let refused = bed.resolve(decision.clone()).await;
        assert_eq!(refused, Err(ResolveError::Shown(status)), "{decision:?}");
        bed.held().await;
        assert_eq!(audit(&bed).await, []);
    }
}

#[tokio::test]
async fn unreadable_processor_allows_no_decision() {
    for lookup_reply in [LookupReply::Silent, LookupReply::Down] {
        let bed = TestBed::new().await;
        bed.absent().await;
        bed.processor.set_lookup_reply(lookup_reply);
        for decision in [Decision::Failed, sent()] {
            let refused = bed.resolve(decision).await;
            assert!(matches!(refused, Err(ResolveError::Upstream(_))), "{refused:?}");
        }
        bed.held().await;
    }
}

#[tokio::test]
async fn missing_batch_is_never_failed_by_an_operator() {
    let bed = TestBed::new().await;
    let batch = bed.processing().await.state.sent().unwrap().batch.clone().unwrap();
    bed.processor.remove_batches();
    bed.clock.advance(PAST_REVIEW);
    bed.poll().await;
    assert_eq!(bed.resolve(Decision::Failed).await, Err(ResolveError::NotShown(batch)));
    bed.held().await;
    bed.resolve(sent()).await.unwrap();
    bed.paid().await;
}

#[tokio::test]
async fn only_a_marked_withdrawal_is_decided() {
    let bed = TestBed::new().await;
    let open = bed.processing().await;
    assert_eq!(bed.resolve(Decision::Failed).await, Err(ResolveError::NotMarked(open.state.status())));
    bed.held().await;
    let id: CryptoWithdrawalId = fresh();
    let decision = (&Decision::Failed, &text("none"));
    let refused = resolve(&bed.ports, &an_operator(), id, decision, MissingRecord::Refused).await;
    assert_eq!(refused, Err(ResolveError::NotFound(id)));
}

#[tokio::test]
async fn later_contradiction_of_a_decision_raises_an_alert() {
    let bed = failed().await;
    let batch = bed.only().state.sent().unwrap().batch.clone().unwrap();
    bed.resolve(Decision::Failed).await.unwrap();
    bed.processor.set_status(Upstream::Finished);
    let logs = cais_testkit::CapturedLogs::start();
    let name = bed.processor.name.clone();
    cais_use_cases::crypto::withdrawals::callback::apply(&bed.ports, &name, &batch, None).await.unwrap();
    assert_eq!(logs.alerts("crypto_withdrawal_contradicted").len(), 1);
    bed.money_returned().await;
}

#[tokio::test]
async fn withdrawal_of_a_lost_processor_is_ended_by_an_operator() {
    for (removed, lookup_reply) in
        [(true, LookupReply::Accurate), (false, LookupReply::Silent), (false, LookupReply::Down)]
    {
        for decision in [Decision::Failed, sent()] {
            let mut bed = TestBed::new().await;
            bed.processing().await;
            bed.processor.set_lookup_reply(lookup_reply);
            if removed {
                bed.0.ports.crypto = None;
            }
            let early = bed.resolve_without_processor(decision.clone()).await;
            assert!(matches!(early, Err(ResolveError::NotMarked(_))), "its request may be in flight: {early:?}");
            bed.clock.advance(PAST_REVIEW);
            bed.poll().await;
            assert!(matches!(bed.resolve(decision.clone()).await, Err(ResolveError::NotMarked(_))));
            bed.held().await;
            bed.resolve_without_processor(decision.clone()).await.unwrap();
            match decision {
                Decision::Failed => bed.money_returned().await,
                Decision::Sent { .. } => bed.paid().await,
            }
            let (_, _, before, after) = audit(&bed).await.remove(0);
            assert!(after.ends_with(r#","without_processor":true}"#) && !before.contains("without"), "{after}");
        }
    }
}

#[tokio::test]
async fn lost_batch_is_failed_without_the_processor() {
    let bed = TestBed::new().await;
    bed.processing().await;
    bed.processor.remove_batches();
    bed.clock.advance(PAST_REVIEW);
    bed.poll().await;
    bed.resolve_without_processor(Decision::Failed).await.unwrap();
    bed.money_returned().await;
    assert!(audit(&bed).await[0].3.contains("without_processor"));
}

#[tokio::test]
async fn readable_processor_outweighs_a_decision_without_it() {
    for (status, decision) in [
        (Upstream::Processing, Decision::Failed),
        (Upstream::Finished, Decision::Failed),
        (Upstream::Unverified, Decision::Failed),
        (Upstream::Rejected, sent()),
    ] {
        let bed = failed().await;
        bed.processor.set_status(status);
        assert_eq!(bed.resolve_without_processor(decision).await, Err(ResolveError::Shown(status)));
        bed.held().await;
    }
    // A record that permits the decision was read, so the row of the audit log does not contain `without_processor`.
    let bed = failed().await;
    bed.resolve_without_processor(Decision::Failed).await.unwrap();
    assert!(!audit(&bed).await[0].3.contains("without_processor"));
    // If the processor answers, its records decide an open withdrawal.
    let bed = TestBed::new().await;
    bed.processing().await;
    bed.clock.advance(PAST_REVIEW);
    for decision in [Decision::Failed, sent()] {
        let refused = bed.resolve_without_processor(decision).await;
        assert!(matches!(refused, Err(ResolveError::Shown(_) | ResolveError::NotMarked(_))), "{refused:?}");
    }
    bed.held().await;
}
