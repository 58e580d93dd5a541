//! Crypto deposits: the payer's coins, the processor's callbacks, and the invariants.

use std::collections::BTreeMap;

use cais_domain::crypto::deposit::{ArrivedCoins, DepositPayment, DepositState, PaymentReview, PaymentState};
use cais_domain::crypto::{CryptoAmount, Deposit};
use cais_domain::event::EventType;
use cais_domain::ids::CryptoDepositId;
use cais_domain::money::Money;
use cais_ports::{UpstreamDeposit, UpstreamDepositStatus as Upstream};
use cais_testkit::psp::OrderKind;
use cais_use_cases::callbacks;

use crate::bed::TestBed;

/// A step of a payer or of the processor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CoinStep {
    /// The requested coins are on the chain.
    Seen,
    /// The requested coins arrived.
    Paid,
    /// Half of the requested coins arrived.
    Half,
    /// Half of the requested coins arrived as a later payment.
    Again,
    /// Three times the requested coins arrived.
    TooMany,
}

impl CoinStep {
    pub const ALL: [Self; 6] = [Self::Seen, Self::Paid, Self::Paid, Self::Half, Self::Again, Self::TooMany];
}

impl TestBed {
    /// Returns the visible deposits in the store.
    pub fn deposits(&self) -> Vec<Deposit> {
        self.store.crypto_deposits().into_iter().filter(Deposit::is_visible).collect()
    }

    /// Makes one step of the payer of a deposit. The processor never takes coins back.
    pub fn pay_coins(&mut self, deposit: &Deposit, step: CoinStep) {
        let Some(issued) = deposit.state.issued() else { return };
        let asked = deposit.price.coins.units();
        let units = match step {
            CoinStep::Seen | CoinStep::Paid => asked,
            CoinStep::Half | CoinStep::Again => asked / 2,
            CoinStep::TooMany => asked * 3,
        };
        let first = self.payment(|one| one.id == issued.payment).unwrap();
        let coins = CryptoAmount::from_units(deposit.terms.currency, units).unwrap().to_string();
        let status = if step == CoinStep::Seen { Upstream::Confirming } else { Upstream::Finished };
        if step == CoinStep::Again && first.later.len() < 2 {
            drop(self.processor.pay_again(&first.id, &coins));
            self.note(&format!("processor: {} has a later payment of {coins}", deposit.id));
        } else if step != CoinStep::Again && first.status != Upstream::Finished {
            self.processor.pay(&first.id, status, &coins);
            self.note(&format!("processor: {} is {status:?} with {coins}", deposit.id));
        }
    }

    /// Lets all coins that were seen on the chain arrive.
    pub fn coins_arrive(&self) {
        for payment in &mut self.processor.state().payments {
            if payment.status == Upstream::Confirming {
                payment.status = Upstream::Finished;
            }
        }
    }

    /// Receives a callback about a payment at a node.
    pub fn deposit_callback(&mut self, node: usize, payment: &UpstreamDeposit) {
        let (ports, name, body) =
            (self.ports[node].clone(), self.processor.name.clone(), format!("deposit:{}", payment.id));
        self.spawn(node, "callback about coins".to_owned(), async move {
            format!("{:?}", callbacks::receive_crypto(&ports, &name, "signed", body).await)
        });
    }

    fn payment(&self, is: impl Fn(&&UpstreamDeposit) -> bool) -> Option<UpstreamDeposit> {
        self.processor.state().payments.iter().find(is).cloned()
    }

    /// Returns the stored payments, by their identifiers.
    fn stored_payments(&self) -> BTreeMap<String, DepositPayment> {
        self.store.crypto_payments().into_iter().map(|payment| (payment.id.to_string(), payment)).collect()
    }

    /// Returns the smallest units of all coins whose value was credited.
    pub fn credited_units(&self) -> u128 {
        self.deposits().iter().map(|deposit| deposit.credited.coins.units()).sum()
    }

    /// Returns the centavos of all fees of credits.
    pub fn deposit_fees(&self) -> i64 {
        self.deposits().iter().map(|deposit| deposit.credited.fee.centavos()).sum()
    }

    /// Asserts that each payment at the processor is credited once, or waits for an operator, and that no other money is
    /// credited.
    pub fn check_deposits(&self) {
        let deposits = self.deposits();
        assert_eq!(deposits.len(), self.answered(OrderKind::Deposit), "one deposit for each key");
        let creating = self.store.crypto_deposits().into_iter().filter(|one| one.state == DepositState::Creating);
        assert_eq!(creating.count(), 0, "every creation has an outcome");
        let stored = self.stored_payments();
        let mut units: BTreeMap<CryptoDepositId, u128> = BTreeMap::new();
        for payment in &self.processor.state().payments {
            let (true, Some(ArrivedCoins::Supported(coins))) = (payment.has_coins(), &payment.received) else {
                continue;
            };
            let ours = stored.get(payment.id.as_str()).unwrap_or_else(|| panic!("dropped coins: {payment:?}"));
            assert_eq!(ours.coins, ArrivedCoins::Supported(*coins), "{payment:?}");
            match ours.state {
                PaymentState::Credited => *units.entry(ours.deposit).or_default() += coins.units(),
                PaymentState::Review(reason) => {
                    assert!(matches!(reason, PaymentReview::TooLate | PaymentReview::TooMany), "{ours:?}");
                    assert_eq!(ours.gross.centavos(), 0, "{ours:?}");
                }
                PaymentState::Dismissed(_) => panic!("no operator decides about {ours:?}"),
            }
        }
        for deposit in deposits {
            let credited = units.remove(&deposit.id).unwrap_or_default();
            assert_eq!(deposit.credited.coins.units(), credited, "{deposit:?}");
            let gross = deposit.credited.gross;
            let fee = if credited == 0 { Money::ZERO } else { deposit.price.fee_rule.fee(gross).unwrap() };
            assert_eq!(deposit.credited.fee, fee, "the fee is that of one payment of all coins: {deposit:?}");
            let events = self.store.events(self.account.id).into_iter().map(|stored| stored.event);
            let credits = events.filter(|event| event.kind == EventType::CryptoDepositCompleted);
            let credits = credits.filter(|event| event.resource == deposit.id.to_string());
            let payments =
                stored.values().filter(|one| one.deposit == deposit.id && one.state == PaymentState::Credited);
            let (sums, count) = payments.fold(((0, 0), 0), |((gross, fee), count), one| {
                ((gross + one.gross.centavos(), fee + one.fee.centavos()), count + 1)
            });
            assert_eq!(credits.count(), count, "one event for each credit of {}", deposit.id);
            assert_eq!(sums, (gross.centavos(), fee.centavos()), "the payments have the sums of {}", deposit.id);
        }
        assert_eq!(units, BTreeMap::new(), "credited coins belong to visible deposits");
    }
}
