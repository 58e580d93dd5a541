//! The records that carry a version, seen alike.

use cais_domain::account::Account;
use cais_domain::acquirer_name::AcquirerName;
use cais_domain::api_key::KeyPrefix;
use cais_domain::charge::Charge;
use cais_domain::end_to_end_id::EndToEndId;
use cais_domain::ids::{AccountId, ChargeId, EndpointId, InfractionId, NoticeId, PayoutId, RefundId};
use cais_domain::infraction::Infraction;
use cais_domain::payment::CreditedPayment;
use cais_domain::payout::Payout;
use cais_domain::refund::Refund;
use cais_domain::release::Release;
use cais_domain::webhook::Endpoint;
use cais_ports::{ApiKeyRecord, AuditRow, Notice, PollPosition, UpstreamList, Write};

/// Names a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum RecordKey<'a> {
    /// An account.
    Account(AccountId),
    /// An API key.
    Key(&'a KeyPrefix),
    /// A charge.
    Charge(AccountId, ChargeId),
    /// A callback from upstream.
    Notice(NoticeId),
    /// A release, by the Pix that brought the money.
    Release(AccountId, &'a EndToEndId),
    /// A payout.
    Payout(AccountId, PayoutId),
    /// A refund.
    Refund(AccountId, RefundId),
    /// A webhook endpoint.
    Endpoint(AccountId, EndpointId),
    /// An infraction.
    Infraction(AccountId, InfractionId),
    /// A position in an acquirer's list.
    Position(&'a AcquirerName, UpstreamList),
}

/// A record's content.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Record<'a> {
    /// An account.
    Account(&'a Account),
    /// An API key.
    Key(&'a ApiKeyRecord),
    /// A charge.
    Charge(&'a Charge),
    /// A callback from upstream.
    Notice(&'a Notice),
    /// A release.
    Release(&'a Release),
    /// A payout.
    Payout(&'a Payout),
    /// A refund.
    Refund(&'a Refund),
    /// A webhook endpoint.
    Endpoint(&'a Endpoint),
    /// An infraction.
    Infraction(&'a Infraction),
    /// A position in an acquirer's list.
    Position(&'a PollPosition),
}

/// What a [`Write`] asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wish<'a> {
    /// A record that is new.
    New(Record<'a>),
    /// A record that was read at its version.
    Changed(Record<'a>),
    /// A payment; it never changes.
    Paid(&'a CreditedPayment),
    /// A row of the audit log; it never changes.
    Audited(&'a AuditRow),
}

impl<'a> Record<'a> {
    /// Its name.
    pub(crate) const fn key(self) -> RecordKey<'a> {
        match self {
            Self::Account(account) => RecordKey::Account(account.id),
            Self::Key(key) => RecordKey::Key(&key.prefix),
            Self::Charge(charge) => RecordKey::Charge(charge.account, charge.id),
            Self::Notice(notice) => RecordKey::Notice(notice.id),
            Self::Release(release) => RecordKey::Release(release.account, &release.end_to_end_id),
            Self::Payout(payout) => RecordKey::Payout(payout.account, payout.id),
            Self::Refund(refund) => RecordKey::Refund(refund.account, refund.id),
            Self::Endpoint(endpoint) => RecordKey::Endpoint(endpoint.account, endpoint.id),
            Self::Infraction(infraction) => RecordKey::Infraction(infraction.account, infraction.id),
            Self::Position(position) => RecordKey::Position(&position.acquirer, position.list),
        }
    }

    /// The version that it carries.
    pub(crate) const fn version(self) -> i64 {
        match self {
            Self::Account(account) => account.version,
            Self::Key(key) => key.version,
            Self::Charge(charge) => charge.version,
            Self::Notice(notice) => notice.version,
            Self::Release(release) => release.version,
            Self::Payout(payout) => payout.version,
            Self::Refund(refund) => refund.version,
            Self::Endpoint(endpoint) => endpoint.version,
            Self::Infraction(infraction) => infraction.version,
            Self::Position(position) => position.version,
        }
    }
}

/// What the write asks for.
pub(crate) fn wish(write: &Write) -> Wish<'_> {
    match write {
        Write::InsertAccount(account) => Wish::New(Record::Account(account)),
        Write::UpdateAccount(account) => Wish::Changed(Record::Account(account)),
        Write::InsertKey(key) => Wish::New(Record::Key(key)),
        Write::UpdateKey(key) => Wish::Changed(Record::Key(key)),
        Write::InsertCharge(charge) => Wish::New(Record::Charge(charge)),
        Write::UpdateCharge(charge) => Wish::Changed(Record::Charge(charge)),
        Write::InsertPayment(payment) => Wish::Paid(payment),
        Write::InsertNotice(notice) => Wish::New(Record::Notice(notice)),
        Write::UpdateNotice(notice) => Wish::Changed(Record::Notice(notice)),
        Write::InsertRelease(release) => Wish::New(Record::Release(release)),
        Write::UpdateRelease(release) => Wish::Changed(Record::Release(release)),
        Write::InsertPayout(payout) => Wish::New(Record::Payout(payout)),
        Write::UpdatePayout(payout) => Wish::Changed(Record::Payout(payout)),
        Write::InsertRefund(refund) => Wish::New(Record::Refund(refund)),
        Write::UpdateRefund(refund) => Wish::Changed(Record::Refund(refund)),
        Write::InsertEndpoint(endpoint) => Wish::New(Record::Endpoint(endpoint)),
        Write::UpdateEndpoint(endpoint) => Wish::Changed(Record::Endpoint(endpoint)),
        Write::InsertInfraction(infraction) => Wish::New(Record::Infraction(infraction)),
        Write::UpdateInfraction(infraction) => Wish::Changed(Record::Infraction(infraction)),
        Write::InsertPosition(position) => Wish::New(Record::Position(position)),
        Write::UpdatePosition(position) => Wish::Changed(Record::Position(position)),
        Write::InsertAudit(row) => Wish::Audited(row),
    }
}
