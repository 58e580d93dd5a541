//! Reads the evidence that a reply to an order leaves open, and decides.

use crate::upstream_result::{Earlier, Evidence, SendReply, UpstreamResult, decide};

/// An order at its acquirer, and the reads that look for it.
pub(crate) trait UpstreamOrder {
    /// The acquirer's account of the order.
    type Record;

    /// Looks the order up by its name.
    fn look_up(&self) -> impl Future<Output = Evidence<Self::Record>> + Send;

    /// Looks for the order in the list of what was ordered around that time.
    fn list(&self) -> impl Future<Output = Evidence<Self::Record>> + Send;
}

/// The state of `order` after `reply`. A read that cannot change the result is not made.
pub(crate) async fn resolve<O: UpstreamOrder>(
    order: &O,
    earlier: Earlier,
    reply: SendReply<O::Record>,
) -> UpstreamResult<O::Record> {
    let look_up = match reply {
        SendReply::Refused(_) | SendReply::Unknown(_) => order.look_up().await,
        SendReply::Accepted(_) | SendReply::NotTaken(_) => Evidence::NotRead,
    };
    let list = match (&reply, earlier, &look_up) {
        (SendReply::Refused(_), Earlier::Unknown | Earlier::Shown, Evidence::Absent) => order.list().await,
        _ => Evidence::NotRead,
    };
    decide(earlier, reply, look_up, list)
}
