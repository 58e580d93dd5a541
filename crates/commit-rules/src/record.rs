//! Records that carry a version.

use cais_domain::acquirer_name::AcquirerName;
use cais_domain::api_key::KeyPrefix;
use cais_domain::end_to_end_id::EndToEndId;
use cais_domain::ids::{AccountId, CallbackId, ChargeId, EndpointId, InfractionId, PayoutId, RefundId};
use cais_ports::{UpstreamList, Write};

/// The key of a record.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum RecordKey {
    /// An account.
    Account(AccountId),
    /// An API key.
    Key(KeyPrefix),
    /// A charge.
    Charge(AccountId, ChargeId),
    /// A callback from upstream.
    Callback(CallbackId),
    /// A release, by the Pix that brought the money.
    Release(AccountId, EndToEndId),
    /// A payout.
    Payout(AccountId, PayoutId),
    /// A refund.
    Refund(AccountId, RefundId),
    /// A webhook endpoint.
    Endpoint(AccountId, EndpointId),
    /// An infraction.
    Infraction(AccountId, InfractionId),
    /// A position in an acquirer's list.
    Position(AcquirerName, UpstreamList),
}

/// The effect of a [`Write`] on the version of a record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RecordChange {
    /// The record must not exist; it gets version 1.
    Insert(RecordKey),
    /// The record must have this version; it gets the next.
    Update(RecordKey, i64),
}

impl RecordChange {
    /// Classifies a write; `None` for payments and audit rows, which never change.
    #[must_use]
    pub fn of(write: &Write) -> Option<Self> {
        Some(match write {
            Write::InsertAccount(one) => Self::Insert(RecordKey::Account(one.id)),
            Write::UpdateAccount(one) => Self::Update(RecordKey::Account(one.id), one.version),
            Write::InsertKey(one) => Self::Insert(RecordKey::Key(one.prefix.clone())),
            Write::UpdateKey(one) => Self::Update(RecordKey::Key(one.prefix.clone()), one.version),
            Write::InsertCharge(one) => Self::Insert(RecordKey::Charge(one.account, one.id)),
            Write::UpdateCharge(one) => Self::Update(RecordKey::Charge(one.account, one.id), one.version),
            Write::InsertCallback(one) => Self::Insert(RecordKey::Callback(one.id)),
            Write::UpdateCallback(one) => Self::Update(RecordKey::Callback(one.id), one.version),
            Write::InsertRelease(one) => Self::Insert(RecordKey::Release(one.account, one.end_to_end_id.clone())),
            Write::UpdateRelease(one) => {
                Self::Update(RecordKey::Release(one.account, one.end_to_end_id.clone()), one.version)
            }
            Write::InsertPayout(one) => Self::Insert(RecordKey::Payout(one.account, one.id)),
            Write::UpdatePayout(one) => Self::Update(RecordKey::Payout(one.account, one.id), one.version),
            Write::InsertRefund(one) => Self::Insert(RecordKey::Refund(one.account, one.id)),
            Write::UpdateRefund(one) => Self::Update(RecordKey::Refund(one.account, one.id), one.version),
            Write::InsertEndpoint(one) => Self::Insert(RecordKey::Endpoint(one.account, one.id)),
            Write::UpdateEndpoint(one) => Self::Update(RecordKey::Endpoint(one.account, one.id), one.version),
            Write::InsertInfraction(one) => Self::Insert(RecordKey::Infraction(one.account, one.id)),
            Write::UpdateInfraction(one) => Self::Update(RecordKey::Infraction(one.account, one.id), one.version),
            Write::InsertPosition(one) => Self::Insert(RecordKey::Position(one.acquirer.clone(), one.list)),
            Write::UpdatePosition(one) => {
                Self::Update(RecordKey::Position(one.acquirer.clone(), one.list), one.version)
            }
            Write::InsertPayment(_) | Write::InsertAudit(_) => return None,
        })
    }

    /// Returns the key and the version after the write.
    #[must_use]
    pub fn after(self) -> (RecordKey, i64) {
        match self {
            Self::Insert(key) => (key, 1),
            Self::Update(key, read) => (key, read.saturating_add(1)),
        }
    }
}
