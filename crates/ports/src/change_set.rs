//! A change set: all changes of one commit, as one value.

use cais_domain::acquirer_name::AcquirerName;
use cais_domain::block::BlockChange;
use cais_domain::crypto::ProcessorId;
use cais_domain::end_to_end_id::{EndToEndId, ReturnId};
use cais_domain::event::EventType;
use cais_domain::external_id::ExternalId;
use cais_domain::ids::{AccountId, EntryId, EventId};
use cais_domain::instruction_id::InstructionId;
use cais_domain::ledger::{Bucket, EntryKind, LedgerAccount, Transfer};
use cais_domain::merchant::webhook::{Postback, WebhookUrl};
use cais_domain::txid::Txid;
use jiff::Timestamp;
use uuid::Uuid;

use crate::idempotency::IdempotencyChange;
use crate::record::{AnyRecord, RecordKey, Versioned};

/// A value that can have only one owner.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ReservationKey {
    /// An account's external id of a charge, unique within the account. The id is freed only if the charge is
    /// abandoned.
    ChargeExternalId(AccountId, ExternalId),
    /// The txid of a charge, unique over all accounts.
    Txid(Txid),
    /// The end-to-end id of a received Pix, unique over all accounts. So the Pix is credited once.
    EndToEndId(EndToEndId),
    /// The e-mail address of an account in lower case, unique over all accounts.
    Email(String),
    /// The e-mail address of a dashboard user in lower case, unique over all users.
    UserEmail(String),
    /// An account's external id of a payout, unique within the account. The id is freed only if the payout is
    /// abandoned.
    PayoutExternalId(AccountId, ExternalId),
    /// An account's external id of a refund, unique within the account. The id is freed only if the refund is
    /// abandoned.
    RefundExternalId(AccountId, ExternalId),
    /// The instruction id of a payout, unique over all accounts.
    InstructionId(InstructionId),
    /// The return id of a returned payout or of a refund, unique over all accounts. So a returned payout is credited
    /// once, and a refund is never credited as a returned payout.
    ReturnId(ReturnId),
    /// The address of an account's endpoint. An address is freed when the endpoint gets another one, or is deleted.
    EndpointUrl(AccountId, WebhookUrl),
    /// A slot of an account for an endpoint, in two digits. The slots limit the number of endpoints. A slot is freed
    /// when its endpoint is deleted.
    EndpointSlot(AccountId, String),
    /// An infraction by its acquirer's id, unique over all accounts: `acquirer/id`. If the acquirer reopens a resolved
    /// infraction, `acquirer/id/2` follows, then `acquirer/id/3`.
    Infraction(String),
    /// An account's external id of a crypto deposit, unique within the account. The id is freed only if the deposit is
    /// abandoned.
    CryptoDepositExternalId(AccountId, ExternalId),
    /// An account's external id of a crypto withdrawal, unique within the account. The id is freed only if the
    /// withdrawal is abandoned.
    CryptoWithdrawalExternalId(AccountId, ExternalId),
    /// A payment at a crypto processor, `processor/id`, unique over all accounts. So the payment belongs to one
    /// deposit. A deposit also reserves its own id as such a value. The processor's records of its payments contain
    /// that id, so the same look-up finds the deposit of a new payment.
    CryptoPayment(String),
}

impl ReservationKey {
    /// Returns the key of a payment at a crypto processor.
    #[must_use]
    pub fn crypto_payment(processor: &AcquirerName, payment: &ProcessorId) -> Self {
        Self::CryptoPayment(format!("{processor}/{payment}"))
    }

    /// Returns the name of the value's kind. The store keeps the value under this name.
    #[must_use]
    pub const fn space(&self) -> &'static str {
        match self {
            Self::ChargeExternalId(..) => "charge.external_id",
            Self::Txid(_) => "txid",
            Self::EndToEndId(_) => "end_to_end_id",
            Self::Email(_) => "email",
            Self::UserEmail(_) => "user.email",
            Self::PayoutExternalId(..) => "payout.external_id",
            Self::RefundExternalId(..) => "refund.external_id",
            Self::InstructionId(_) => "instruction_id",
            Self::ReturnId(_) => "return_id",
            Self::EndpointUrl(..) => "endpoint.url",
            Self::EndpointSlot(..) => "endpoint.slot",
            Self::Infraction(_) => "infraction",
            Self::CryptoDepositExternalId(..) => "crypto_deposit.external_id",
            Self::CryptoWithdrawalExternalId(..) => "crypto_withdrawal.external_id",
            Self::CryptoPayment(_) => "crypto_payment",
        }
    }

    /// Returns the value.
    #[must_use]
    pub fn value(&self) -> &str {
        match self {
            Self::ChargeExternalId(_, external_id)
            | Self::PayoutExternalId(_, external_id)
            | Self::RefundExternalId(_, external_id)
            | Self::CryptoDepositExternalId(_, external_id)
            | Self::CryptoWithdrawalExternalId(_, external_id) => external_id.as_str(),
            Self::Txid(txid) => txid.as_str(),
            Self::EndToEndId(end_to_end_id) => end_to_end_id.as_str(),
            Self::Email(email) | Self::UserEmail(email) => email,
            Self::InstructionId(instruction_id) => instruction_id.as_str(),
            Self::ReturnId(return_id) => return_id.as_str(),
            Self::EndpointUrl(_, url) => url.as_str(),
            Self::EndpointSlot(_, name) | Self::Infraction(name) | Self::CryptoPayment(name) => name,
        }
    }

    /// Returns the account within which the value is unique. Returns `None` if it is unique over all accounts.
    #[must_use]
    pub const fn within(&self) -> Option<AccountId> {
        match self {
            Self::ChargeExternalId(account, _)
            | Self::PayoutExternalId(account, _)
            | Self::RefundExternalId(account, _)
            | Self::EndpointUrl(account, _)
            | Self::EndpointSlot(account, _)
            | Self::CryptoDepositExternalId(account, _)
            | Self::CryptoWithdrawalExternalId(account, _) => Some(*account),
            Self::Txid(_)
            | Self::EndToEndId(_)
            | Self::Email(_)
            | Self::UserEmail(_)
            | Self::InstructionId(_)
            | Self::ReturnId(_)
            | Self::Infraction(_)
            | Self::CryptoPayment(_) => None,
        }
    }
}

/// A unique value and its owner.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reservation {
    /// The value.
    pub key: ReservationKey,
    /// The account of the owner.
    pub account: AccountId,
    /// The public id of the owner.
    pub owner: String,
}

/// A record to write.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Write {
    /// A new record, stored with version 1. If a record with the same key exists, the commit fails with `Exists`. For a
    /// record that never changes, the error may be `Corrupt` instead.
    Insert(AnyRecord),
    /// A changed record with the version that was read. The record is stored with the next version. If the stored
    /// version differs from the one that was read, the commit fails with `Stale`.
    Update(AnyRecord),
}

impl Write {
    /// Creates the insert of a record.
    #[must_use]
    pub fn insert(record: impl Into<AnyRecord>) -> Self {
        Self::Insert(record.into())
    }

    /// Creates the update of a record.
    #[must_use]
    pub fn update(record: impl Versioned) -> Self {
        Self::Update(record.into())
    }

    /// Returns the record.
    #[must_use]
    pub const fn record(&self) -> &AnyRecord {
        match self {
            Self::Insert(record) | Self::Update(record) => record,
        }
    }

    /// Returns the key of the record.
    #[must_use]
    pub fn key(&self) -> RecordKey {
        self.record().key()
    }

    /// Returns the version that the stored record must have. Returns `None` if the record must not exist yet. A record
    /// that never changes can only be inserted.
    #[must_use]
    pub fn read(&self) -> Option<i64> {
        match self {
            Self::Insert(_) => None,
            Self::Update(record) => record.version(),
        }
    }

    /// Returns the version after the write.
    #[must_use]
    pub fn version(&self) -> i64 {
        self.read().map_or(1, |read| read.saturating_add(1))
    }
}

/// An event to publish. The store assigns the account's next sequence number.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewEvent {
    /// The identifier of the event.
    pub id: EventId,
    /// The account that the event belongs to.
    pub account: AccountId,
    /// The type of the event.
    pub kind: EventType,
    /// The instant of the event.
    pub at: Timestamp,
    /// The public id of the resource.
    pub resource: String,
    /// The resource at the instant of the event, as [`crate::ResourceRenderer`] renders it.
    pub data: Vec<u8>,
    /// The endpoint that the merchant named in the request for the charge or deposit. `None` if the request named none,
    /// and for other resources.
    pub postback: Option<Postback>,
}

/// Returns a placeholder for the id of an entry that does not exist yet: all zeros. The data of `split.received`
/// contains the id of the ledger entry. The store assigns that id in the commit, so until then the data contains the
/// suffix of the placeholder.
#[must_use]
pub const fn entry_to_come() -> EntryId {
    EntryId::new(Uuid::nil())
}

impl NewEvent {
    /// Returns whether this event reports the credit of `transfer` to a beneficiary of a split. Its data then contains
    /// the id of the credit's entry.
    #[must_use]
    pub fn is_of_credit(&self, transfer: &Transfer) -> bool {
        self.kind == EventType::SplitReceived
            && transfer.kind == EntryKind::Split
            && transfer.to == LedgerAccount::Merchant(self.account, Bucket::Available)
    }

    /// Returns the event with the id of the stored entry instead of [`entry_to_come`].
    #[must_use]
    pub fn with_entry(&self, entry: EntryId) -> Self {
        let text = String::from_utf8_lossy(&self.data);
        let data = text.replacen(&entry_to_come().suffix(), &entry.suffix(), 1).into_bytes();
        Self { data, ..self.clone() }
    }
}

/// All changes of one commit. The store derives two more effects:
///
/// 1. After all transfers and block changes, the store tops up under-funded blocks
///    ([`cais_domain::block::top_up_blocks`]). Only two kinds of accounts are concerned: those with a block change, and
///    those to which a transfer credits `available` or `pending`.
/// 2. The store creates one delivery for each event and each endpoint of its account that
///    [`cais_domain::merchant::webhook::Endpoint::subscribes_to`] selects.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChangeSet {
    /// The instant of the decision, in whole microseconds.
    pub at: Timestamp,
    /// The change to an idempotency record.
    pub idempotency: Option<IdempotencyChange>,
    /// Unique values to reserve. If a value has an owner, the commit fails with `Taken`.
    pub reserve: Vec<Reservation>,
    /// Unique values to free. They are freed after the check of `reserve`.
    pub unreserve: Vec<ReservationKey>,
    /// Records to write.
    pub writes: Vec<Write>,
    /// Movements of money, in order. After each movement, the debited balance is checked.
    pub transfers: Vec<Transfer>,
    /// Changes of blocks, in order. They are applied after the transfers.
    pub blocks: Vec<BlockChange>,
    /// Events to publish, in order.
    pub events: Vec<NewEvent>,
}

impl ChangeSet {
    /// Creates a change set without any change.
    #[must_use]
    pub const fn new(at: Timestamp) -> Self {
        Self {
            at,
            idempotency: None,
            reserve: Vec::new(),
            unreserve: Vec::new(),
            writes: Vec::new(),
            transfers: Vec::new(),
            blocks: Vec::new(),
            events: Vec::new(),
        }
    }
}
