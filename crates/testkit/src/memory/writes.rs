//! Stores judged records. Only the fields that the ports declare changeable do change.

use cais_domain::account::Account;
use cais_domain::charge::Charge;
use cais_domain::infraction::Infraction;
use cais_domain::payout::Payout;
use cais_domain::refund::Refund;
use cais_domain::release::Release;
use cais_ports::{ApiKeyRecord, Callback, PollPosition, Write};

use super::state::State;

impl State {
    pub(super) fn apply_write(&mut self, write: Write) {
        match write {
            Write::InsertAccount(account) => {
                self.accounts.insert(account.id, Account { version: 1, ..*account });
            }
            Write::UpdateAccount(account) => {
                if let Some(stored) = self.accounts.get_mut(&account.id) {
                    let (email, created_at) = (stored.email.clone(), stored.created_at);
                    let version = stored.version.saturating_add(1);
                    *stored = Account { email, created_at, version, ..*account };
                }
            }
            Write::InsertKey(key) => {
                self.keys.insert(key.id, ApiKeyRecord { version: 1, ..*key });
            }
            Write::UpdateKey(key) => {
                if let Some(stored) = self.keys.get_mut(&key.id) {
                    stored.revoked_at = key.revoked_at;
                    stored.expires_at = key.expires_at;
                    stored.version = stored.version.saturating_add(1);
                }
            }
            Write::InsertCharge(charge) => {
                self.charges.insert(charge.id, Charge { version: 1, ..*charge });
            }
            Write::UpdateCharge(charge) => {
                if let Some(stored) = self.charges.get_mut(&charge.id) {
                    stored.state = charge.state;
                    stored.refunds = charge.refunds;
                    stored.open_infractions = charge.open_infractions;
                    stored.version = stored.version.saturating_add(1);
                }
            }
            Write::InsertPayment(paid) => {
                self.payments.insert(paid.payment.end_to_end_id.clone(), *paid);
            }
            Write::InsertRelease(release) => {
                self.releases.insert(release.end_to_end_id.clone(), Release { version: 1, ..*release });
            }
            Write::UpdateRelease(release) => {
                if let Some(stored) = self.releases.get_mut(&release.end_to_end_id) {
                    stored.released_at = release.released_at;
                    stored.version = stored.version.saturating_add(1);
                }
            }
            Write::InsertPayout(payout) => {
                self.payouts.insert(payout.id, Payout { version: 1, ..*payout });
            }
            Write::UpdatePayout(payout) => {
                if let Some(stored) = self.payouts.get_mut(&payout.id) {
                    change_payout(stored, *payout);
                }
            }
            Write::InsertRefund(refund) => {
                self.refunds.insert(refund.id, Refund { version: 1, ..*refund });
            }
            Write::UpdateRefund(refund) => {
                if let Some(stored) = self.refunds.get_mut(&refund.id) {
                    change_refund(stored, *refund);
                }
            }
            Write::InsertCallback(callback) => {
                self.callbacks.insert(callback.id, Callback { version: 1, ..*callback });
            }
            Write::UpdateCallback(callback) => {
                if let Some(stored) = self.callbacks.get_mut(&callback.id) {
                    change_callback(stored, &callback);
                }
            }
            // The snapshot has stored the endpoint.
            Write::InsertEndpoint(_) | Write::UpdateEndpoint(_) => {}
            Write::InsertInfraction(infraction) => {
                self.infractions.insert(infraction.id, Infraction { version: 1, ..*infraction });
            }
            Write::UpdateInfraction(infraction) => {
                if let Some(stored) = self.infractions.get_mut(&infraction.id) {
                    change_infraction(stored, *infraction);
                }
            }
            Write::InsertAudit(row) => {
                self.audit.insert(row.id, *row);
            }
            Write::InsertPosition(position) => {
                let name = (position.acquirer.clone(), position.list);
                self.positions.insert(name, PollPosition { version: 1, ..*position });
            }
            Write::UpdatePosition(position) => {
                if let Some(stored) = self.positions.get_mut(&(position.acquirer, position.list)) {
                    stored.seen_until = position.seen_until;
                    stored.version = stored.version.saturating_add(1);
                }
            }
        }
    }
}

fn change_refund(stored: &mut Refund, now: Refund) {
    stored.state = now.state;
    stored.due_at = now.due_at;
    stored.attempts = now.attempts;
    stored.version = stored.version.saturating_add(1);
}

fn change_callback(stored: &mut Callback, now: &Callback) {
    stored.state = now.state;
    stored.attempts = now.attempts;
    stored.due_at = now.due_at;
    stored.version = stored.version.saturating_add(1);
}

fn change_payout(stored: &mut Payout, now: Payout) {
    stored.recipient = now.recipient;
    stored.returned = now.returned;
    stored.state = now.state;
    stored.due_at = now.due_at;
    stored.attempts = now.attempts;
    stored.version = stored.version.saturating_add(1);
}

fn change_infraction(stored: &mut Infraction, now: Infraction) {
    stored.reason = now.reason;
    stored.situation = now.situation;
    stored.amount = now.amount;
    stored.limit = now.limit;
    stored.state = now.state;
    stored.review = now.review;
    stored.defense = now.defense;
    stored.deadline_at = now.deadline_at;
    stored.alerted_h = now.alerted_h;
    stored.due_at = now.due_at;
    stored.attempts = now.attempts;
    stored.version = stored.version.saturating_add(1);
}
