//! Orders to the simulated acquirer. A repeat of an executed order is not executed again.

use cais_domain::money::Money;
use cais_domain::payout::Recipient;
use cais_domain::txid::Txid;
use cais_ports::{
    AcquirerError, ChargeOrder, Clock as _, DefenseOrder, DefenseReceipt, PayoutOrder, RefundOrder, ReturnNature,
    UpstreamCharge, UpstreamDefense, UpstreamInfractionStatus, UpstreamPayout, UpstreamProgress, UpstreamReturn,
    UpstreamStatus,
};
use jiff::{Timestamp, ToSpan as _};

use super::{FakePsp, LATE, Moment, OrderReply, State};
use crate::builders::{a_recipient, a_return_id, an_end_to_end_id};

/// The kinds of orders.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum OrderKind {
    /// A charge, or its cancellation.
    Charge,
    /// A payout.
    Payout,
    /// A refund.
    Refund,
    /// A defense against an infraction.
    Defense,
    /// A crypto withdrawal, at [`crate::FakeProcessor`].
    Withdrawal,
    /// A crypto deposit, at [`crate::FakeProcessor`].
    Deposit,
}

impl OrderKind {
    /// Every kind.
    pub const ALL: [Self; 6] =
        [Self::Charge, Self::Payout, Self::Refund, Self::Defense, Self::Withdrawal, Self::Deposit];
}

/// A request with an effect at the acquirer.
#[derive(Debug, Clone)]
pub(super) enum Order {
    /// A charge to issue.
    Charge(ChargeOrder),
    /// A charge to cancel.
    Cancellation(Txid),
    /// A Pix to send.
    Payout(PayoutOrder),
    /// A Pix to return, wholly or in part.
    Refund(RefundOrder),
    /// A defense to submit.
    Defense(DefenseOrder),
}

/// The acquirer's record of an executed order.
#[derive(Debug, Clone)]
pub(super) enum Record {
    Charge(UpstreamCharge),
    Payout(UpstreamPayout),
    Refund(UpstreamReturn),
    Defense(DefenseReceipt),
}

impl Order {
    /// Returns the kind of the order.
    #[must_use]
    pub const fn kind(&self) -> OrderKind {
        match self {
            Self::Charge(_) | Self::Cancellation(_) => OrderKind::Charge,
            Self::Payout(_) => OrderKind::Payout,
            Self::Refund(_) => OrderKind::Refund,
            Self::Defense(_) => OrderKind::Defense,
        }
    }

    /// Returns the identifier of the order: the txid, the instruction id, the suffix of the refund's id, or the id of the
    /// infraction. A cancellation has the txid of its charge.
    #[must_use]
    pub fn name(&self) -> String {
        match self {
            Self::Charge(order) => order.txid.to_string(),
            Self::Cancellation(txid) => txid.to_string(),
            Self::Payout(order) => order.instruction_id.to_string(),
            Self::Refund(order) => order.id.suffix(),
            Self::Defense(order) => order.infraction.clone(),
        }
    }

    /// Returns the order with the amount 0.01. A cancellation or a defense has no amount and stays unchanged.
    fn with_wrong_amount(&self) -> Self {
        let amount = Money::from_centavos(1);
        match self.clone() {
            Self::Charge(order) => Self::Charge(ChargeOrder { amount, ..order }),
            Self::Payout(order) => Self::Payout(PayoutOrder { amount, ..order }),
            Self::Refund(order) => Self::Refund(RefundOrder { amount, ..order }),
            same @ (Self::Cancellation(_) | Self::Defense(_)) => same,
        }
    }

    const fn refusal(&self) -> &'static str {
        match self {
            Self::Charge(_) | Self::Cancellation(_) => "the acquirer refuses the charge",
            Self::Payout(_) => "the key has no owner",
            Self::Refund(_) => "90 days are over",
            Self::Defense(_) => "the defense is incomplete",
        }
    }
}

impl FakePsp {
    pub(super) async fn answer(&self, order: Order) -> Result<Record, AcquirerError> {
        if let Some(connection) = &self.connection {
            connection.before_order().await;
        }
        let reply = self.state().answer(&order, self.clock.now());
        self.run_hook(Moment::Ordered);
        if let Some(connection) = &self.connection {
            connection.after_order().await;
        }
        reply
    }
}

impl State {
    fn answer(&mut self, order: &Order, now: Timestamp) -> Result<Record, AcquirerError> {
        self.orders.push(order.clone());
        let lost = |reason: &str| Err(AcquirerError::OutcomeUnknown(reason.to_owned()));
        let refused = || Err(AcquirerError::Refused(order.refusal().to_owned()));
        let reply = self.order_replies.get(&order.kind()).copied().unwrap_or(OrderReply::Accepts);
        if order.kind() != OrderKind::Charge {
            if self.maybe_present.contains(&order.name()) {
                self.blind_repeats.push(order.name());
            }
            // `Down` means that the order certainly did not arrive. So a repeat needs no look-up before it.
            if reply != OrderReply::Down {
                self.maybe_present.insert(order.name());
            }
        }
        match (reply, order) {
            (OrderReply::Accepts, _) => self.execute(order, now, UpstreamProgress::Processing).map(first_reply),
            (OrderReply::Completes, _) => self.execute(order, now, UpstreamProgress::Done { at: Some(now) }),
            (OrderReply::Fails, _) => {
                let reason = matches!(order, Order::Refund(_)).then(|| "closed\u{0}".to_owned());
                self.execute(order, now, UpstreamProgress::Failed { reason })
            }
            (OrderReply::Down, _) => Err(AcquirerError::Unavailable("no connection".to_owned())),
            (OrderReply::Silent, _) => lost("no answer"),
            (OrderReply::LosesReplies, _) => {
                self.execute(order, now, UpstreamProgress::Processing)?;
                lost("the reply was lost")
            }
            (OrderReply::ArrivesLateAndRefuses, _) if self.late.iter().any(|(_, late)| late.name() == order.name()) => {
                refused()
            }
            (OrderReply::ArrivesLate | OrderReply::ArrivesLateAndRefuses, _) => {
                self.late.push((now + LATE, order.clone()));
                lost("no answer")
            }
            (OrderReply::WrongAmount, _) => {
                self.execute(&order.with_wrong_amount(), now, UpstreamProgress::Done { at: None })
            }
            (OrderReply::AcceptsAndRefuses, _) => {
                self.execute(order, now, UpstreamProgress::Processing)?;
                refused()
            }
            (OrderReply::TooLate, Order::Defense(_)) => Ok(Record::Defense(DefenseReceipt::TooLate)),
            (OrderReply::Refuses | OrderReply::TooLate, _) => refused(),
        }
    }

    /// Executes an order. If the same order was executed before, returns its record; for a defense, the receipt
    /// `AlreadyThere`.
    pub(super) fn execute(
        &mut self,
        order: &Order,
        now: Timestamp,
        progress: UpstreamProgress,
    ) -> Result<Record, AcquirerError> {
        let refused = |reason: &str| AcquirerError::Refused(reason.to_owned());
        match order {
            Order::Charge(order) => {
                Ok(Record::Charge(self.charges.entry(order.txid.clone()).or_insert_with(|| charge(order, now)).clone()))
            }
            Order::Cancellation(txid) => {
                let charge = self.charges.get_mut(txid).ok_or_else(|| refused("the charge does not exist"))?;
                if charge.status == UpstreamStatus::Active {
                    charge.status = UpstreamStatus::Removed;
                }
                Ok(Record::Charge(charge.clone()))
            }
            Order::Payout(order) => {
                let made = || (now, payout(order, progress));
                Ok(Record::Payout(self.sent.entry(order.instruction_id.clone()).or_insert_with(made).1.clone()))
            }
            Order::Refund(order) => {
                let mut payments = self.charges.values_mut().flat_map(|charge| charge.payments.iter_mut());
                let payment = payments.find(|payment| payment.end_to_end_id == order.end_to_end_id);
                let payment = payment.ok_or_else(|| refused("the Pix does not exist"))?;
                let name = order.id.suffix();
                if let Some(known) = payment.returns.iter().find(|back| back.name == name) {
                    return Ok(Record::Refund(known.clone()));
                }
                if order.amount.centavos() > super::money::left(payment) {
                    return Err(refused("the amount exceeds the rest of the Pix"));
                }
                let (return_id, nature) = (Some(a_return_id()), ReturnNature::Ordinary);
                let made = UpstreamReturn { name, return_id, nature, amount: order.amount, progress };
                payment.returns.push(made.clone());
                Ok(Record::Refund(made))
            }
            Order::Defense(order) => self.accept_defense(order, now),
        }
    }

    fn accept_defense(&mut self, order: &DefenseOrder, now: Timestamp) -> Result<Record, AcquirerError> {
        let row = self.infractions.iter_mut().find(|row| row.id == order.infraction);
        let row = row.ok_or_else(|| AcquirerError::Refused("the infraction does not exist".to_owned()))?;
        if row.defense.is_some() {
            return Ok(Record::Defense(DefenseReceipt::AlreadyThere));
        }
        if row.resolved_at.is_some() {
            return Err(AcquirerError::Refused("the infraction is resolved".to_owned()));
        }
        if row.deadline_at.is_some_and(|deadline| now > deadline) {
            return Ok(Record::Defense(DefenseReceipt::TooLate));
        }
        row.status = UpstreamInfractionStatus::Defended;
        row.defense = Some(UpstreamDefense { text: Some(order.whole_text()), received_at: Some(now) });
        self.accepted_defenses = self.accepted_defenses.saturating_add(1);
        Ok(Record::Defense(DefenseReceipt::Taken))
    }
}

/// Removes the recipient from the reply to the order of a payout. Only look-ups return the recipient.
fn first_reply(record: Record) -> Record {
    if let Record::Payout(payout) = record {
        return Record::Payout(UpstreamPayout { recipient: Recipient::default(), ..payout });
    }
    record
}

fn charge(order: &ChargeOrder, now: Timestamp) -> UpstreamCharge {
    UpstreamCharge {
        txid: order.txid.clone(),
        amount: order.amount,
        status: UpstreamStatus::Active,
        copy_paste: Some(format!("00020126{}6304ABCD", order.txid)),
        expires_at: now + i64::from(order.expires_in_s).seconds(),
        payments: Vec::new(),
        answered_at: None,
    }
}

fn payout(order: &PayoutOrder, progress: UpstreamProgress) -> UpstreamPayout {
    UpstreamPayout {
        instruction_id: order.instruction_id.clone(),
        end_to_end_id: Some(an_end_to_end_id()),
        amount: order.amount,
        recipient: a_recipient(),
        progress,
        awaits_approval: false,
        returned: Vec::new(),
    }
}
