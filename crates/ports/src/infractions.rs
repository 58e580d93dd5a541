//! Queries of infractions and their blocks.

use async_trait::async_trait;
use cais_domain::acquirer_name::AcquirerName;
use cais_domain::block::Block;
use cais_domain::end_to_end_id::EndToEndId;
use cais_domain::ids::{AccountId, InfractionId};
use cais_domain::infraction::{Infraction, InfractionStatus};
use jiff::Timestamp;

use crate::page::{Page, PageRequest};
use crate::queries::QueryError;
use crate::record::{RecordKey, RecordQueries};

/// A filter for a list of infractions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct InfractionFilter {
    /// The account. `None` stands for all accounts.
    pub account: Option<AccountId>,
    /// The status. `None` stands for every status.
    pub status: Option<InfractionStatus>,
}

/// Infractions.
#[async_trait]
pub trait InfractionQueries: RecordQueries {
    /// Returns an infraction of the account.
    async fn find_infraction(&self, account: AccountId, id: InfractionId) -> Result<Option<Infraction>, QueryError> {
        self.find_record(RecordKey::Infraction { account, id }).await?.map(TryInto::try_into).transpose()
    }
    /// Returns an infraction of any account, for operators.
    async fn find_infraction_of_any(&self, id: InfractionId) -> Result<Option<Infraction>, QueryError>;
    /// Lists infractions. The newest come first.
    async fn list_infractions(
        &self,
        filter: InfractionFilter,
        page: PageRequest<InfractionId>,
    ) -> Result<Page<Infraction>, QueryError>;
    /// Lists the infractions in review, of all accounts. The newest come first.
    async fn list_infractions_for_review(
        &self,
        page: PageRequest<InfractionId>,
    ) -> Result<Page<Infraction>, QueryError>;
    /// Lists all infractions on a Pix of the account, in any state. The oldest come first.
    async fn list_infractions_of_pix(
        &self,
        account: AccountId,
        end_to_end_id: &EndToEndId,
    ) -> Result<Vec<Infraction>, QueryError>;
    /// Lists the acquirer's unresolved infractions, of all accounts, in the order of `opened_at` and id. The list
    /// starts after the given `opened_at` and id, or at the oldest infraction.
    async fn list_open_infractions(
        &self,
        acquirer: &AcquirerName,
        after: Option<(Timestamp, InfractionId)>,
        limit: u32,
    ) -> Result<Vec<Infraction>, QueryError>;
    /// Lists infractions, of all accounts, whose next poll for the defense is due at `now`, according to [`crate::Due`]
    /// with [`cais_domain::pause::MAX_PAUSE`] as the longest pause. The longest overdue come first.
    async fn list_due_infractions(&self, now: Timestamp, limit: u32) -> Result<Vec<Infraction>, QueryError>;
    /// Lists open infractions without a defense, of all accounts. Their deadlines are after `from` and before `until`.
    /// The nearest deadline comes first.
    async fn list_undefended(
        &self,
        from: Timestamp,
        until: Timestamp,
        limit: u32,
    ) -> Result<Vec<Infraction>, QueryError>;
    /// Returns the block of an infraction. Returns `None` if the block has ended.
    async fn find_block(&self, account: AccountId, infraction: InfractionId) -> Result<Option<Block>, QueryError>;
}
