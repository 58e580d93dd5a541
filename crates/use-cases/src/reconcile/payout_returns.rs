//! Compares returns of sent Pix with the credited returns, if the acquirer lists returns apart from their payouts.
//!
//! Such a return does not name its payout, so the comparison credits nothing. Each return that was not credited is a difference.

use cais_domain::acquirer_name::AcquirerName;
use cais_ports::{Acquirer, ListRequest, ReservationKey, ReturnedPart};

use super::report::{Difference, DifferenceKind, Findings};
use super::windows::{Pages, Windows};
use super::{LIST_BUDGET, Run};
use crate::store_error::StoreError;

/// Compares the returns of the run's span. Stops if the list cannot be read.
pub(super) async fn compare(
    run: &Run<'_>,
    name: &AcquirerName,
    acquirer: &dyn Acquirer,
    findings: &mut Findings,
) -> Result<(), StoreError> {
    let mut windows = Windows::new(run.from, run.until);
    let mut pages = Pages::new();
    while let Some((from, to)) = windows.current() {
        let mut page = Some(0);
        while let Some(number) = page {
            let listed = acquirer.list_payout_returns(ListRequest { from, to, page: number }, LIST_BUDGET).await;
            let listed = listed.map_err(|error| error.to_string());
            let listed = listed.and_then(|listed| pages.turn(number, listed.next).map(|next| (listed, next)));
            let (listed, next) = match listed {
                Ok(listed) => listed,
                Err(reason) => {
                    findings.cannot_read(name, format!("list of returned payouts: {reason}"));
                    return Ok(());
                }
            };
            findings.unreadable(name, listed.unreadable);
            for part in listed.rows {
                findings.note(uncredited(run, name, part).await?);
            }
            page = next;
        }
        windows.advance();
    }
    Ok(())
}

/// Returns the difference of a return that was not credited. The callback of a young return may still credit it.
async fn uncredited(run: &Run<'_>, name: &AcquirerName, part: ReturnedPart) -> Result<Option<Difference>, StoreError> {
    let key = ReservationKey::ReturnId(part.return_id.clone());
    if run.is_young(part.at) || run.ports.queries.find_owner(&key).await?.is_some() {
        return Ok(None);
    }
    Ok(Some(Difference {
        kind: DifferenceKind::PayoutReturnUnknown,
        acquirer: name.clone(),
        resource: None,
        upstream_id: part.return_id.to_string(),
        ours: None,
        theirs: Some(part.amount.to_string()),
        repaired: false,
    }))
}
