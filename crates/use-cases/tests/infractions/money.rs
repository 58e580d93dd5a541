//! The statement explains every blocked centavo. Only the money of the charge's creator moves.

use cais_domain::charge::ChargeTerms;
use cais_domain::ledger::{Bucket, EntryKind, LedgerAccount};
use cais_domain::money::Money;
use cais_ports::{Store as _, UpstreamInfractionStatus};
use cais_testkit::builders::{a_split, an_account, steps, terms};

use crate::bed::TestBed;

#[tokio::test]
async fn entries_name_their_infraction_and_pix() {
    let bed = TestBed::new().await;
    let (_, id) = bed.disputed().await;
    bed.psp.settle(&id, UpstreamInfractionStatus::Accepted);
    bed.poll().await;
    let infraction = bed.last();
    let blocked = LedgerAccount::Merchant(bed.account.id, Bucket::Blocked);
    let entries: Vec<_> = bed.store.entries().into_iter().filter(|entry| entry.account == blocked).collect();
    let shown: Vec<_> = entries.iter().map(|entry| (entry.kind, entry.amount.centavos())).collect();
    assert_eq!(shown, [(EntryKind::Infraction, 1_000), (EntryKind::InfractionReturned, -1_000)]);
    for entry in entries {
        assert_eq!(entry.resource, Some(infraction.id.to_string()));
        assert_eq!(entry.end_to_end_id.as_ref(), Some(&infraction.end_to_end_id));
    }
}

#[tokio::test]
async fn split_recipient_keeps_share_after_dispute() {
    let bed = TestBed::new().await;
    let other = an_account();
    bed.store.commit(steps::open_account(&other)).await.unwrap();
    let split = a_split(&[(other.id, "50")]);
    let charge = bed.pending_with(ChargeTerms { fee: Money::ZERO, split, ..terms() }).await;
    let pix = bed.psp.pay(&charge.txid, 1_000);
    let id = bed.psp.dispute(&pix, 1_000);
    bed.poll().await;
    assert_eq!(bed.money(), [0, 0, 500], "the creator answers for all of it");
    bed.paid(700).await;
    assert_eq!(bed.money(), [200, 0, 1_000]);
    bed.psp.settle(&id, UpstreamInfractionStatus::Accepted);
    bed.poll().await;
    let share = bed.store.balance(&LedgerAccount::Merchant(other.id, Bucket::Available));
    assert_eq!((bed.money(), share), ([200, 0, 0], Money::from_centavos(500)));
    bed.check().await;
}
