//! The traits that the use cases need from the world, and the one value in which they hand over what must become true.
//!
//! To add an adapter: implement the trait in a crate named after its technology and construct it in the app's wiring.
//! With the feature `mock`, each trait has a `Mock…` made by mockall.

pub mod acquirer;
pub mod change_set;
pub mod claim;
pub mod clock;
pub mod keys;
pub mod maintenance;
pub mod money_out;
pub mod notice;
pub mod page;
pub mod queries;
pub mod rate_limit;
pub mod representation;
pub mod statement;
pub mod store;

pub use acquirer::{
    Acquirer, AcquirerError, Acquirers, ChargeOrder, IssueError, ListRequest, Noticed, NoticedPayout, NoticedPix,
    PayoutOrder, ReceivedPix, RefundOrder, ReturnedPart, UpstreamCharge, UpstreamPage, UpstreamPayment, UpstreamPayout,
    UpstreamProgress, UpstreamReturn, UpstreamStatus,
};
pub use change_set::{ChangeSet, NewEvent, Reservation, ReservationKey, Write};
pub use claim::{Claim, ClaimChange, ClaimRef, Fingerprint, NewClaim, StoredAnswer};
pub use clock::{Clock, Ids};
pub use keys::{ApiKeyRecord, Mac, SecretMac};
pub use maintenance::{LedgerDifference, LedgerReport, Maintenance, Pruned};
pub use money_out::{PayoutQueries, RefundQueries, ReleaseQueries};
pub use notice::{Notice, NoticeState};
pub use page::{Page, PageRequest};
pub use queries::{
    AccountQueries, BalanceQueries, Balances, ChargeQueries, ClaimQueries, KeyQueries, NoticeQueries, Queries,
    QueryError, ReservationQueries,
};
pub use rate_limit::{RateDecision, RateLimits};
pub use representation::Representation;
pub use statement::{
    EntryFilter, ReconciliationQueries, Span, SplitCredit, StatementEntry, StatementQueries, TimelineQueries,
    Transaction, TransactionFilter,
};
pub use store::{CommitError, Committed, Store};
