//! Money at the simulated acquirer: payments, outcomes of payouts and refunds, and returns.

use cais_domain::charge::Charge;
use cais_domain::end_to_end_id::{EndToEndId, ReturnId};
use cais_domain::instruction_id::InstructionId;
use cais_domain::money::Money;
use cais_domain::txid::Txid;
use cais_ports::{
    ChargeOrder, Clock as _, ReceivedPix, ReturnNature, ReturnedPart, UnreadableRow, UpstreamCharge, UpstreamPayment,
    UpstreamPayout, UpstreamProgress, UpstreamReturn, UpstreamStatus,
};

use super::{FakePsp, Order, State};
use crate::builders::{a_return_id, an_end_to_end_id, issued};

/// Returns the centavos of a payment without those that were returned or are being returned.
pub(super) fn left(payment: &UpstreamPayment) -> i64 {
    let moves = |back: &&UpstreamReturn| !matches!(back.progress, UpstreamProgress::Failed { .. });
    let gone: i64 = payment.returns.iter().filter(moves).map(|back| back.amount.centavos()).sum();
    payment.amount.centavos() - gone
}

impl State {
    pub(super) fn payments(&mut self) -> impl Iterator<Item = &mut UpstreamPayment> {
        self.charges.values_mut().flat_map(|charge| charge.payments.iter_mut())
    }
}

#[expect(clippy::missing_panics_doc, clippy::unwrap_used, reason = "a test that names a missing record fails here")]
#[expect(clippy::must_use_candidate, reason = "a test may ignore the name of the added record")]
impl FakePsp {
    /// Stores the charge as if this acquirer had issued it.
    pub fn store_charge(&self, charge: &Charge) {
        let upstream = UpstreamCharge {
            txid: charge.txid.clone(),
            amount: charge.terms.amount,
            status: UpstreamStatus::Active,
            copy_paste: Some(issued(charge).copy_paste),
            expires_at: issued(charge).expires_at,
            payments: Vec::new(),
            answered_at: None,
        };
        self.state().charges.insert(charge.txid.clone(), upstream);
    }

    /// Issues the charge, without counting the order as a request.
    pub fn issue_uncounted(&self, order: &ChargeOrder) {
        let now = self.clock.now();
        let _ = self.state().execute(&Order::Charge(order.clone()), now, UpstreamProgress::Processing);
    }

    /// Returns every charge.
    pub fn charges(&self) -> Vec<UpstreamCharge> {
        self.state().charges.values().cloned().collect()
    }

    /// Changes a charge.
    pub fn change_charge(&self, txid: &Txid, change: impl FnOnce(&mut UpstreamCharge)) {
        change(self.state().charges.get_mut(txid).unwrap());
    }

    /// Sets the status of a charge.
    pub fn set_status(&self, txid: &Txid, status: UpstreamStatus) {
        self.change_charge(txid, |charge| charge.status = status);
    }

    /// Pays this many centavos to the charge. Returns the end-to-end id of the Pix.
    pub fn pay(&self, txid: &Txid, centavos: i64) -> EndToEndId {
        let end_to_end_id = an_end_to_end_id();
        self.pay_as(txid, centavos, end_to_end_id.clone());
        end_to_end_id
    }

    /// Pays this many centavos to the charge, with a Pix of that end-to-end id.
    pub fn pay_as(&self, txid: &Txid, centavos: i64, end_to_end_id: EndToEndId) {
        let payment = self.payment(end_to_end_id, centavos);
        let mut state = self.state();
        let charge = state.charges.get_mut(txid).unwrap();
        if payment.amount >= charge.amount {
            charge.status = UpstreamStatus::Completed;
        }
        charge.payments.push(payment);
    }

    /// Adds a received Pix that pays no charge of this acquirer, although it may have a txid. Returns its end-to-end id.
    pub fn receive(&self, txid: Option<Txid>, centavos: i64) -> EndToEndId {
        let end_to_end_id = an_end_to_end_id();
        let payment = self.payment(end_to_end_id.clone(), centavos);
        self.state().others.push(ReceivedPix { txid, payment });
        end_to_end_id
    }

    fn payment(&self, end_to_end_id: EndToEndId, centavos: i64) -> UpstreamPayment {
        let amount = Money::from_centavos(centavos);
        UpstreamPayment { end_to_end_id, amount, paid_at: self.clock.now(), returns: Vec::new() }
    }

    /// Changes a payment of a charge.
    pub fn change_payment(&self, end_to_end_id: &EndToEndId, change: impl FnOnce(&mut UpstreamPayment)) {
        change(self.state().payments().find(|payment| payment.end_to_end_id == *end_to_end_id).unwrap());
    }

    /// Adds to a Pix a return that no order requested, with this amount in centavos and this progress.
    pub fn add_unrequested_return(&self, end_to_end_id: &EndToEndId, centavos: i64, progress: UpstreamProgress) {
        let (name, return_id) = ("theirs".to_owned(), Some(a_return_id()));
        let (nature, amount) = (ReturnNature::Ordinary, Money::from_centavos(centavos));
        let back = UpstreamReturn { name, return_id, nature, amount, progress };
        self.change_payment(end_to_end_id, |payment| payment.returns.push(back));
    }

    /// Sets the progress of every return of every received Pix.
    pub fn set_returns_progress(&self, progress: &UpstreamProgress) {
        for back in self.state().payments().flat_map(|payment| payment.returns.iter_mut()) {
            back.progress = progress.clone();
        }
    }

    /// Ends every open return and payout with that progress.
    pub fn settle_open(&self, progress: &UpstreamProgress) {
        let mut state = self.state();
        for back in state.payments().flat_map(|payment| payment.returns.iter_mut()) {
            if back.progress == UpstreamProgress::Processing {
                back.progress = progress.clone();
            }
        }
        for (_, payout) in state.sent.values_mut() {
            if payout.progress == UpstreamProgress::Processing {
                payout.progress = progress.clone();
            }
        }
    }

    /// Removes the record of every return of every received Pix.
    pub fn remove_returns(&self) {
        for payment in self.state().payments() {
            payment.returns.clear();
        }
    }

    /// Returns the sum of the returns that arrived or may arrive, in centavos.
    pub fn returned(&self) -> i64 {
        self.state().payments().map(|payment| payment.amount.centavos() - left(payment)).sum()
    }

    /// Returns every payout, including failed ones.
    pub fn payouts(&self) -> Vec<UpstreamPayout> {
        self.state().sent.values().map(|(_, payout)| payout.clone()).collect()
    }

    /// Counts the payouts that arrived or may arrive.
    pub fn sent(&self) -> usize {
        let failed = |payout: &UpstreamPayout| matches!(payout.progress, UpstreamProgress::Failed { .. });
        self.payouts().iter().filter(|payout| !failed(payout)).count()
    }

    /// Stores a payout that was sent now, or replaces its record. A replacement does not change the instant of its sending.
    pub fn store_payout(&self, payout: UpstreamPayout) {
        let now = self.clock.now();
        let mut state = self.state();
        let sent_at = state.sent.get(&payout.instruction_id).map_or(now, |(sent_at, _)| *sent_at);
        state.sent.insert(payout.instruction_id.clone(), (sent_at, payout));
    }

    /// Changes the record of that payout.
    pub fn change_payout(&self, instruction_id: &InstructionId, change: impl FnOnce(&mut UpstreamPayout)) {
        change(&mut self.state().sent.get_mut(instruction_id).unwrap().1);
    }

    /// Changes the record of the only payout.
    pub fn change_only_payout(&self, change: impl FnOnce(&mut UpstreamPayout)) {
        let mut state = self.state();
        assert_eq!(state.sent.len(), 1);
        change(&mut state.sent.values_mut().next().unwrap().1);
    }

    /// Completes the only payout.
    pub fn complete(&self) {
        let at = Some(self.clock.now());
        self.change_only_payout(|payout| payout.progress = UpstreamProgress::Done { at });
    }

    /// Fails the only payout.
    pub fn fail(&self) {
        let reason = Some("closed\u{0} account".to_owned());
        self.change_only_payout(|payout| payout.progress = UpstreamProgress::Failed { reason });
    }

    /// Adds a return of the only payout, with this amount in centavos. Returns the return's id.
    pub fn return_payout(&self, centavos: i64) -> ReturnId {
        let return_id = a_return_id();
        let part =
            ReturnedPart { return_id: return_id.clone(), amount: Money::from_centavos(centavos), at: self.clock.now() };
        self.change_only_payout(|payout| payout.returned.push(part));
        return_id
    }

    /// Removes and returns the returned parts of the only payout.
    pub fn take_payout_returns(&self) -> Vec<ReturnedPart> {
        let mut parts = Vec::new();
        self.change_only_payout(|payout| parts = std::mem::take(&mut payout.returned));
        parts
    }

    /// Adds returns of payouts that only [`List::PayoutReturns`](super::List::PayoutReturns) and a look-up by return id show.
    /// Also has the effects of [`Self::hide_details`].
    pub fn show_returns_separately(&self, parts: Vec<ReturnedPart>) {
        let mut state = self.state();
        state.lone_returns.extend(parts);
        state.hides_details = true;
    }

    /// Adds an unreadable row to the list of received Pix.
    pub fn list_unreadable(&self, name: &str) {
        let row = UnreadableRow { name: name.to_owned(), reason: "valor is not an amount".to_owned() };
        let now = self.clock.now();
        self.state().unreadable.push((now, row));
    }

    /// Hides a received Pix from the list, although its charge shows it.
    pub fn hide_from_list(&self, end_to_end_id: EndToEndId) {
        self.state().unlisted.push(end_to_end_id);
    }

    /// Hides every received Pix from look-ups by end-to-end id, or shows them again.
    pub fn hide_received(&self, hides: bool) {
        self.state().shows_received = !hides;
    }
}
