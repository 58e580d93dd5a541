//! Checks the payouts whose outcome is open. One list of the acquirer shows many payouts at once.

use cais_domain::acquirer_name::AcquirerName;
use cais_domain::payout::Payout;
use cais_ports::{ListRequest, UpstreamPayout};
use jiff::{SignedDuration, Timestamp};

use crate::ports::Ports;
use crate::upstream::{Wanted, read_listed};
use crate::upstream_order::poll::{self, READ_BUDGET};
use crate::work::{Pass, WorkError};

/// The largest expected difference between the acquirer's clock and ours. The period of a list request is longer by this
/// time at both ends. A payout that the list does not show is read by itself.
const CLOCKS_DIFFER_BY: SignedDuration = SignedDuration::from_secs(2);

/// Polls a bounded number of the payouts whose outcome is open.
///
/// # Errors
/// [`WorkError`] if they cannot be listed. An error of one payout is logged and does not stop the others.
pub async fn run_once(ports: &Ports) -> Result<Pass, WorkError> {
    poll::run_once::<Payout>(ports).await
}

/// Pairs each payout with its row in the acquirer's list. The list covers the time at which the payout was requested.
pub(super) async fn read_lists(
    ports: &Ports,
    acquirer: &AcquirerName,
    payouts: Vec<Payout>,
) -> Vec<(Payout, Option<UpstreamPayout>)> {
    let Some(adapter) = ports.acquirers.named(acquirer) else {
        return payouts.into_iter().map(|payout| (payout, None)).collect();
    };
    let hints =
        payouts.iter().filter_map(|payout| Some(Wanted { key: payout.instruction_id(), at: payout.state.sent()?.at }));
    let (adapter, now) = (&*adapter, ports.clock.now());
    let page = |request: ListRequest| async move { adapter.list_sent(around(request, now), READ_BUDGET).await };
    let mut listed =
        read_listed((&ports.limits, acquirer), hints.collect(), page, |row| Some(row.instruction_id.clone())).await;
    let with_record = |payout: Payout| {
        // A payout that awaits its approval is read by itself. The order is then repeated with the same identifier,
        // which approves the payout.
        let row = listed.remove(&payout.instruction_id()).filter(|row| !row.awaits_approval);
        (payout, row)
    };
    payouts.into_iter().map(with_record).collect()
}

/// Extends the period of a list request: the acquirer accepts an order a moment after we send it, and records the time of
/// its own clock.
fn around(request: ListRequest, now: Timestamp) -> ListRequest {
    let from = request.from.saturating_sub(CLOCKS_DIFFER_BY).unwrap_or(Timestamp::MIN);
    let to = request.to.saturating_add(CLOCKS_DIFFER_BY).unwrap_or(Timestamp::MAX);
    ListRequest { from, to: to.min(now), ..request }
}
