//! Everything that must become true together, as one value.

use cais_domain::account::Account;
use cais_domain::charge::Charge;
use cais_domain::end_to_end_id::{EndToEndId, ReturnId};
use cais_domain::event::EventType;
use cais_domain::external_id::ExternalId;
use cais_domain::id_envio::IdEnvio;
use cais_domain::ids::{AccountId, EventId};
use cais_domain::ledger::Transfer;
use cais_domain::payment::CreditedPayment;
use cais_domain::payout::Payout;
use cais_domain::refund::Refund;
use cais_domain::release::Release;
use cais_domain::txid::Txid;
use jiff::Timestamp;

use crate::claim::ClaimChange;
use crate::keys::ApiKeyRecord;
use crate::notice::Notice;

/// A value that only one owner may have.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ReservationKey {
    /// An account's own name for a charge: unique within the account, for ever.
    ChargeExternalId(AccountId, ExternalId),
    /// A charge's name upstream: unique everywhere.
    Txid(Txid),
    /// A Pix that arrived: unique everywhere, so it is credited once.
    EndToEndId(EndToEndId),
    /// An account's e-mail, lower case: unique everywhere.
    Email(String),
    /// An account's own name for a payout: unique within the account, for ever.
    PayoutExternalId(AccountId, ExternalId),
    /// An account's own name for a refund: unique within the account, for ever.
    RefundExternalId(AccountId, ExternalId),
    /// A payout's name upstream: unique everywhere.
    IdEnvio(IdEnvio),
    /// What came back of a payout: unique everywhere, so it is credited once.
    ReturnId(ReturnId),
}

impl ReservationKey {
    /// Which kind of value it is, as the store names it.
    #[must_use]
    pub const fn space(&self) -> &'static str {
        match self {
            Self::ChargeExternalId(..) => "charge.external_id",
            Self::Txid(_) => "txid",
            Self::EndToEndId(_) => "end_to_end_id",
            Self::Email(_) => "email",
            Self::PayoutExternalId(..) => "payout.external_id",
            Self::RefundExternalId(..) => "refund.external_id",
            Self::IdEnvio(_) => "id_envio",
            Self::ReturnId(_) => "return_id",
        }
    }

    /// The value.
    #[must_use]
    pub fn value(&self) -> &str {
        match self {
            Self::ChargeExternalId(_, external_id)
            | Self::PayoutExternalId(_, external_id)
            | Self::RefundExternalId(_, external_id) => external_id.as_str(),
            Self::Txid(txid) => txid.as_str(),
            Self::EndToEndId(end_to_end_id) => end_to_end_id.as_str(),
            Self::Email(email) => email,
            Self::IdEnvio(id_envio) => id_envio.as_str(),
            Self::ReturnId(return_id) => return_id.as_str(),
        }
    }

    /// The account within which it is unique; `None` where it is unique everywhere.
    #[must_use]
    pub const fn within(&self) -> Option<AccountId> {
        match self {
            Self::ChargeExternalId(account, _)
            | Self::PayoutExternalId(account, _)
            | Self::RefundExternalId(account, _) => Some(*account),
            Self::Txid(_) | Self::EndToEndId(_) | Self::Email(_) | Self::IdEnvio(_) | Self::ReturnId(_) => None,
        }
    }
}

/// A unique value and who has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reservation {
    /// The value.
    pub key: ReservationKey,
    /// The account behind the owner.
    pub account: AccountId,
    /// The public id of the owner.
    pub owner: String,
}

/// A record to write.
///
/// An `Insert…` stores version 1. An `Update…` carries the version that was read, is refused with `Stale` when
/// the stored one differs, and stores that version plus one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Write {
    /// A new account.
    InsertAccount(Box<Account>),
    /// A changed account; its id, e-mail and instant of creation never change.
    UpdateAccount(Box<Account>),
    /// A new API key.
    InsertKey(Box<ApiKeyRecord>),
    /// A changed API key: only `revoked_at` and `expires_at` change.
    UpdateKey(Box<ApiKeyRecord>),
    /// A new charge.
    InsertCharge(Box<Charge>),
    /// A charge in another state: only `state`, `refunds` and `open_infractions` change.
    UpdateCharge(Box<Charge>),
    /// A payment that is credited now.
    InsertPayment(Box<CreditedPayment>),
    /// Money that waits for its release.
    InsertRelease(Box<Release>),
    /// Money that is released: only `released_at` changes.
    UpdateRelease(Box<Release>),
    /// A new payout.
    InsertPayout(Box<Payout>),
    /// A payout in another state: only `recipient`, `returned`, `state`, `due_at` and `attempts` change.
    UpdatePayout(Box<Payout>),
    /// A new refund.
    InsertRefund(Box<Refund>),
    /// A refund in another state: only `state`, `due_at` and `attempts` change.
    UpdateRefund(Box<Refund>),
    /// A callback from upstream.
    InsertNotice(Box<Notice>),
    /// A callback that was looked into: only `state`, `attempts` and `due_at` change.
    UpdateNotice(Box<Notice>),
}

/// Something that consumers are told. The store gives it the account's next sequence number.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewEvent {
    /// Its identifier.
    pub id: EventId,
    /// Whose it is.
    pub account: AccountId,
    /// What happened.
    pub kind: EventType,
    /// When.
    pub at: Timestamp,
    /// The public id of what it happened to.
    pub resource: String,
    /// The resource as its GET returns it at that moment: a JSON object.
    pub data: Vec<u8>,
}

/// Everything that must become true together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChangeSet {
    /// When it was decided, in whole microseconds.
    pub at: Timestamp,
    /// The idempotency claim it takes or answers.
    pub claim: Option<ClaimChange>,
    /// Unique values it takes; refused with `Taken` when somebody has one.
    pub reserve: Vec<Reservation>,
    /// Unique values it gives back, applied after `reserve` was judged.
    pub unreserve: Vec<ReservationKey>,
    /// Records.
    pub writes: Vec<Write>,
    /// Movements of money, in order; cover is judged after each.
    pub transfers: Vec<Transfer>,
    /// What consumers are told, in order.
    pub events: Vec<NewEvent>,
}

impl ChangeSet {
    /// A change set that changes nothing yet.
    #[must_use]
    pub const fn new(at: Timestamp) -> Self {
        Self {
            at,
            claim: None,
            reserve: Vec::new(),
            unreserve: Vec::new(),
            writes: Vec::new(),
            transfers: Vec::new(),
            events: Vec::new(),
        }
    }
}
