//! The traits that adapters implement for the use cases, and [`ChangeSet`], which contains all changes of one commit.
//!
//! To add an adapter, implement the trait in a crate named after its technology, and construct it in the app's wiring.
//! With the feature `mock`, the crate `mockall` generates a `Mock…` for [`Acquirer`], [`Acquirers`],
//! [`CryptoProcessor`], [`ExchangeRates`] and [`WebhookSender`].

pub mod acquirer;
pub mod acquirer_drain;
pub mod acquirers;
pub mod alerts;
pub mod audit;
pub mod callback;
pub mod callback_item;
pub mod change_set;
pub mod clock;
pub mod crypto;
pub mod crypto_queries;
pub mod deliveries;
pub mod due;
pub mod events;
pub mod exchange_rates;
pub mod idempotency;
pub mod infractions;
pub mod keys;
pub mod login;
pub mod maintenance;
pub mod money_out;
pub mod page;
pub mod position;
pub mod queries;
pub mod rate_limit;
pub mod record;
pub mod representation;
pub mod secret;
pub mod secret_cipher;
pub mod statement;
pub mod store;
pub mod upstream_infraction;
mod usage;
pub mod webhooks;

pub use acquirer::{
    Acquirer, AcquirerError, ChargeOrder, ListRequest, PayoutOrder, ReceivedPix, RefundOrder, ReturnNature,
    ReturnedPart, UnreadableRow, UpstreamCharge, UpstreamPage, UpstreamPayment, UpstreamPayout, UpstreamProgress,
    UpstreamReturn, UpstreamStatus,
};
pub use acquirer_drain::{AcquirerDrain, DrainQueries, OpenOrders};
pub use acquirers::{Acquirers, IssueError};
pub use audit::{Actor, AuditFilter, AuditQueries, AuditRow};
pub use callback::{Callback, CallbackCounts, CallbackState};
pub use callback_item::{CallbackItem, CallbackPayout, CallbackPix, CallbackReturn, CallbackSignatures};
pub use change_set::{ChangeSet, NewEvent, Reservation, ReservationKey, Write, entry_to_come};
pub use clock::{Clock, IdGenerator};
pub use crypto::{
    CodeOutcome, CryptoCallback, CryptoDepositOrder, CryptoProcessor, CryptoWithdrawalOrder, UpstreamDeposit,
    UpstreamDepositStatus, UpstreamWithdrawal, UpstreamWithdrawalStatus,
};
pub use crypto_queries::{CryptoDepositQueries, CryptoQuoteQueries, CryptoWithdrawalQueries};
pub use deliveries::{
    AttemptOutcome, ClaimedDelivery, DeliveredEvent, DeliveryAttempt, DeliveryClaim, DeliveryKey, DeliveryQueue,
    DueQueues, EndpointQueue, FinishedAttempt, Health, NewDelivery,
};
pub use due::{CLOCK_DIFFERENCE, DELIVERY_LEASE, Due, REQUEST_LEASE};
pub use events::{
    Delivery, DeliveryQueries, EndpointActivity, EndpointQueries, EventFilter, EventPage, EventQueries, StoredEvent,
};
pub use exchange_rates::{ExchangeRates, UsdRate};
pub use idempotency::{
    Fingerprint, IdempotencyChange, IdempotencyRecord, IdempotencyRef, NewIdempotencyRecord, ResponseKind,
    StoredResponse,
};
pub use infractions::{InfractionFilter, InfractionQueries};
pub use keys::{ApiKeyRecord, KeyedHash, SecretHash};
pub use login::{
    Confirmation, ConfirmationState, Invitation, LoginQueries, OneTimeCodes, PasswordHash, PasswordHashError,
    Passwords, PendingAction, Role, Session, SessionStage, Totp, User,
};
pub use maintenance::{LedgerCheckResult, LedgerDifference, LedgerReport, Maintenance, PruneBefore, Pruned};
pub use money_out::{OpenMoney, PayoutQueries, RefundQueries, ReleaseQueries};
pub use page::{Page, PageRequest};
pub use position::{PollPosition, PositionQueries, UpstreamList};
pub use queries::{
    AccountQueries, BalanceQueries, Balances, CallbackQueries, ChargeQueries, IdempotencyQueries, KeyQueries, Queries,
    QueryError, ReservationQueries,
};
pub use rate_limit::{RateDecision, RateLimits};
pub use record::{AnyRecord, RecordKey, RecordQueries, Versioned};
pub use representation::{CsvDialect, ResourceRenderer};
pub use secret::Secret;
pub use secret_cipher::{DecryptError, EncryptError, SecretCipher, SigningSecret};
pub use statement::{
    EntryFilter, EntrySums, HourSum, ReconciliationQueries, Span, SplitCredit, StatementEntry, StatementQueries,
    TimelineQueries, Transaction, TransactionFilter, is_internal,
};
pub use store::{CommitError, Committed, Store};
pub use upstream_infraction::{
    CallbackInfraction, DefenseOrder, DefenseReceipt, UpstreamDefense, UpstreamInfraction, UpstreamInfractionStatus,
};
pub use usage::{KeyUse, LoggedRequest, MAX_LOGGED_REQUESTS, UsageQueries};
pub use webhooks::{AttemptError, Outgoing, Sent, UrlRefusal, WebhookSender};
