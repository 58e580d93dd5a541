//! Payouts, refunds and releases of the workload: every step that the domain allows, from the stored version or from
//! an older one.

use cais_domain::external_id::ExternalId;
use cais_domain::ids::{AccountId, RefundId};
use cais_domain::money::Money;
use cais_domain::payout::{Payout, PayoutStep, Recipient};
use cais_domain::refund::{NewRefund, Refund, RefundStep};
use cais_ports::{ChangeSet, PayoutQueries as _, RefundQueries as _, ReleaseQueries as _, Reservation, ReservationKey};

use super::Workload;
use crate::builders::{a_payout, a_recipient, an_end_to_end_id, main_acquirer, new_refund, steps};
use crate::contract::harness::after_s;

impl Workload {
    /// Returns the change set that creates a payout, with or without an idempotency record.
    pub(super) fn payout(&mut self) -> ChangeSet {
        let mut payout = a_payout(self.random.one_of(&self.accounts));
        payout.terms.external_id = Some(self.name());
        payout.terms.amount = Money::from_centavos(i64::try_from(1 + self.random.below(300)).unwrap());
        payout.terms.fee = Money::from_centavos(self.random.one_of(&[0, 1]));
        self.payouts.push((payout.account, payout.id));
        match self.random.below(3) {
            0 => steps::create_payout(&payout, self.random.one_of(&self.keys)),
            _ => steps::open_payout(&payout),
        }
    }

    /// Returns a random step of a random payout; `None` if the payout is not stored, or does not permit the step.
    pub(super) async fn payout_step(&mut self) -> Option<ChangeSet> {
        let known = (!self.payouts.is_empty()).then(|| self.random.one_of(&self.payouts));
        let (account, id) = known?;
        let mut payout: Payout = self.model.find_payout(account, id).await.unwrap()?;
        if self.random.below(8) == 0 {
            payout.version -= 1;
        }
        let at = after_s(8);
        let taken = payout.clone();
        let step = match self.random.below(12) {
            0 => taken.send(Some(an_end_to_end_id()), Recipient::default(), at),
            1 => taken.send_again(at),
            2..=4 => taken.complete(an_end_to_end_id(), a_recipient(), at),
            5 => taken.fail("the key has no owner".to_owned(), at),
            6 => return taken.abandon(at).is_ok().then(|| steps::abandon_payout(&payout, at)),
            7 => return taken.reopen(main_acquirer()).is_ok().then(|| steps::reopen_payout(&payout, at)),
            _ => return self.credit_return(&payout),
        };
        Some(steps::move_payout(step.ok()?, at))
    }

    /// Returns the change set that credits a returned part of the payout, possibly with a return id that was used before.
    fn credit_return(&mut self, payout: &Payout) -> Option<ChangeSet> {
        let at = after_s(9);
        let whole = payout.terms.amount.centavos();
        let centavos = self.random.one_of(&[whole, 1, 100]);
        let key = ReservationKey::ReturnId(self.random.one_of(&self.returns));
        let step = payout.clone().credit_return(Money::from_centavos(centavos), at).ok()?;
        let PayoutStep::Taken { .. } = &step else { return None };
        let reserve = vec![Reservation { key, account: payout.account, owner: payout.id.to_string() }];
        Some(ChangeSet { reserve, ..steps::move_payout(step, at) })
    }

    /// Returns the change set that creates a refund of a random charge; `None` if the charge is not stored, or cannot be
    /// refunded.
    pub(super) async fn refund(&mut self) -> Option<ChangeSet> {
        let charge = self.a_known_charge().await?;
        let centavos = self.random.one_of(&[None, Some(1), Some(250), Some(1_000)]);
        let requested = NewRefund { external_id: Some(self.name()), ..new_refund(centavos) };
        let opens = Refund::open(charge.clone(), requested.clone(), main_acquirer(), after_s(10));
        let RefundStep::Taken(_) = opens.ok()? else { return None };
        self.refunds.push((charge.account, requested.id));
        Some(steps::open_refund(&charge, &requested, after_s(10)))
    }

    /// Returns a random step of a random refund; `None` if the refund is not stored, or does not permit the step.
    pub(super) async fn refund_step(&mut self) -> Option<ChangeSet> {
        let known = (!self.refunds.is_empty()).then(|| self.random.one_of(&self.refunds));
        let (account, id): (AccountId, RefundId) = known?;
        let mut refund = self.model.find_refund(account, id).await.unwrap()?;
        let mut charge = self.model_charge(account, refund.charge).await?;
        match self.random.below(8) {
            0 => refund.version -= 1,
            1 => charge.version -= 1,
            _ => {}
        }
        let at = after_s(11);
        let return_id = Some(self.random.one_of(&self.returns));
        let step = match self.random.below(5) {
            0 => refund.send(return_id, at),
            1 => refund.send_again(at),
            2 => refund.complete(charge, return_id, at),
            3 => refund.fail(charge, "the payer's account is closed".to_owned(), at),
            _ => {
                return refund
                    .clone()
                    .abandon(charge.clone(), at)
                    .is_ok()
                    .then(|| steps::abandon_refund(&refund, &charge, at));
            }
        };
        Some(steps::move_refund(step.ok()?, at))
    }

    /// Returns the change set that makes a random release, perhaps again; `None` if no release was due so far.
    pub(super) async fn release(&mut self) -> Option<ChangeSet> {
        let due = self.model.list_due_releases(after_s(1_000), 50).await.unwrap();
        self.releases.extend(due);
        let known = (!self.releases.is_empty()).then(|| self.random.one_of(&self.releases));
        Some(steps::make_release(&known?, after_s(1_000)))
    }

    /// Returns an external id, often one that was used before.
    pub(super) fn name(&mut self) -> ExternalId {
        ExternalId::parse(&format!("order {}", self.random.below(40))).unwrap()
    }
}
