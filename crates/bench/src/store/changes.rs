//! The change sets that the service commits for creations and payments of charges. Responses and events are as long as
//! in the service.

use std::sync::OnceLock;

use cais_domain::charge::{Charge, ChargeStatus};
use cais_domain::ids::AccountId;
use cais_ports::{ChangeSet, IdempotencyChange, Write};
use cais_testkit::builders::{a_charge, a_payment, an_external_id, in_status, start, steps};

/// The length of the stored response of a creation, in bytes: a charge with its BR Code and the image of its QR code.
const ANSWER_BYTES: usize = 1_250;
/// The length of a charge in an event, in bytes. The charge is paid, so it has no image.
const EVENT_BYTES: usize = 600;
/// The amount of a charge, in centavos.
pub const AMOUNT: i64 = 1_000;
/// The service's fee, in centavos.
pub const FEE: i64 = 60;

/// Returns random letters, as long as the stored response of a creation.
pub fn answer_body() -> &'static str {
    static BODY: OnceLock<String> = OnceLock::new();
    BODY.get_or_init(|| letters(ANSWER_BYTES))
}

/// Returns random letters, as long as a charge in an event.
pub fn event_data() -> &'static str {
    static DATA: OnceLock<String> = OnceLock::new();
    DATA.get_or_init(|| letters(EVENT_BYTES))
}

/// Returns random letters, which compress as badly as an image.
fn letters(length: usize) -> String {
    let mut state: u32 = 2_463_534_242;
    let letter = |_| {
        // Xorshift (Marsaglia 2003) with the triple 13, 17, 5.
        state ^= state << 13;
        state ^= state >> 17;
        state ^= state << 5;
        char::from(b'a'.saturating_add(u8::try_from(state % 26).unwrap_or_default()))
    };
    (0..length).map(letter).collect()
}

/// Creates a charge with an external id.
#[must_use]
pub fn new_charge(account: AccountId) -> Charge {
    let mut charge = a_charge(account);
    charge.terms.external_id = Some(an_external_id());
    charge
}

/// Returns commit 1 of a creation: idempotency record, unique values, charge.
#[must_use]
pub fn open(charge: &Charge) -> ChangeSet {
    steps::create_charge(charge, steps::idempotency_ref(charge.account, &charge.id.to_string()))
}

/// Returns commit 2 of a creation: the issued charge and the stored response. `charge` is the charge of commit 1.
#[must_use]
pub fn issue(charge: &Charge) -> ChangeSet {
    let issued = in_status(Charge { version: 1, ..charge.clone() }, ChargeStatus::Pending);
    let name = steps::idempotency_ref(charge.account, &charge.id.to_string());
    let mut change = steps::issue_charge(&issued, name, 1, start());
    if let Some(IdempotencyChange::Answer { answer, .. }) = &mut change.idempotency {
        answer.body = answer_body().as_bytes().to_vec();
    }
    change
}

/// Returns one change that inserts the charges as they are.
#[must_use]
pub fn seed(charges: &[Charge]) -> ChangeSet {
    ChangeSet {
        writes: charges.iter().map(|charge| Write::insert(charge.clone())).collect(),
        ..ChangeSet::new(start())
    }
}

/// Returns the change that credits a payment of a seeded charge. `charge` is the value that [`seed`] inserted. Its
/// version in the store is 1.
#[must_use]
pub fn confirm(charge: &Charge) -> ChangeSet {
    let charge = Charge { version: 1, ..charge.clone() };
    let mut change = steps::confirm_payment(&charge, a_payment(AMOUNT), start());
    for event in &mut change.events {
        event.data = event_data().as_bytes().to_vec();
    }
    change
}
