//! The change sets that the service commits for a payout. Responses and events are as long as in the service.

use cais_domain::ids::AccountId;
use cais_domain::ledger::{Bucket, EntryKind, LedgerAccount, Overdraft, SystemAccount, Transfer};
use cais_domain::money::Money;
use cais_domain::payout::Payout;
use cais_ports::{ChangeSet, IdempotencyChange, ResponseKind};
use cais_testkit::builders::{a_payout, an_end_to_end_id, an_external_id, main_acquirer, start, steps};

use super::changes::event_data;

/// The length of a completed payout in the stored response and in the event, in bytes.
const BODY_BYTES: usize = 460;
/// The amount of a payout, in centavos.
pub const AMOUNT: i64 = 1_000;
/// The service's fee, in centavos.
pub const FEE: i64 = 50;
/// The opening balance of the account, in centavos: enough for a billion payouts.
pub const FUNDS: i64 = 1_050_000_000_000;

/// Returns random letters, as long as a completed payout.
pub fn body() -> &'static str {
    let text = event_data();
    text.get(..BODY_BYTES).unwrap_or(text)
}

/// Returns the change set that moves [`FUNDS`] from the acquirer's settlement to the account.
#[must_use]
pub fn fund(account: AccountId) -> ChangeSet {
    steps::transfer(Transfer {
        from: LedgerAccount::system(SystemAccount::Settlement(main_acquirer()), account),
        to: LedgerAccount::Merchant(account, Bucket::Available),
        amount: Money::from_centavos(FUNDS),
        overdraft: Overdraft::Allowed,
        kind: EntryKind::ExtraPayment,
        resource: None,
        end_to_end_id: None,
    })
}

/// Creates a payout with an external id.
#[must_use]
pub fn new_payout(account: AccountId) -> Payout {
    let mut payout = a_payout(account);
    payout.terms.external_id = Some(an_external_id());
    payout.terms.amount = Money::from_centavos(AMOUNT);
    payout.terms.fee = Money::from_centavos(FEE);
    payout
}

/// Returns commit 1: inserts the idempotency record, the unique values and the payout, and moves amount and fee to
/// `in_transit`. The commit fails if the available balance is lower than amount and fee.
#[must_use]
pub fn hold(payout: &Payout) -> ChangeSet {
    steps::create_payout(payout, steps::idempotency_ref(payout.account, &payout.id.to_string()))
}

/// Returns commit 2: completes the payout and stores the response. `payout` is the payout of commit 1. The payout
/// completes at once, so no commit between the two records it as sent.
#[must_use]
pub fn complete(payout: &Payout) -> ChangeSet {
    let held = Payout { version: 1, ..payout.clone() };
    let name = steps::idempotency_ref(payout.account, &payout.id.to_string());
    let mut change = steps::complete_payout(&held, an_end_to_end_id(), start());
    for event in &mut change.events {
        event.data = body().as_bytes().to_vec();
    }
    let answer = steps::answer(ResponseKind::Created, body().as_bytes());
    ChangeSet { idempotency: Some(IdempotencyChange::Answer { name, fence: 1, answer }), ..change }
}
