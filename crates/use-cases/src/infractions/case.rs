//! Everything that bears on a disputed Pix, as it was read for one decision.

use cais_domain::charge::Charge;
use cais_domain::end_to_end_id::EndToEndId;
use cais_domain::ids::{AccountId, ChargeId, InfractionId};
use cais_domain::infraction::{Disputed, Infraction};
use cais_domain::payment::CreditedPayment;

use crate::ports::Ports;
use crate::trouble::Trouble;

/// A disputed Pix. Its charge is read first: as long as that stays as it was, so does all that limits blocks and returns.
pub(super) struct Case {
    charge: Charge,
    payment: CreditedPayment,
    infractions: Vec<Infraction>,
}

impl Case {
    /// Reads what bears on a Pix that was credited.
    pub(super) async fn read(
        ports: &Ports,
        account: AccountId,
        charge: ChargeId,
        end_to_end_id: &EndToEndId,
    ) -> Result<Self, Trouble> {
        let found = ports.queries.find_charge(account, charge).await?;
        let charge = found.ok_or_else(|| Trouble::Internal(format!("{charge}, of {end_to_end_id}, is not there")))?;
        let infractions = ports.queries.list_infractions_of_pix(account, end_to_end_id).await?;
        let found = ports.queries.find_payment(account, end_to_end_id).await?;
        let payment = found.ok_or_else(|| Trouble::Internal(format!("the payment {end_to_end_id} is not there")))?;
        Ok(Self { charge, payment, infractions })
    }

    /// The same for an infraction on it.
    pub(super) async fn of(ports: &Ports, infraction: &Infraction) -> Result<Self, Trouble> {
        Self::read(ports, infraction.account, infraction.charge, &infraction.end_to_end_id).await
    }

    /// As the rules want it.
    pub(super) fn disputed(&self) -> Disputed<'_> {
        Disputed { payment: &self.payment, charge: &self.charge, infractions: &self.infractions }
    }

    /// Every infraction on it, as they were read.
    pub(super) fn infractions(&self) -> &[Infraction] {
        &self.infractions
    }

    /// The Pix.
    pub(super) const fn payment(&self) -> &CreditedPayment {
        &self.payment
    }

    /// An infraction on it, as it was read.
    pub(super) fn infraction(&self, id: InfractionId) -> Result<Infraction, Trouble> {
        let found = self.infractions.iter().find(|infraction| infraction.id == id);
        found.cloned().ok_or_else(|| Trouble::Internal(format!("{id} is not among those on its Pix")))
    }
}
