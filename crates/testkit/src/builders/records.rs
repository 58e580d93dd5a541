//! Records with plausible values. Each call creates a different record. Tests change the fields under test with struct
//! update syntax (`..`).

use std::fmt::Debug;
use std::sync::atomic::{AtomicU64, Ordering};

use cais_domain::acquirer_name::AcquirerName;
use cais_domain::allocate::allocate;
use cais_domain::charge::{Charge, ChargeState, ChargeStatus, ChargeTerms, Issued, Origin, RefundTotals, Settlement};
use cais_domain::document::Document;
use cais_domain::end_to_end_id::EndToEndId;
use cais_domain::event::EventType;
use cais_domain::external_id::ExternalId;
use cais_domain::fee::FeeSchedule;
use cais_domain::ids::{AccountId, Id, IdKind};
use cais_domain::merchant::account::{Account, AccountStatus, Kyc, Limits};
use cais_domain::merchant::api_key::{KeyPrefix, Scopes};
use cais_domain::money::Money;
use cais_domain::payment::Payment;
use cais_domain::rate::Percentage;
use cais_domain::split::{Share, Split};
use cais_ports::{Actor, ApiKeyRecord, Callback, CallbackState, IdGenerator as _, NewEvent, SecretHash};
use jiff::{Timestamp, ToSpan as _};

use crate::ids::SequentialIds;

/// The only source of ids in the process, so that records of different tests differ too.
static IDS: SequentialIds = SequentialIds::starting_at(0);
/// The source of the numbers in other identifiers, such as external ids and end-to-end ids.
static NUMBERS: AtomicU64 = AtomicU64::new(1);

/// Returns the first instant in built records. Their other instants are later by fixed times.
#[must_use]
pub fn start() -> Timestamp {
    expect_ok(Timestamp::from_microsecond(1_767_323_045_678_901))
}

/// Returns a new identifier, greater than every earlier identifier.
#[must_use]
pub fn fresh<K: IdKind>() -> Id<K> {
    Id::new(IDS.next_uuid())
}

/// Returns the acquirer of all built records.
#[must_use]
pub fn main_acquirer() -> AcquirerName {
    expect_ok(AcquirerName::parse("main"))
}

/// Returns an active account without fees, with approved KYC and the features that approval enables.
#[must_use]
pub fn an_account() -> Account {
    let id: AccountId = fresh();
    let account = Account {
        id,
        email: format!("{}@shop.example", id.suffix()),
        name: "Loja da Ana".to_owned(),
        document: expect_ok(Document::parse("12345678909")),
        status: AccountStatus::Active,
        kyc: Kyc::Pending,
        features: cais_domain::merchant::account::Features::default(),
        fees: FeeSchedule::default(),
        limits: Limits::default(),
        release_delay_s: 0,
        crypto_spread: None,
        acquirers: Vec::new(),
        created_at: start(),
        version: 0,
    };
    account.approve()
}

/// Returns the operator of all tests.
#[must_use]
pub fn an_operator() -> Actor {
    Actor { name: "ana".to_owned(), source: "cli".to_owned(), host: "desk".to_owned() }
}

/// Returns an API key with every scope, valid from every address.
#[must_use]
pub fn a_key(account: AccountId) -> ApiKeyRecord {
    ApiKeyRecord {
        id: fresh(),
        prefix: expect_ok(KeyPrefix::parse(&format!("{:012}", number()))),
        account,
        name: "till".to_owned(),
        keyed_hash: SecretHash([7; 32]),
        scopes: Scopes::all(),
        expires_at: None,
        allowed_addresses: Vec::new(),
        revoked_at: None,
        created_at: start(),
        version: 0,
    }
}

/// Returns a new external id.
#[must_use]
pub fn an_external_id() -> ExternalId {
    expect_ok(ExternalId::parse(&format!("order-{}", number())))
}

/// Returns the terms of a charge of R$ 10.00, with a fee of R$ 0.60 and without optional values.
#[must_use]
pub fn terms() -> ChargeTerms {
    ChargeTerms {
        amount: Money::from_centavos(1_000),
        fee: Money::from_centavos(60),
        description: None,
        payer_name: None,
        payer_document: None,
        expires_in_s: 3_600,
        external_id: None,
        postback: None,
        split: Split::NONE,
        origin: Origin::Api,
    }
}

/// Returns a split with these percentages.
#[must_use]
pub fn a_split(shares: &[(AccountId, &str)]) -> Split {
    let share = |(recipient, percentage): &(AccountId, &str)| Share {
        recipient: *recipient,
        percentage: expect_ok(Percentage::parse(percentage)),
    };
    expect_ok(Split::try_new(shares.iter().map(share).collect()))
}

/// Returns a charge that is being created.
#[must_use]
pub fn a_charge(account: AccountId) -> Charge {
    Charge::open(fresh(), account, terms(), main_acquirer(), start())
}

/// Returns a charge that waits for its payer.
#[must_use]
pub fn pending_charge(account: AccountId) -> Charge {
    in_status(a_charge(account), ChargeStatus::Pending)
}

/// Returns the main acquirer's reply for the charge: a text with the txid in place of the BR Code, and the expiry.
#[must_use]
pub fn issued(charge: &Charge) -> Issued {
    Issued {
        acquirer: main_acquirer(),
        copy_paste: format!("00020126{}6304ABCD", charge.txid),
        expires_at: charge.created_at + i64::from(charge.terms.expires_in_s).seconds(),
    }
}

/// Returns a Pix of that many centavos, with a new end-to-end id.
#[must_use]
pub fn a_payment(centavos: i64) -> Payment {
    Payment {
        end_to_end_id: an_end_to_end_id(),
        amount: Money::from_centavos(centavos),
        paid_at: start() + 90.seconds(),
        acquirer: main_acquirer(),
    }
}

/// Returns a new end-to-end id, greater than every earlier end-to-end id.
#[must_use]
pub fn an_end_to_end_id() -> EndToEndId {
    let tail = format!("{:011}", number());
    expect_ok(EndToEndId::compose("12345678", start(), &tail))
}

/// Returns the charge in that status, with plausible facts.
#[must_use]
pub fn in_status(charge: Charge, status: ChargeStatus) -> Charge {
    let issued = issued(&charge);
    let payment = a_payment(charge.terms.amount.centavos());
    let settlement =
        Settlement { paid_at: payment.paid_at, end_to_end_id: payment.end_to_end_id, parts: parts(&charge.terms) };
    let acquirer = main_acquirer();
    let at = charge.created_at + 100.seconds();
    let state = match status {
        ChargeStatus::Creating => ChargeState::Creating { acquirer },
        ChargeStatus::Abandoned => ChargeState::Abandoned { acquirer, at },
        ChargeStatus::Pending => ChargeState::Pending(issued),
        ChargeStatus::Paid => ChargeState::Paid(issued, settlement),
        ChargeStatus::Expired => {
            let at = issued.expires_at + 1.second();
            ChargeState::Expired { issued, at }
        }
        ChargeStatus::Cancelled => ChargeState::Cancelled { issued, at },
        ChargeStatus::Refunded => ChargeState::Refunded { issued, settlement, at },
    };
    let done = if status == ChargeStatus::Refunded { charge.terms.amount } else { charge.refunds.done };
    Charge { state, refunds: RefundTotals { done, ..charge.refunds }, ..charge }
}

/// Returns each beneficiary's part of the net amount.
fn parts(terms: &ChargeTerms) -> Vec<Money> {
    let percentages: Vec<Percentage> = terms.split.shares().iter().map(|share| share.percentage.clone()).collect();
    expect_ok(allocate(expect_ok(terms.amount.checked_sub(terms.fee)), &percentages)).parts
}

/// Returns a callback that is due since its arrival.
#[must_use]
pub fn a_callback() -> Callback {
    Callback {
        id: fresh(),
        acquirer: main_acquirer(),
        body: br#"{"pix":[]}"#.to_vec(),
        received_at: start(),
        state: CallbackState::Waiting,
        attempts: 0,
        due_at: Some(start()),
        version: 0,
    }
}

/// Returns an event about `resource`.
#[must_use]
pub fn an_event(account: AccountId, kind: EventType, resource: &str) -> NewEvent {
    NewEvent {
        id: fresh(),
        account,
        kind,
        at: start(),
        resource: resource.to_owned(),
        data: format!(r#"{{"id":"{resource}"}}"#).into_bytes(),
        postback: None,
    }
}

pub(super) fn number() -> u64 {
    NUMBERS.fetch_add(1, Ordering::Relaxed)
}

#[expect(clippy::unwrap_used, reason = "a wrong constant of this file fails every test")]
pub(crate) fn expect_ok<T, E: Debug>(made: Result<T, E>) -> T {
    made.unwrap()
}
