//! Infractions at the simulated acquirer.

use cais_domain::end_to_end_id::EndToEndId;
use cais_domain::infraction::Situation;
use cais_domain::money::Money;
use cais_ports::{
    Clock as _, ReturnNature, UpstreamDefense, UpstreamInfraction, UpstreamInfractionStatus, UpstreamProgress,
    UpstreamReturn,
};
use jiff::ToSpan as _;

use super::FakePsp;
use super::money::left;
use crate::builders::a_return_id;

#[expect(clippy::missing_panics_doc, clippy::unwrap_used, reason = "a test that names a missing record fails here")]
#[expect(clippy::must_use_candidate, reason = "a test may ignore the name of the added record")]
impl FakePsp {
    /// Opens an infraction for this many centavos of a Pix, with one week for a defense. Returns the infraction's id.
    pub fn dispute(&self, end_to_end_id: &EndToEndId, centavos: i64) -> String {
        let now = self.clock.now();
        let mut state = self.state();
        let id = format!("inf-{}-{}", self.name, state.infractions.len());
        state.infractions.push(UpstreamInfraction {
            id: id.clone(),
            end_to_end_id: end_to_end_id.clone(),
            amount: Money::from_centavos(centavos),
            status: UpstreamInfractionStatus::Open,
            reason: Some("Não reconheço".to_owned()),
            situation: Situation::Scam,
            opened_at: now,
            opened_at_is_reported: true,
            deadline_at: Some(now + 168.hours()),
            defense: None,
            resolved_at: None,
        });
        id
    }

    /// Returns every infraction as the acquirer stores it, with the facts that its lists may hide.
    pub fn infractions(&self) -> Vec<UpstreamInfraction> {
        self.state().infractions.clone()
    }

    /// Changes an infraction.
    pub fn change(&self, id: &str, change: impl FnOnce(&mut UpstreamInfraction)) {
        change(self.state().infractions.iter_mut().find(|row| row.id == id).unwrap());
    }

    /// Resolves an infraction; no money moves.
    pub fn settle(&self, id: &str, status: UpstreamInfractionStatus) {
        let now = self.clock.now();
        self.change(id, |row| {
            row.status = status;
            row.resolved_at = Some(now);
        });
    }

    /// Reopens an infraction, without its defense.
    pub fn reopen(&self, id: &str) {
        self.change(id, |row| {
            row.status = UpstreamInfractionStatus::Open;
            row.resolved_at = None;
            row.defense = None;
        });
    }

    /// Reopens an infraction as if it was opened now: `opened_at` changes, and one week is left for a defense.
    pub fn reopen_now(&self, id: &str) {
        let now = self.clock.now();
        self.reopen(id);
        self.change(id, |row| {
            row.opened_at = now;
            row.deadline_at = Some(now + 168.hours());
        });
    }

    /// Stores a defense that the service did not send.
    pub fn receive_defense(&self, id: &str, text: &str) {
        let now = self.clock.now();
        self.change(id, |row| {
            row.status = UpstreamInfractionStatus::Defended;
            row.defense = Some(UpstreamDefense { text: Some(text.to_owned()), received_at: Some(now) });
        });
    }

    /// Accepts a dispute. The payer gets the disputed amount back, or the part of it that was not returned before.
    pub fn accept(&self, id: &str) {
        self.settle(id, UpstreamInfractionStatus::Accepted);
        let mut state = self.state();
        let row = state.infractions.iter().find(|row| row.id == id).unwrap().clone();
        let payment = state.payments().find(|payment| payment.end_to_end_id == row.end_to_end_id).unwrap();
        let amount = row.amount.centavos().min(left(payment));
        drop(state);
        if amount > 0 {
            self.complete_infraction_return(&row.end_to_end_id, amount);
        }
    }

    /// Adds a completed return of a Pix because of an infraction, with this amount in centavos.
    pub fn complete_infraction_return(&self, end_to_end_id: &EndToEndId, centavos: i64) {
        self.add_infraction_return(end_to_end_id, centavos, UpstreamProgress::Done { at: Some(self.clock.now()) });
    }

    /// Adds a return of a Pix because of an infraction, with this amount in centavos and this progress.
    pub fn add_infraction_return(&self, end_to_end_id: &EndToEndId, centavos: i64, progress: UpstreamProgress) {
        let (name, return_id) = ("med".to_owned(), Some(a_return_id()));
        let (nature, amount) = (ReturnNature::Infraction, Money::from_centavos(centavos));
        let back = UpstreamReturn { name, return_id, nature, amount, progress };
        self.change_payment(end_to_end_id, |payment| payment.returns.push(back));
    }

    /// Returns the sum of a Pix's returns because of infractions, in centavos. The progress of the returns does not matter.
    pub fn lost(&self, end_to_end_id: &EndToEndId) -> i64 {
        let mut state = self.state();
        let payments = state.payments().filter(|payment| payment.end_to_end_id == *end_to_end_id);
        let returns = payments.flat_map(|payment| payment.returns.iter());
        returns.filter(|back| back.nature == ReturnNature::Infraction).map(|back| back.amount.centavos()).sum()
    }

    /// Makes `reports_infractions` return `false`.
    pub fn disable_infraction_reports(&self) {
        self.state().reports_infractions = false;
    }

    /// Hides the text of defenses, but not their presence.
    pub fn hide_defense_texts(&self) {
        self.state().shows_defense_texts = false;
    }

    /// Hides whether undecided infractions have a defense, and makes `lists_returns` return `false`.
    pub fn hide_details(&self) {
        self.state().hides_details = true;
    }

    /// Hides defenses in lists of infractions, or shows them.
    pub fn hide_defenses(&self, hides: bool) {
        self.state().shows_defenses = !hides;
    }
}
