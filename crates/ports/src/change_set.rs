//! Everything that must become true together, as one value.

use cais_domain::account::Account;
use cais_domain::block::BlockChange;
use cais_domain::charge::Charge;
use cais_domain::end_to_end_id::{EndToEndId, ReturnId};
use cais_domain::event::EventType;
use cais_domain::external_id::ExternalId;
use cais_domain::ids::{AccountId, EntryId, EventId};
use cais_domain::infraction::Infraction;
use cais_domain::instruction_id::InstructionId;
use cais_domain::ledger::{Bucket, EntryKind, LedgerAccount, Transfer};
use cais_domain::payment::CreditedPayment;
use cais_domain::payout::Payout;
use cais_domain::refund::Refund;
use cais_domain::release::Release;
use cais_domain::txid::Txid;
use cais_domain::webhook::{Endpoint, Postback, WebhookUrl};
use jiff::Timestamp;
use uuid::Uuid;

use crate::audit::AuditRow;
use crate::claim::ClaimChange;
use crate::keys::ApiKeyRecord;
use crate::notice::Notice;
use crate::position::PollPosition;

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
    InstructionId(InstructionId),
    /// What came back of a payout: unique everywhere, so it is credited once.
    ReturnId(ReturnId),
    /// Where an endpoint of the account is; given back when it moves or is deleted.
    EndpointUrl(AccountId, WebhookUrl),
    /// One of the account's places for endpoints, in two digits; given back when its endpoint is deleted.
    EndpointSlot(AccountId, String),
    /// An infraction as its acquirer names it: `acquirer/name`, and `acquirer/name/2` and so on when it was reopened after it was
    /// settled; unique everywhere.
    Infraction(String),
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
            Self::InstructionId(_) => "instruction_id",
            Self::ReturnId(_) => "return_id",
            Self::EndpointUrl(..) => "endpoint.url",
            Self::EndpointSlot(..) => "endpoint.slot",
            Self::Infraction(_) => "infraction",
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
            Self::InstructionId(instruction_id) => instruction_id.as_str(),
            Self::ReturnId(return_id) => return_id.as_str(),
            Self::EndpointUrl(_, url) => url.as_str(),
            Self::EndpointSlot(_, name) | Self::Infraction(name) => name,
        }
    }

    /// The account within which it is unique; `None` where it is unique everywhere.
    #[must_use]
    pub const fn within(&self) -> Option<AccountId> {
        match self {
            Self::ChargeExternalId(account, _)
            | Self::PayoutExternalId(account, _)
            | Self::RefundExternalId(account, _)
            | Self::EndpointUrl(account, _)
            | Self::EndpointSlot(account, _) => Some(*account),
            Self::Txid(_)
            | Self::EndToEndId(_)
            | Self::Email(_)
            | Self::InstructionId(_)
            | Self::ReturnId(_)
            | Self::Infraction(_) => None,
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
    /// A new webhook endpoint.
    InsertEndpoint(Box<Endpoint>),
    /// A changed webhook endpoint: only `url`, `subscription`, `description`, `state`, `epoch`, `secret` and `previous` change.
    UpdateEndpoint(Box<Endpoint>),
    /// A new infraction.
    InsertInfraction(Box<Infraction>),
    /// A changed infraction; its id, account, charge, acquirer, names, Pix and instants of beginning never change.
    UpdateInfraction(Box<Infraction>),
    /// The first position in an acquirer's list.
    InsertPosition(Box<PollPosition>),
    /// A position that moved: only `seen_until` changes.
    UpdatePosition(Box<PollPosition>),
    /// A row of the audit log; it never changes.
    InsertAudit(Box<AuditRow>),
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
    /// The endpoint that the charge named, where the event is a charge's.
    pub postback: Option<Postback>,
}

/// The version of the service's interface that bodies of events follow.
const API_VERSION: &str = "1.1.0";

/// The id of an entry that the store has not made yet: all zeros. The data of `split.received` has its suffix where the transaction's id
/// is, because a transaction that credits a share is named after its entry.
#[must_use]
pub const fn entry_to_come() -> EntryId {
    EntryId::new(Uuid::nil())
}

impl NewEvent {
    /// Whether this event is about the credit that `transfer` makes: the data of such an event names the entry of that credit.
    #[must_use]
    pub fn is_of_credit(&self, transfer: &Transfer) -> bool {
        self.kind == EventType::SplitReceived
            && transfer.kind == EntryKind::Split
            && transfer.to == LedgerAccount::Merchant(self.account, Bucket::Available)
    }

    /// The event with the entry that the store made for it, in place of [`entry_to_come`].
    #[must_use]
    pub fn with_entry(&self, entry: EntryId) -> Self {
        let text = String::from_utf8_lossy(&self.data);
        let data = text.replacen(&entry_to_come().suffix(), &entry.suffix(), 1).into_bytes();
        Self { data, ..self.clone() }
    }

    /// The body that is sent, and that `GET /events/{id}` returns, once the store gave it its sequence number; a test has none.
    #[must_use]
    pub fn body(&self, sequence: Option<i64>) -> Vec<u8> {
        let sequence = sequence.map_or_else(|| "null".to_owned(), |sequence| sequence.to_string());
        let head = format!(
            r#"{{"id":"{}","type":"{}","timestamp":"{:.3}","sequence":{sequence},"api_version":"{API_VERSION}","data":"#,
            self.id,
            self.kind.as_str(),
            self.at,
        );
        let mut body = Vec::with_capacity(head.len().saturating_add(self.data.len()).saturating_add(1));
        body.extend_from_slice(head.as_bytes());
        body.extend_from_slice(&self.data);
        body.push(b'}');
        body
    }
}

/// Everything that must become true together.
///
/// The store adds to it what only it can know at that instant. After the transfers and the blocks, whatever accounts have then is
/// taken for their infractions that hold less than they should ([`cais_domain::block::top_up_blocks`]): for each account that a transfer
/// credits in `available` or `pending`, or that a block is about. And each event gets a delivery for every endpoint of its account
/// that hears of it ([`Endpoint::subscribes_to`]).
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
    /// What is held for infractions from now on, in order, after the transfers.
    pub blocks: Vec<BlockChange>,
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
            blocks: Vec::new(),
            events: Vec::new(),
        }
    }
}
