//! Infractions and endpoints of the workload: reports of acquirers in any order, and concurrent changes by merchants.

use cais_domain::event::EventType;
use cais_domain::infraction::{DisputeReport, Disputed, Infraction};
use cais_domain::merchant::webhook::{EndpointChange, Subscription};
use cais_domain::money::Money;
use cais_ports::{ChangeSet, InfractionQueries as _};

use super::Workload;
use crate::builders::{a_defense, dispute_report, steps, subscribed};
use crate::contract::harness::after_s;

impl Workload {
    /// Returns a dispute of a credited Pix, possibly with an upstream id that was reported before; `None` if no Pix was credited.
    pub(super) async fn dispute(&mut self) -> Option<ChangeSet> {
        let payments = self.model.payments();
        let payment = (!payments.is_empty()).then(|| self.random.one_of(&payments))?;
        let mut charge = self.model_charge(payment.account, payment.charge).await?;
        if self.random.below(8) == 0 {
            charge.version -= 1;
        }
        let pix = &payment.payment.end_to_end_id;
        let infractions = self.model.list_infractions_of_pix(payment.account, pix).await.unwrap();
        let upstream_id = format!("{}-{}", payment.account, self.random.below(40));
        let report = DisputeReport { upstream_id, ..dispute_report(self.random.one_of(&[1, 300, 900, 5_000])) };
        let disputed = Disputed { payment: &payment, charge: &charge, infractions: &infractions };
        Some(steps::open_infraction(&report, disputed, after_s(12)))
    }

    /// Returns a random step of a stored infraction; `None` if none is stored, or if the step is not permitted.
    pub(super) async fn dispute_step(&mut self) -> Option<ChangeSet> {
        let known = self.model.infractions();
        let mut infraction = (!known.is_empty()).then(|| self.random.one_of(&known))?;
        let payments = self.model.payments();
        let payment = payments.iter().find(|paid| paid.payment.end_to_end_id == infraction.end_to_end_id)?;
        let charge = self.model_charge(infraction.account, infraction.charge).await?;
        let pix = &infraction.end_to_end_id;
        let infractions = self.model.list_infractions_of_pix(infraction.account, pix).await.unwrap();
        let block = self.model.find_block(infraction.account, infraction.id).await.unwrap();
        let mut held = block.map(|block| block.held).unwrap_or_default();
        match self.random.below(10) {
            0 => infraction.version -= 1,
            1 => held = Money::from_centavos(held.centavos() + 1),
            _ => {}
        }
        let disputed = Disputed { payment, charge: &charge, infractions: &infractions };
        let (at, text) = (after_s(13), a_defense().text.unwrap());
        let step = match self.random.below(8) {
            0 => infraction.win(disputed, held, at),
            1 | 2 => infraction.lose(disputed, held, at),
            3 => infraction.cancel(disputed, held, at),
            4 | 5 => {
                let amount = Money::from_centavos(self.random.one_of(&[1, 450, 4_000]));
                let reported = with_amount(&infraction, amount);
                infraction.amend(&reported, disputed)
            }
            6 => infraction.defend(text, None, at),
            _ => infraction.review(None, at),
        };
        Some(steps::move_infraction(step.ok()?, at))
    }

    /// Returns the change set that enables or disables an endpoint, or changes its subscription.
    pub(super) fn endpoint_step(&mut self) -> ChangeSet {
        let endpoints = self.model.endpoints();
        let mut endpoint = self.random.one_of(&endpoints);
        if self.random.below(6) == 0 {
            endpoint.version -= 1;
        }
        let changes = [
            EndpointChange { active: Some(false), ..EndpointChange::default() },
            EndpointChange { active: Some(true), ..EndpointChange::default() },
            EndpointChange { subscription: Some(Subscription::All), ..EndpointChange::default() },
            EndpointChange { subscription: Some(subscribed(&[EventType::PayoutFailed])), ..EndpointChange::default() },
        ];
        let change = self.random.one_of(&changes);
        steps::move_endpoint(endpoint.change(change).unwrap(), after_s(14))
    }
}

/// Returns the acquirer's report of a stored infraction, with another amount.
fn with_amount(infraction: &Infraction, amount: Money) -> DisputeReport {
    DisputeReport { upstream_id: infraction.upstream_id.clone(), amount, ..dispute_report(1) }
}
