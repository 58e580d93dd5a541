//! Infractions, and what they hold.

use async_trait::async_trait;
use cais_domain::acquirer_name::AcquirerName;
use cais_domain::block::Block;
use cais_domain::end_to_end_id::EndToEndId;
use cais_domain::ids::{AccountId, InfractionId};
use cais_domain::infraction::{Infraction, InfractionStatus};
use jiff::Timestamp;

use crate::page::{Page, PageRequest};
use crate::queries::QueryError;

/// Which infractions are wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct InfractionFilter {
    /// Of one account; all where there is none.
    pub account: Option<AccountId>,
    /// In one status.
    pub status: Option<InfractionStatus>,
}

/// Infractions.
#[cfg_attr(feature = "mock", mockall::automock)]
#[async_trait]
pub trait InfractionQueries: Send + Sync {
    /// An infraction of the account.
    async fn find_infraction(&self, account: AccountId, id: InfractionId) -> Result<Option<Infraction>, QueryError>;
    /// An infraction of whatever account, for operators.
    async fn find_infraction_of_any(&self, id: InfractionId) -> Result<Option<Infraction>, QueryError>;
    /// Infractions, newest first.
    async fn list_infractions(
        &self,
        filter: InfractionFilter,
        page: PageRequest<InfractionId>,
    ) -> Result<Page<Infraction>, QueryError>;
    /// Returns the infractions of all accounts that an operator has to decide, newest first.
    async fn list_infractions_for_review(
        &self,
        page: PageRequest<InfractionId>,
    ) -> Result<Page<Infraction>, QueryError>;
    /// Every infraction on that Pix of the account, in whatever state, the oldest first.
    async fn list_infractions_of_pix(
        &self,
        account: AccountId,
        end_to_end_id: &EndToEndId,
    ) -> Result<Vec<Infraction>, QueryError>;
    /// Infractions of the acquirer, of all accounts, that are not settled, in the order of `opened_at` and id, after the given place.
    async fn list_open_infractions(
        &self,
        acquirer: &AcquirerName,
        after: Option<(Timestamp, InfractionId)>,
        limit: u32,
    ) -> Result<Vec<Infraction>, QueryError>;
    /// Infractions of all accounts that are due at `now` ([`crate::Due`] with [`cais_domain::pause::MAX_PAUSE`]), the longest overdue first.
    async fn list_due_infractions(&self, now: Timestamp, limit: u32) -> Result<Vec<Infraction>, QueryError>;
    /// Open infractions of all accounts without a defence, with a deadline after `from` and before `until`, the nearest first.
    async fn list_undefended(
        &self,
        from: Timestamp,
        until: Timestamp,
        limit: u32,
    ) -> Result<Vec<Infraction>, QueryError>;
    /// What an infraction holds; `None` once it ended.
    async fn find_block(&self, account: AccountId, infraction: InfractionId) -> Result<Option<Block>, QueryError>;
}
