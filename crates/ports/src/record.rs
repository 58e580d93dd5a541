//! The list of all types of records. A record is a value that a change set inserts or updates.

use async_trait::async_trait;
use cais_domain::acquirer_name::AcquirerName;
use cais_domain::crypto::ProcessorId;
use cais_domain::end_to_end_id::EndToEndId;
use cais_domain::ids::{
    AccountId, AuditId, CallbackId, ChargeId, ConfirmationId, CryptoDepositId, CryptoQuoteId, CryptoWithdrawalId,
    EndpointId, InfractionId, PayoutId, RefundId, SessionId, UserId,
};
use cais_domain::merchant::api_key::KeyPrefix;

use crate::position::UpstreamList;
use crate::queries::QueryError;

/// Passes the list of record types to the macro `$then`. Each entry has these parts, in this order:
///
/// - `plural: Variant(Type) |one|`: the table's name in an in-memory store, the variant of [`AnyRecord`], the type of
///   the record, and the variable that stands for a record in the expressions of `key` and `account`;
/// - `key`: the fields of the key, with their types and values, in the order of the key's columns;
/// - `account`: the account to which the record belongs, or `None` (the account decides the commit lane);
/// - `changes`: the field with the version, then the fields that an update changes; empty if the record never changes.
#[macro_export]
macro_rules! records {
    ($then:ident) => {
        $then! {
            /// An account.
            accounts: Account(cais_domain::merchant::account::Account) |one| {
                key { id: AccountId = one.id }
                account { Some(one.id) }
                changes { version, name, document, status, kyc, features, fees, limits, release_delay_s, crypto_spread, acquirers }
            }
            /// An API key.
            keys: Key($crate::keys::ApiKeyRecord) |one| {
                key { prefix: KeyPrefix = one.prefix.clone() }
                account { Some(one.account) }
                changes { version, expires_at, revoked_at }
            }
            /// A charge.
            charges: Charge(cais_domain::charge::Charge) |one| {
                key { account: AccountId = one.account, id: ChargeId = one.id }
                account { Some(one.account) }
                changes { version, state, refunds, open_infractions }
            }
            /// A credited payment, which never changes.
            payments: Payment(cais_domain::payment::CreditedPayment) |one| {
                key { account: AccountId = one.account, end_to_end_id: EndToEndId = one.payment.end_to_end_id.clone() }
                account { Some(one.account) }
                changes {}
            }
            /// Money that waits for its release.
            releases: Release(cais_domain::release::Release) |one| {
                key { account: AccountId = one.account, end_to_end_id: EndToEndId = one.end_to_end_id.clone() }
                account { Some(one.account) }
                changes { version, released_at }
            }
            /// A payout.
            payouts: Payout(cais_domain::payout::Payout) |one| {
                key { account: AccountId = one.account, id: PayoutId = one.id }
                account { Some(one.account) }
                changes { version, recipient, returned, state, due_at, attempts }
            }
            /// A refund.
            refunds: Refund(cais_domain::refund::Refund) |one| {
                key { account: AccountId = one.account, id: RefundId = one.id }
                account { Some(one.account) }
                changes { version, state, due_at, attempts }
            }
            /// A callback from an acquirer.
            callbacks: Callback($crate::callback::Callback) |one| {
                key { id: CallbackId = one.id }
                account { None }
                changes { version, state, attempts, due_at }
            }
            /// A webhook endpoint.
            endpoints: Endpoint(cais_domain::merchant::webhook::Endpoint) |one| {
                key { account: AccountId = one.account, id: EndpointId = one.id }
                account { Some(one.account) }
                changes { version, url, subscription, description, state, epoch, secret, previous }
            }
            /// An infraction.
            infractions: Infraction(cais_domain::infraction::Infraction) |one| {
                key { account: AccountId = one.account, id: InfractionId = one.id }
                account { Some(one.account) }
                changes { version, reason, situation, amount, limit, state, review, defense, deadline_at, alerted_h, due_at, attempts }
            }
            /// A position in an acquirer's list.
            positions: Position($crate::position::PollPosition) |one| {
                key { acquirer: AcquirerName = one.acquirer.clone(), list: UpstreamList = one.list }
                account { None }
                changes { version, seen_until }
            }
            /// The drain of an acquirer.
            drains: Drain($crate::acquirer_drain::AcquirerDrain) |one| {
                key { acquirer: AcquirerName = one.acquirer.clone() }
                account { None }
                changes { version, since }
            }
            /// A crypto quote.
            crypto_quotes: CryptoQuote(cais_domain::crypto::Quote) |one| {
                key { account: AccountId = one.account, id: CryptoQuoteId = one.id }
                account { Some(one.account) }
                changes { version, used_by }
            }
            /// A crypto deposit.
            crypto_deposits: CryptoDeposit(cais_domain::crypto::Deposit) |one| {
                key { account: AccountId = one.account, id: CryptoDepositId = one.id }
                account { Some(one.account) }
                changes { version, price, state, credited, resolution, confirmed_at, tx_hash, due_at, attempts }
            }
            /// A payment to the address of a crypto deposit.
            crypto_payments: CryptoPayment(cais_domain::crypto::deposit::DepositPayment) |one| {
                key { account: AccountId = one.account, processor: AcquirerName = one.processor.clone(), id: ProcessorId = one.id.clone() }
                account { Some(one.account) }
                changes { version, coins, tx_hash, gross, fee, state }
            }
            /// A crypto withdrawal.
            crypto_withdrawals: CryptoWithdrawal(cais_domain::crypto::Withdrawal) |one| {
                key { account: AccountId = one.account, id: CryptoWithdrawalId = one.id }
                account { Some(one.account) }
                changes { version, price, state, network_fee, tx_hash, due_at, attempts }
            }
            /// A user of the dashboard.
            users: User($crate::login::User) |one| {
                key { id: UserId = one.id }
                account { one.role.account() }
                changes { version, password, totp, invitation }
            }
            /// A session of the dashboard.
            sessions: Session($crate::login::Session) |one| {
                key { id: SessionId = one.id }
                account { one.account }
                changes { version, seen_at, wrong_codes, sent_without_code, ended_at }
            }
            /// An action that waits for a one-time code.
            confirmations: Confirmation($crate::login::Confirmation) |one| {
                key { id: ConfirmationId = one.id }
                account { one.account }
                changes { version, state, wrong_codes }
            }
            /// A row of the audit log, which never changes.
            audit: Audit($crate::audit::AuditRow) |one| {
                key { id: AuditId = one.id }
                account { one.account }
                changes {}
            }
        }
    };
}

/// Reads records of any type by their keys.
#[async_trait]
pub trait RecordQueries: Send + Sync {
    /// Returns the stored record with this key.
    async fn find_record(&self, key: RecordKey) -> Result<Option<AnyRecord>, QueryError>;
}

/// A record that can be updated. Records of types that never change have no version.
pub trait Versioned: Into<AnyRecord> {
    /// Returns the version that was read.
    fn version(&self) -> i64;
}

macro_rules! define {
    ($(
        $(#[$doc:meta])*
        $plural:ident: $name:ident($type:ty) |$one:ident| {
            key { $($field:ident: $key:ty = $value:expr),+ }
            account { $account:expr }
            changes { $($version:ident $(, $changing:ident)+)? }
        }
    )+) => {
        /// A record of any type.
        #[derive(Debug, Clone, PartialEq, Eq)]
        pub enum AnyRecord {
            $($(#[$doc])* $name(Box<$type>),)+
        }

        /// The key of a record.
        #[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum RecordKey {
            $(
                #[doc = concat!("The key of `", stringify!($type), "`.")]
                $name { $(#[doc = concat!("The field `", stringify!($field), "`.")] $field: $key),+ },
            )+
        }

        $(impl From<$type> for AnyRecord {
            fn from(record: $type) -> Self {
                Self::$name(Box::new(record))
            }
        })+

        $(impl TryFrom<AnyRecord> for $type {
            type Error = QueryError;

            fn try_from(record: AnyRecord) -> Result<Self, QueryError> {
                if let AnyRecord::$name(one) = record {
                    Ok(*one)
                } else {
                    Err(QueryError::Corrupt(format!("a record of another type: {:?}", record.key())))
                }
            }
        })+

        $($(impl Versioned for $type {
            fn version(&self) -> i64 {
                self.$version
            }
        })?)+

        impl AnyRecord {
            /// Returns the key.
            #[must_use]
            pub fn key(&self) -> RecordKey {
                match self {
                    $(Self::$name($one) => RecordKey::$name { $($field: $value),+ },)+
                }
            }

            /// Returns the account. Returns `None` if the record belongs to no account.
            #[must_use]
            pub fn account(&self) -> Option<AccountId> {
                match self {
                    $(Self::$name($one) => { let _: &$type = $one; $account })+
                }
            }

            /// Returns the version that was read. Returns `None` if the record never changes.
            #[must_use]
            pub fn version(&self) -> Option<i64> {
                match self {
                    $(Self::$name($one) => define!(@version $one $($version)?),)+
                }
            }
        }

        impl RecordKey {
            /// Returns the values of the key's columns, in their order.
            #[must_use]
            pub fn texts(&self) -> Vec<String> {
                match self {
                    $(Self::$name { $($field),+ } => vec![$($field.to_string()),+],)+
                }
            }
        }
    };
    (@version $one:ident $version:ident) => { Some(Versioned::version(&**$one)) };
    (@version $one:ident) => {{ let _: &Box<_> = $one; None }};
}
records!(define);
