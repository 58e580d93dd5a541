//! The recent activity of an endpoint: its waiting deliveries and its latest success.

use cais_ports::{AttemptOutcome, EndpointActivity, EndpointQueue};

use super::Harness;
use super::attempts::{attempt, claim_one, finish, put_one, put_tests};
use super::harness::after_s;
use crate::builders::queue_of;

/// Waiting deliveries are counted up to [`EndpointActivity::MOST_WAITING`]. The last success is the latest
/// successful attempt among the newest deliveries.
pub async fn activity_counts_waiting_and_finds_the_last_success(h: &mut Harness) {
    let account = h.account().await.id;
    let endpoint = h.endpoint(account, 0).await;
    let queue = queue_of(&endpoint);
    let activity = async |h: &Harness| h.store.endpoint_activity(queue).await.unwrap();
    assert_eq!(activity(h).await, EndpointActivity::default());
    put_one(h, &endpoint).await;
    assert_eq!(activity(h).await, EndpointActivity { waiting: 1, last_success: None });
    let claimed = claim_one(h, &endpoint, 1).await;
    finish(h, attempt(&claimed, 2, AttemptOutcome::Failed)).await;
    assert_eq!(activity(h).await, EndpointActivity::default(), "a failed delivery neither waits nor succeeded");
    for at_s in [10, 20] {
        put_tests(h, &endpoint, 1, at_s).await;
        let claimed = claim_one(h, &endpoint, at_s).await;
        finish(h, attempt(&claimed, at_s, AttemptOutcome::Succeeded)).await;
    }
    let most = i64::from(EndpointActivity::MOST_WAITING);
    put_tests(h, &endpoint, most + 1, 100).await;
    let full = activity(h).await;
    assert_eq!(full.waiting, u64::from(EndpointActivity::MOST_WAITING));
    assert_eq!(full.last_success, None, "only the newest deliveries are read");
    let other = h.endpoint(account, 1).await;
    let newest = i64::from(EndpointActivity::RECENT) - 1;
    put_one(h, &other).await;
    let claimed = claim_one(h, &other, 1).await;
    finish(h, attempt(&claimed, 30, AttemptOutcome::Succeeded)).await;
    put_tests(h, &other, newest, 100).await;
    let expected = EndpointActivity { waiting: u64::try_from(newest).unwrap(), last_success: Some(after_s(30)) };
    assert_eq!(h.store.endpoint_activity(queue_of(&other)).await.unwrap(), expected);
}

/// Deliveries of an earlier epoch do not wait. The success of an endpoint is visible to its account only.
pub async fn activity_of_another_epoch_or_account_is_separate(h: &mut Harness) {
    let (account, stranger) = (h.account().await.id, h.account().await.id);
    let endpoint = h.endpoint(account, 0).await;
    put_one(h, &endpoint).await;
    let claimed = claim_one(h, &endpoint, 1).await;
    finish(h, attempt(&claimed, 2, AttemptOutcome::Succeeded)).await;
    put_one(h, &endpoint).await;
    let queue = queue_of(&endpoint);
    let last_success = Some(after_s(2));
    for (queue, expected) in [
        (queue, EndpointActivity { waiting: 1, last_success }),
        (EndpointQueue { epoch: queue.epoch + 1, ..queue }, EndpointActivity { waiting: 0, last_success }),
        (EndpointQueue { account: stranger, epoch: 9, ..queue }, EndpointActivity::default()),
    ] {
        assert_eq!(h.store.endpoint_activity(queue).await.unwrap(), expected);
    }
}
