//! Polls the payouts whose outcome is open. The acquirer's lists are read first, because one page shows many payouts.

use cais_domain::acquirer_name::AcquirerName;
use cais_domain::payout::Payout;
use cais_ports::{ListRequest, UpstreamPayout};
use jiff::{SignedDuration, Timestamp};

use crate::ports::Ports;
use crate::upstream::{ExpectedRow, read_listed};
use crate::upstream_order::poll::{self, READ_BUDGET};
use crate::work::{Pass, WorkError};

/// The largest expected difference between the acquirer's clock and the local clock. The period of a list request is
/// extended by this time at both ends. A payout that the list does not contain is read individually.
const CLOCKS_DIFFER_BY: SignedDuration = SignedDuration::from_secs(2);

/// Polls at most `PASS_LIMIT` payouts whose outcome is open.
///
/// # Errors
/// [`WorkError`] if the due payouts cannot be listed. An error of one payout is logged and does not stop the others.
pub async fn run_once(ports: &Ports) -> Result<Pass, WorkError> {
    poll::run_once::<Payout>(ports).await
}

/// Pairs each payout with its row in the acquirer's list, if the list contains one. Only the parts of the list around
/// the times at which the payouts were sent are read.
pub(super) async fn read_lists(
    ports: &Ports,
    acquirer: &AcquirerName,
    payouts: Vec<Payout>,
) -> Vec<(Payout, Option<UpstreamPayout>)> {
    let Some(adapter) = ports.acquirers.named(acquirer) else {
        return payouts.into_iter().map(|payout| (payout, None)).collect();
    };
    let hints = payouts
        .iter()
        .filter_map(|payout| Some(ExpectedRow { key: payout.instruction_id(), at: payout.state.sent()?.recorded_at }));
    let (adapter, now) = (&*adapter, ports.clock.now());
    let page = |request: ListRequest| async move { adapter.list_sent(around(request, now), READ_BUDGET).await };
    let mut listed =
        read_listed((&ports.limits, acquirer), hints.collect(), page, |row| Some(row.instruction_id.clone())).await;
    let with_record = |payout: Payout| {
        // The row of a payout that awaits its approval is left out, so the payout is read individually. After this
        // read, the order is sent again with the same identifier. This request approves the payout.
        let row = listed.remove(&payout.instruction_id()).filter(|row| !row.awaits_approval);
        (payout, row)
    };
    payouts.into_iter().map(with_record).collect()
}

/// Extends the period of a list request by `CLOCKS_DIFFER_BY` at both ends, but not beyond `now`. The acquirer records
/// an order with its own clock, shortly after the order was sent.
fn around(request: ListRequest, now: Timestamp) -> ListRequest {
    let from = request.from.saturating_sub(CLOCKS_DIFFER_BY).unwrap_or(Timestamp::MIN);
    let to = request.to.saturating_add(CLOCKS_DIFFER_BY).unwrap_or(Timestamp::MAX);
    ListRequest { from, to: to.min(now), ..request }
}
