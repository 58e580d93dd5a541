//! The records that a decision about a disputed Pix depends on.

use cais_domain::charge::Charge;
use cais_domain::end_to_end_id::EndToEndId;
use cais_domain::ids::{AccountId, ChargeId, InfractionId};
use cais_domain::infraction::{Disputed, Infraction};
use cais_domain::payment::CreditedPayment;

use crate::ports::Ports;
use crate::store_error::StoreError;

/// The records of a disputed Pix. The charge is read first. Each change of a refund or of an infraction's limit also
/// changes the charge's version. So a commit that writes the charge fails if the other records are outdated.
pub(super) struct DisputeContext {
    charge: Charge,
    payment: CreditedPayment,
    infractions: Vec<Infraction>,
}

impl DisputeContext {
    /// Reads the records of a credited Pix.
    pub(super) async fn read(
        ports: &Ports,
        account: AccountId,
        charge: ChargeId,
        end_to_end_id: &EndToEndId,
    ) -> Result<Self, StoreError> {
        let found = ports.queries.find_charge(account, charge).await?;
        let charge = found.ok_or_else(|| StoreError::Internal(format!("{charge}, of {end_to_end_id}, is missing")))?;
        let infractions = ports.queries.list_infractions_of_pix(account, end_to_end_id).await?;
        let found = ports.queries.find_payment(account, end_to_end_id).await?;
        let payment = found.ok_or_else(|| StoreError::Internal(format!("the payment {end_to_end_id} is missing")))?;
        Ok(Self { charge, payment, infractions })
    }

    /// Reads the records of the Pix that the infraction disputes.
    pub(super) async fn of(ports: &Ports, infraction: &Infraction) -> Result<Self, StoreError> {
        Self::read(ports, infraction.account, infraction.charge, &infraction.end_to_end_id).await
    }

    /// Returns the records in the form that the domain rules require.
    pub(super) fn disputed(&self) -> Disputed<'_> {
        Disputed { payment: &self.payment, charge: &self.charge, infractions: &self.infractions }
    }

    /// Returns every infraction on the Pix, as it was read.
    pub(super) fn infractions(&self) -> &[Infraction] {
        &self.infractions
    }

    /// Returns the Pix.
    pub(super) const fn payment(&self) -> &CreditedPayment {
        &self.payment
    }

    /// Returns one infraction on the Pix, as it was read.
    pub(super) fn infraction(&self, id: InfractionId) -> Result<Infraction, StoreError> {
        let found = self.infractions.iter().find(|infraction| infraction.id == id);
        found.cloned().ok_or_else(|| StoreError::Internal(format!("{id} is not among the infractions of its Pix")))
    }
}
