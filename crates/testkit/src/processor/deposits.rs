//! The payments of deposits at the simulated processor.

use cais_domain::crypto::deposit::ArrivedCoins;
use cais_domain::crypto::{Address, CryptoAmount, Currency, ProcessorId};
use cais_ports::{AcquirerError, Clock as _, CryptoDepositOrder, UpstreamDeposit, UpstreamDepositStatus};
use jiff::Timestamp;

use super::{FakeProcessor, State, down, refused, silent};
use crate::builders::{a_processor_id, expect_ok};
use crate::psp::OrderReply;

impl FakeProcessor {
    /// Changes the first payment with this id.
    pub fn change_payment(&self, id: &ProcessorId, change: impl FnOnce(&mut UpstreamDeposit)) {
        let mut state = self.state();
        change(expect_ok(state.payments.iter_mut().find(|payment| payment.id == *id).ok_or("no such payment")));
    }

    /// Sets the status of the payment, and its received coins in USDT.
    pub fn pay(&self, id: &ProcessorId, status: UpstreamDepositStatus, usdt: &str) {
        let coins = expect_ok(CryptoAmount::parse(Currency::UsdtErc20, usdt));
        self.change_payment(id, |payment| {
            (payment.status, payment.received) = (status, Some(ArrivedCoins::Supported(coins)));
            payment.tx_hash = Some("0xabc".to_owned());
        });
    }

    /// Adds a later payment to the address of the payment `parent`, without our identifier. Returns the new payment's id.
    #[must_use]
    pub fn pay_again(&self, parent: &ProcessorId, usdt: &str) -> ProcessorId {
        let first = self.state().payments.iter().find(|payment| payment.id == *parent).cloned();
        let first = expect_ok(first.ok_or("no such payment"));
        let (id, parent) = (a_processor_id(), Some(parent.clone()));
        let created_at = Some(self.clock.now());
        let first_id = first.id.clone();
        let child = UpstreamDeposit { id: id.clone(), parent, later: Vec::new(), order: None, created_at, ..first };
        self.change_payment(&first_id, |first| first.later.push(id.clone()));
        self.state().payments.push(child);
        self.pay(&id, UpstreamDepositStatus::Finished, usdt);
        id
    }
}

impl State {
    pub(super) fn create_deposit(
        &mut self,
        order: &CryptoDepositOrder,
        now: Timestamp,
    ) -> Result<UpstreamDeposit, AcquirerError> {
        match self.creating {
            OrderReply::Down => return down(),
            OrderReply::Refuses | OrderReply::TooLate => return refused(),
            OrderReply::Silent | OrderReply::ArrivesLate | OrderReply::ArrivesLateAndRefuses => return silent(),
            OrderReply::Accepts
            | OrderReply::Completes
            | OrderReply::Fails
            | OrderReply::WrongAmount
            | OrderReply::LosesReplies
            | OrderReply::AcceptsAndRefuses => {}
        }
        let address = format!("0x{:040x}", self.payments.len().saturating_add(1));
        let payment = UpstreamDeposit {
            id: a_processor_id(),
            parent: None,
            later: Vec::new(),
            order: Some(order.id),
            status: UpstreamDepositStatus::Waiting,
            address: Some(expect_ok(Address::parse(order.amount.currency(), &address))),
            extra_id: None,
            asked: Some(order.amount),
            received: None,
            tx_hash: None,
            created_at: Some(now),
            updated_at: None,
        };
        self.payments.push(payment.clone());
        if self.creating == OrderReply::LosesReplies { silent() } else { Ok(payment) }
    }
}
