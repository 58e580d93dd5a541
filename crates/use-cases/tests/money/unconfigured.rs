//! Acquirers with open orders that are not in the configuration.

use cais_domain::acquirer_name::AcquirerName;
use cais_domain::payout::PayoutStatus;
use cais_ports::{OpenOrders, PollPosition, Store as _, UpstreamList, Write};
use cais_testkit::TestBed;
use cais_testkit::builders::{a_payout, an_account, main_acquirer, payout_in_status, pending_charge, start, steps};
use cais_use_cases::unconfigured_acquirers;

#[tokio::test]
async fn unconfigured_acquirer_with_open_orders_is_listed() {
    let bed = TestBed::empty(an_account());
    let (ports, other) = (&bed.ports, AcquirerName::parse("other").unwrap());
    for acquirer in [main_acquirer(), other.clone()] {
        let position = PollPosition { acquirer, list: UpstreamList::Received, seen_until: start(), version: 0 };
        bed.store.commit(steps::write(Write::insert(position), start())).await.unwrap();
    }
    let listed = async |configured: &[&AcquirerName]| unconfigured_acquirers::list(ports, configured).await.unwrap();
    assert_eq!(listed(&[&other]).await, [], "no order is open");
    let account = bed.account.id;
    bed.store.commit(steps::open_charge(&pending_charge(account))).await.unwrap();
    let payout = payout_in_status(a_payout(account), PayoutStatus::Processing);
    bed.store.commit(steps::write(Write::insert(payout), start())).await.unwrap();
    let open = OpenOrders { charges: 1, payouts: 1, ..OpenOrders::default() };
    assert_eq!(listed(&[&other]).await, [(main_acquirer(), open)]);
    assert_eq!(listed(&[&other, &main_acquirer()]).await, []);
}
