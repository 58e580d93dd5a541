//! The list of all records. A record is a value that a change set inserts or updates.

use cais_domain::acquirer_name::AcquirerName;
use cais_domain::crypto::ProcessorId;
use cais_domain::end_to_end_id::EndToEndId;
use cais_domain::ids::{
    AccountId, AuditId, CallbackId, ChargeId, ConfirmationId, CryptoDepositId, CryptoQuoteId, CryptoWithdrawalId,
    EndpointId, InfractionId, PayoutId, RefundId, SessionId, UserId,
};
use cais_domain::merchant::api_key::KeyPrefix;

use crate::position::UpstreamList;

/// Passes the list of records to the macro `$then`. Each row has these parts, in this order:
///
/// - `plural: Variant(Type)`.
/// - `key`: the fields of the key, with their types and values, in the order of the key's columns;
/// - `account`: the account whose commit lane writes the record, or `None`;
/// - `version`: the field with the version, empty if the record never changes.
#[macro_export]
macro_rules! records {
    ($then:ident) => {
        $then! {
            /// An account. Its id, e-mail and creation time never change.
            accounts: Account(cais_domain::merchant::account::Account) |one| {
                key { id: AccountId = one.id }
                account { Some(one.id) }
                version { version }
            }
            /// An API key. Only `revoked_at` and `expires_at` change.
            keys: Key($crate::keys::ApiKeyRecord) |one| {
                key { prefix: KeyPrefix = one.prefix.clone() }
                account { Some(one.account) }
                version { version }
            }
            /// A charge. Only `state`, `refunds` and `open_infractions` change.
            charges: Charge(cais_domain::charge::Charge) |one| {
                key { account: AccountId = one.account, id: ChargeId = one.id }
                account { Some(one.account) }
                version { version }
            }
            /// A credited payment, which never changes.
            payments: Payment(cais_domain::payment::CreditedPayment) |one| {
                key { account: AccountId = one.account, end_to_end_id: EndToEndId = one.payment.end_to_end_id.clone() }
                account { Some(one.account) }
                version {}
            }
            /// Money that waits for its release. Only `released_at` changes.
            releases: Release(cais_domain::release::Release) |one| {
                key { account: AccountId = one.account, end_to_end_id: EndToEndId = one.end_to_end_id.clone() }
                account { Some(one.account) }
                version { version }
            }
            /// A payout. Only `recipient`, `returned`, `state`, `due_at` and `attempts` change.
            payouts: Payout(cais_domain::payout::Payout) |one| {
                key { account: AccountId = one.account, id: PayoutId = one.id }
                account { Some(one.account) }
                version { version }
            }
            /// A refund. Only `state`, `due_at` and `attempts` change.
            refunds: Refund(cais_domain::refund::Refund) |one| {
                key { account: AccountId = one.account, id: RefundId = one.id }
                account { Some(one.account) }
                version { version }
            }
            /// A callback from an acquirer. Only `state`, `attempts` and `due_at` change.
            callbacks: Callback($crate::callback::Callback) |one| {
                key { id: CallbackId = one.id }
                account { None }
                version { version }
            }
            /// A webhook endpoint. Only `url`, `subscription`, `description`, `state`, `epoch`, `secret` and `previous` change.
            endpoints: Endpoint(cais_domain::merchant::webhook::Endpoint) |one| {
                key { account: AccountId = one.account, id: EndpointId = one.id }
                account { Some(one.account) }
                version { version }
            }
            /// An infraction. Its id, account, charge, acquirer, upstream id, Pix, start and creation time never change.
            infractions: Infraction(cais_domain::infraction::Infraction) |one| {
                key { account: AccountId = one.account, id: InfractionId = one.id }
                account { Some(one.account) }
                version { version }
            }
            /// A position in an acquirer's list. Only `seen_until` changes.
            positions: Position($crate::position::PollPosition) |one| {
                key { acquirer: AcquirerName = one.acquirer.clone(), list: UpstreamList = one.list }
                account { None }
                version { version }
            }
            /// The drain of an acquirer. Only `since` changes.
            drains: Drain($crate::acquirer_drain::AcquirerDrain) |one| {
                key { acquirer: AcquirerName = one.acquirer.clone() }
                account { None }
                version { version }
            }
            /// A crypto quote. Only `used_by` changes.
            crypto_quotes: CryptoQuote(cais_domain::crypto::Quote) |one| {
                key { account: AccountId = one.account, id: CryptoQuoteId = one.id }
                account { Some(one.account) }
                version { version }
            }
            /// A crypto deposit. Its id, account, terms, processor and creation time never change.
            crypto_deposits: CryptoDeposit(cais_domain::crypto::Deposit) |one| {
                key { account: AccountId = one.account, id: CryptoDepositId = one.id }
                account { Some(one.account) }
                version { version }
            }
            /// A payment to the address of a deposit. Only `coins`, `gross`, `fee` and `state` change.
            crypto_payments: CryptoPayment(cais_domain::crypto::deposit::DepositPayment) |one| {
                key { account: AccountId = one.account, processor: AcquirerName = one.processor.clone(), id: ProcessorId = one.id.clone() }
                account { Some(one.account) }
                version { version }
            }
            /// A crypto withdrawal. Its id, account, terms, processor and creation time never change.
            crypto_withdrawals: CryptoWithdrawal(cais_domain::crypto::Withdrawal) |one| {
                key { account: AccountId = one.account, id: CryptoWithdrawalId = one.id }
                account { Some(one.account) }
                version { version }
            }
            /// A user of the dashboard. Its id, e-mail, role and creation time never change.
            users: User($crate::login::User) |one| {
                key { id: UserId = one.id }
                account { one.role.account() }
                version { version }
            }
            /// A session of the dashboard. Only `seen_at`, `wrong_codes`, `sent_without_code` and `ended_at` change.
            sessions: Session($crate::login::Session) |one| {
                key { id: SessionId = one.id }
                account { one.account }
                version { version }
            }
            /// An action that waits for a one-time code. Only `state` and `wrong_codes` change.
            confirmations: Confirmation($crate::login::Confirmation) |one| {
                key { id: ConfirmationId = one.id }
                account { one.account }
                version { version }
            }
            /// A row of the audit log, which never changes.
            audit: Audit($crate::audit::AuditRow) |one| {
                key { id: AuditId = one.id }
                account { one.account }
                version {}
            }
        }
    };
}

/// A record that changes. Only such a record can be updated.
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
            version { $($version:ident)? }
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
