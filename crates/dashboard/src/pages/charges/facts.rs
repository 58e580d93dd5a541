//! The records that the page of a charge shows.

use cais_domain::charge::{Charge, ChargeStatus};
use cais_domain::end_to_end_id::EndToEndId;
use cais_domain::event::EventType;
use cais_domain::money::Money;
use cais_domain::refund::{Refund, RefundStatus};
use cais_ports::StoredEvent;
use cais_use_cases::Ports;

use super::json::member;
use crate::failure::Failure;
use crate::format::{When, brl};
use crate::texts::Language;
use crate::texts::charges::ChargesTexts;

/// The most events of a charge that are read. A charge has more only after many unexpected payments.
pub(super) const MAX_EVENTS: u32 = 20;

/// Returns the first events of the charge, oldest first.
pub(super) async fn events(ports: &Ports, charge: &Charge) -> Result<Vec<StoredEvent>, Failure> {
    Ok(ports.queries.list_events_of(charge.account, &charge.id.to_string(), MAX_EVENTS).await?)
}

/// Money that was credited but did not pay the charge: an excess, or a second, late or too small payment.
pub(super) struct Extra {
    pub(super) pix: String,
    pub(super) amount: String,
    pub(super) reason: &'static str,
    pub(super) received: When,
    /// `true` if refunds cover the whole amount.
    pub(super) is_returned: bool,
}

impl Extra {
    /// Returns the unexpected payments among the events of a charge.
    pub(super) fn all(
        events: &[StoredEvent],
        refunds: &[Refund],
        (t, language): (&'static ChargesTexts, Language),
    ) -> Vec<Self> {
        let unexpected = events.iter().filter(|event| event.kind == EventType::PaymentUnexpected);
        let extra = |event: &StoredEvent| {
            let pix = EndToEndId::parse(&member(&event.data, "end_to_end_id")?).ok()?;
            let amount = Money::parse(&member(&event.data, "amount")?).ok()?;
            let reason = match member(&event.data, "reason")?.as_str() {
                "overpaid" => t.overpaid,
                "duplicate" => t.duplicate,
                "underpaid" => t.underpaid,
                _ => t.late,
            };
            let received = When::of(event.created_at, language);
            let is_returned = returned_beyond(refunds, &pix) >= amount;
            Some(Self { pix: pix.to_string(), amount: brl(amount, language), reason, received, is_returned })
        };
        unexpected.filter_map(extra).collect()
    }
}

/// Returns the refunded part of a Pix's unexpected money: the excess, or the whole amount of a Pix that did not pay the
/// charge. Refunds that are not completed yet count too.
pub(crate) fn returned_beyond(refunds: &[Refund], pix: &EndToEndId) -> Money {
    let is_counted = |refund: &&Refund| {
        let status = refund.state.status();
        refund.end_to_end_id == *pix && !matches!(status, RefundStatus::Abandoned | RefundStatus::Failed)
    };
    let parts = refunds.iter().filter(is_counted).map(|refund| refund.beyond().unwrap_or_default());
    Money::sum(parts).unwrap_or_default()
}

/// A refund of the charge.
pub(super) struct RefundRow {
    pub(super) id: String,
    /// The refunded Pix.
    pub(super) pix: String,
    pub(super) created: When,
    pub(super) amount: String,
    pub(super) reason: String,
    pub(super) status: &'static str,
    pub(super) tone: &'static str,
    pub(super) failure: Option<String>,
}

impl RefundRow {
    pub(super) fn of(refund: &Refund, t: &'static ChargesTexts, language: Language) -> Self {
        let (status, tone) = match refund.state.status() {
            RefundStatus::Pending | RefundStatus::Processing => (t.refund_processing, "waits"),
            RefundStatus::Completed => (t.refund_completed, "good"),
            RefundStatus::Abandoned | RefundStatus::Failed => (t.refund_failed, "bad"),
        };
        let failure = match &refund.state {
            cais_domain::refund::RefundState::Failed { reason, .. } => Some(reason.clone()),
            cais_domain::refund::RefundState::Pending
            | cais_domain::refund::RefundState::Abandoned { .. }
            | cais_domain::refund::RefundState::Processing { .. }
            | cais_domain::refund::RefundState::Completed { .. } => None,
        };
        Self {
            id: refund.id.to_string(),
            pix: refund.end_to_end_id.to_string(),
            created: When::of(refund.created_at, language),
            amount: brl(refund.amount, language),
            reason: refund.reason.as_ref().map(|text| text.as_str().to_owned()).unwrap_or_default(),
            status,
            tone,
            failure,
        }
    }
}

/// Returns the text and the CSS class of a status.
pub(super) const fn status_text(t: &ChargesTexts, status: ChargeStatus) -> (&'static str, &'static str) {
    match status {
        ChargeStatus::Creating | ChargeStatus::Pending => (t.pending, "waits"),
        ChargeStatus::Paid => (t.paid, "good"),
        ChargeStatus::Expired => (t.expired, "over"),
        ChargeStatus::Abandoned | ChargeStatus::Cancelled => (t.cancelled, "over"),
        ChargeStatus::Refunded => (t.refunded, "over"),
    }
}

/// Returns the merchant's part of a paid charge: its amount less the fee and the shares of others. `None` for an
/// unpaid charge, because the payment fixes the shares.
pub(super) fn net(charge: &Charge) -> Option<Money> {
    let parts = charge.state.settlement()?.parts.iter().copied();
    let net = charge.terms.amount.checked_sub(charge.terms.fee).ok()?;
    net.checked_sub(Money::sum(parts).ok()?).ok()
}
