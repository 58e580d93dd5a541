//! Creates a charge. Commit 1 stores the idempotency key and the charge, the acquirer issues the charge, and commit 2
//! stores the result. A creation that crashed between the commits is resumed.

use cais_domain::charge::{Charge, ChargeTerms, Origin, Step};
use cais_domain::external_id::ExternalId;
use cais_domain::fee::Operation;
use cais_domain::ids::ChargeId;
use cais_domain::merchant::account::{Account, Feature};
use cais_domain::money::Money;
use cais_domain::text::Text;
use cais_ports::{ChangeSet, Reservation, ReservationKey, Write};

pub use super::split::RequestedShare;
use super::split::resolve;
use crate::ports::Ports;
use crate::response::Response;
use crate::store_error::StoreError;
use crate::upstream_order::{self, CreateError, CreateRequest, CreateTerms, Opened, Precedence, Refusal};
use crate::webhooks::postback;

/// The longest description, in characters.
pub const MAX_DESCRIPTION: usize = 140;
/// The longest name of a payer, in characters.
pub const MAX_PAYER_NAME: usize = 200;
/// The longest document of a payer, in characters.
pub const MAX_PAYER_DOCUMENT: usize = 20;

/// The validated terms of a merchant's request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewCharge {
    /// The amount to pay.
    pub amount: Money,
    /// The text that the payer sees.
    pub description: Option<Text>,
    /// The payer's name as the merchant wrote it.
    pub payer_name: Option<Text>,
    /// The payer's document as the merchant wrote it.
    pub payer_document: Option<Text>,
    /// Seconds until the charge expires.
    pub expires_in_s: u32,
    /// The merchant's own id of the charge.
    pub external_id: Option<ExternalId>,
    /// The address of one of the account's endpoints. The events of the charge are sent to this endpoint, and to the
    /// subscribed endpoints.
    pub postback_url: Option<String>,
    /// The requested shares. If empty, the charge has no split.
    pub split: Vec<RequestedShare>,
    /// The origin of the request.
    pub origin: Origin,
}

/// A request to create a charge.
pub type CreateCharge = CreateRequest<NewCharge>;

/// The reason why a charge is refused, if the reason is special to charges. [`CreateError`] has the reasons that all
/// operations share.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ChargeRefusal {
    /// The account has no split feature.
    #[error("the account has no split feature")]
    SplitDisabled,
    /// No active endpoint of the account has the address.
    #[error("the postback_url is not a registered, active webhook endpoint of the account")]
    PostbackUrlNotRegistered,
    /// The amount is above the account's limit.
    #[error("the amount is above the account's limit of {limit}")]
    TransactionLimit {
        /// The account's largest amount of one charge.
        limit: Money,
    },
    /// A recipient of the split does not exist, is suspended, has no approved KYC, or is the creator of the charge.
    #[error("the recipient of share {index} is not eligible")]
    SplitRecipientNotEligible {
        /// The position of the share, from 0.
        index: usize,
    },
}

impl Refusal for ChargeRefusal {
    fn precedence(&self) -> Precedence {
        match self {
            Self::SplitDisabled => Precedence::First,
            Self::PostbackUrlNotRegistered | Self::TransactionLimit { .. } | Self::SplitRecipientNotEligible { .. } => {
                Precedence::BeforeConflict
            }
        }
    }
}

impl From<ChargeRefusal> for CreateError<ChargeRefusal> {
    fn from(refusal: ChargeRefusal) -> Self {
        Self::Refused(refusal)
    }
}

/// The reason why no charge was created.
pub type CreateChargeError = CreateError<ChargeRefusal>;

/// Creates a charge, replays the stored response, or resumes an unfinished creation.
///
/// # Errors
/// [`CreateChargeError`]. The checks, in this order: whether the idempotency key was used before, the account's
/// permissions, the terms, whether the external id is in use, and whether an acquirer is available.
pub async fn create(ports: &Ports, command: CreateCharge) -> Result<Response, CreateChargeError> {
    upstream_order::create(ports, &command).await
}

impl CreateTerms for NewCharge {
    type Resource = Charge;
    type Refusal = ChargeRefusal;

    fn external_id(&self) -> Option<&ExternalId> {
        self.external_id.as_ref()
    }

    /// Opens the charge after these checks, in this order: the account's permissions, the postback address, the limit,
    /// the recipients of the split, and the acquirer.
    async fn open(&self, ports: &Ports, account: &Account) -> Result<Opened<Charge>, CreateChargeError> {
        account.permit(Feature::PixIn)?;
        if !self.split.is_empty() && !account.features.contains(Feature::Split) {
            return Err(ChargeRefusal::SplitDisabled.into());
        }
        let postback = match &self.postback_url {
            Some(url) => {
                let postback = postback::resolve(ports, account.id, url).await?;
                Some(postback.ok_or(ChargeRefusal::PostbackUrlNotRegistered)?)
            }
            None => None,
        };
        let limit = account.limits.charge;
        if self.amount > limit {
            return Err(ChargeRefusal::TransactionLimit { limit }.into());
        }
        let split = resolve(ports, account, &self.split).await?;
        let split = split.map_err(|index| ChargeRefusal::SplitRecipientNotEligible { index })?;
        let acquirer = ports.acquirers.first(&account.acquirers).ok_or(CreateError::AcquirerUnavailable)?;
        let fee = account.fees.get(Operation::PixIn).fee(self.amount);
        let terms = ChargeTerms {
            amount: self.amount,
            fee: fee.map_err(|error| StoreError::Internal(error.to_string()))?,
            description: self.description.clone(),
            payer_name: self.payer_name.clone(),
            payer_document: self.payer_document.clone(),
            expires_in_s: self.expires_in_s,
            external_id: self.external_id.clone(),
            postback,
            split,
            origin: self.origin,
        };
        let id = ChargeId::new(ports.ids.next_uuid());
        let charge = Charge::open(id, account.id, terms, acquirer, ports.clock.now());
        let mut change = ChangeSet::new(charge.created_at);
        let key = ReservationKey::Txid(charge.txid.clone());
        change.reserve.push(Reservation { key, account: charge.account, owner: id.to_string() });
        change.writes.push(Write::insert(charge.clone()));
        Ok(Opened { resource: charge, change })
    }

    async fn reopen(
        &self,
        ports: &Ports,
        account: &Account,
        abandoned: Charge,
    ) -> Result<Option<Opened<Charge>>, CreateChargeError> {
        let acquirer = ports.acquirers.first(&account.acquirers).ok_or(CreateError::AcquirerUnavailable)?;
        let resource = match abandoned.assign_acquirer(acquirer).map_err(StoreError::from)? {
            Step::Taken { charge, .. } | Step::AlreadyTaken(charge) => charge,
        };
        let mut change = ChangeSet::new(ports.clock.now());
        change.writes.push(Write::update(resource.clone()));
        Ok(Some(Opened { resource, change }))
    }

    async fn compare(&self, _: &Ports, owner: &Charge) -> Result<Vec<(&'static str, bool)>, CreateChargeError> {
        Ok(vec![("amount", owner.terms.amount == self.amount)])
    }
}
