//! An institution in memory that does each operation at once, or rejects it.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use cais_domain::acquirer_name::AcquirerName;
use cais_domain::crypto::ProcessorId;
use cais_domain::end_to_end_id::EndToEndId;
use cais_domain::ids::RefundId;
use cais_domain::instruction_id::InstructionId;
use cais_domain::money::Money;
use cais_domain::payout::Recipient;
use cais_domain::txid::Txid;
use cais_ports::{
    Acquirer, AcquirerError, Acquirers, CallbackItem, CallbackPix, ChargeOrder, Clock, DefenseOrder, DefenseReceipt,
    IssueError, ListRequest, PayoutOrder, ReceivedPix, RefundOrder, ReturnNature, ReturnedPart, UpstreamCharge,
    UpstreamDefense, UpstreamInfraction, UpstreamInfractionStatus, UpstreamPage, UpstreamPayment, UpstreamPayout,
    UpstreamProgress, UpstreamReturn, UpstreamStatus,
};
use cais_testkit::ManualClock;
use cais_testkit::builders::{a_payment, a_return_id, an_end_to_end_id, an_upstream_infraction, main_acquirer};
use jiff::{Timestamp, ToSpan as _};

use super::super::{
    FaultMode, InfractionRequest, Institution, InstitutionError, Resolution, SentCoins, SimulatedProcessor,
    WithdrawalFailure,
};

/// An institution in memory that does each operation at once, or rejects it.
#[derive(Default)]
pub struct Bank {
    charges: Mutex<BTreeMap<Txid, UpstreamCharge>>,
    payouts: Mutex<BTreeMap<InstructionId, UpstreamPayout>>,
    infractions: Mutex<BTreeMap<String, UpstreamInfraction>>,
    /// The result for defenses in place of acceptance.
    pub refuses_defenses: Mutex<Option<Result<DefenseReceipt, AcquirerError>>>,
    /// Number of sent payouts.
    pub sends: AtomicU32,
    pub faults: Mutex<Option<(FaultMode, Duration)>>,
    pub crypto_faults: Mutex<Option<(FaultMode, Duration)>>,
    pub is_down: AtomicBool,
}

impl Bank {
    /// Returns the expiry of each charge.
    pub fn expires_at(&self) -> Vec<Timestamp> {
        self.charges.lock().unwrap().values().map(|charge| charge.expires_at).collect()
    }

    /// Completes every payout in transit.
    pub fn settle_payouts(&self) {
        let mut payouts = self.payouts.lock().unwrap();
        for payout in payouts.values_mut().filter(|payout| payout.progress == UpstreamProgress::Processing) {
            payout.progress = UpstreamProgress::Done { at: None };
            payout.end_to_end_id = Some(an_end_to_end_id());
        }
    }

    /// Completes every return in transit.
    pub fn settle_refunds(&self) {
        self.move_refunds(|progress| *progress = UpstreamProgress::Done { at: None });
    }

    fn move_refunds(&self, change: impl Fn(&mut UpstreamProgress)) {
        let mut charges = self.charges.lock().unwrap();
        let returns = charges.values_mut().flat_map(|charge| &mut charge.payments).flat_map(|pix| &mut pix.returns);
        returns
            .filter(|back| back.progress == UpstreamProgress::Processing)
            .for_each(|back| change(&mut back.progress));
    }

    fn change(&self, txid: &Txid, change: impl FnOnce(&mut UpstreamCharge)) -> Result<(), String> {
        let mut charges = self.charges.lock().unwrap();
        charges.get_mut(txid).map(change).ok_or_else(|| "unknown".to_owned())
    }

    fn order(&self, order: &ChargeOrder, now: Timestamp) -> UpstreamCharge {
        let mut charges = self.charges.lock().unwrap();
        let new = || UpstreamCharge {
            txid: order.txid.clone(),
            amount: order.amount,
            status: UpstreamStatus::Active,
            copy_paste: Some(format!("00020126{}6304ABCD", order.txid)),
            expires_at: now + i64::from(order.expires_in_s).seconds(),
            payments: Vec::new(),
            answered_at: None,
        };
        charges.entry(order.txid.clone()).or_insert_with(new).clone()
    }

    fn received(&self, end_to_end_id: &EndToEndId) -> Option<ReceivedPix> {
        let charges = self.charges.lock().unwrap();
        let mut all = charges.values().flat_map(|charge| charge.payments.iter().map(|payment| (&charge.txid, payment)));
        let (txid, payment) = all.find(|(_, payment)| payment.end_to_end_id == *end_to_end_id)?;
        Some(ReceivedPix { txid: Some(txid.clone()), payment: payment.clone() })
    }

    fn reachable(&self) -> Result<(), AcquirerError> {
        if self.is_down.load(Ordering::SeqCst) {
            return Err(AcquirerError::Unavailable("down".to_owned()));
        }
        Ok(())
    }
}

fn known(result: Result<(), String>) -> Result<(), InstitutionError> {
    result.map_err(InstitutionError::Failed)
}

impl Institution for Bank {
    fn pay(&self, txid: &Txid, amount: Option<Money>) -> Result<(), InstitutionError> {
        known(self.change(txid, |charge| {
            let paid = a_payment(amount.unwrap_or(charge.amount).centavos());
            charge.status = UpstreamStatus::Completed;
            charge.payments.push(UpstreamPayment {
                end_to_end_id: paid.end_to_end_id,
                amount: paid.amount,
                paid_at: paid.paid_at,
                returns: Vec::new(),
            });
        }))
    }

    fn expire(&self, txid: &Txid) -> Result<(), InstitutionError> {
        known(self.change(txid, |charge| charge.expires_at = Timestamp::UNIX_EPOCH))
    }

    fn return_sent(&self, instruction_id: &InstructionId) -> Result<(), InstitutionError> {
        let mut payouts = self.payouts.lock().unwrap();
        let payout = payouts.get_mut(instruction_id).ok_or_else(|| InstitutionError::Failed("unknown".to_owned()))?;
        let (return_id, at) = (a_return_id(), ManualClock::default().now());
        payout.returned.push(ReturnedPart { return_id, amount: payout.amount, at });
        Ok(())
    }

    fn fail_refund(&self, _: &EndToEndId, _: RefundId) -> Result<(), InstitutionError> {
        self.move_refunds(|progress| *progress = UpstreamProgress::Failed { reason: Some("as asked".to_owned()) });
        Ok(())
    }

    fn open_infraction(
        &self,
        end_to_end_id: &EndToEndId,
        asked: InfractionRequest,
    ) -> Result<String, InstitutionError> {
        let paid = self.received(end_to_end_id).ok_or_else(|| InstitutionError::Failed("unknown".to_owned()))?;
        let amount = asked.amount.unwrap_or(paid.payment.amount);
        if amount > paid.payment.amount {
            return Err(InstitutionError::OutOfRange { path: "amount", rule: "must be at most the paid amount" });
        }
        let upstream = an_upstream_infraction(end_to_end_id, amount.centavos());
        let situation = asked.situation.unwrap_or(upstream.situation);
        let id = upstream.id.clone();
        self.infractions.lock().unwrap().insert(id.clone(), UpstreamInfraction { situation, ..upstream });
        Ok(id)
    }

    fn resolve_infraction(&self, upstream_id: &str, resolution: Resolution) -> Result<(), InstitutionError> {
        let mut infractions = self.infractions.lock().unwrap();
        let upstream =
            infractions.get_mut(upstream_id).ok_or_else(|| InstitutionError::Failed("unknown".to_owned()))?;
        upstream.status = match resolution {
            Resolution::Won => UpstreamInfractionStatus::Rejected,
            Resolution::Lost => UpstreamInfractionStatus::Accepted,
            Resolution::Cancelled => UpstreamInfractionStatus::Cancelled,
        };
        upstream.resolved_at = Some(ManualClock::default().now());
        Ok(())
    }

    fn set_faults(&self, mode: FaultMode, latency: Duration) -> Result<(), InstitutionError> {
        *self.faults.lock().unwrap() = Some((mode, latency));
        Ok(())
    }

    fn set_clock_offset(&self, _offset_s: i64) -> Result<(), InstitutionError> {
        Ok(())
    }
}

/// The bank as the only acquirer.
pub struct OneBank(pub Arc<Bank>);

#[async_trait]
impl Acquirers for OneBank {
    fn first(&self) -> Option<AcquirerName> {
        Some(main_acquirer())
    }

    fn first_sender(&self) -> Option<AcquirerName> {
        Some(main_acquirer())
    }

    fn names(&self) -> Vec<AcquirerName> {
        vec![main_acquirer()]
    }

    async fn issue(
        &self,
        order: &ChargeOrder,
        begin_with: &AcquirerName,
        _: Duration,
    ) -> Result<(AcquirerName, UpstreamCharge), IssueError> {
        if self.0.is_down.load(Ordering::SeqCst) {
            return Err(IssueError::NoneTook { reasons: Vec::new() });
        }
        Ok((begin_with.clone(), self.0.order(order, ManualClock::default().now())))
    }

    fn named(&self, name: &AcquirerName) -> Option<Arc<dyn Acquirer>> {
        Some(Arc::new(Named(name.clone(), self.0.clone())))
    }
}

struct Named(AcquirerName, Arc<Bank>);

#[async_trait]
impl Acquirer for Named {
    fn name(&self) -> &AcquirerName {
        &self.0
    }

    async fn create_charge(&self, order: &ChargeOrder, _: Duration) -> Result<UpstreamCharge, AcquirerError> {
        Ok(self.1.order(order, ManualClock::default().now()))
    }

    async fn find_charge(&self, txid: &Txid, _: Duration) -> Result<Option<UpstreamCharge>, AcquirerError> {
        Ok(self.1.charges.lock().unwrap().get(txid).cloned())
    }

    async fn cancel_charge(&self, txid: &Txid, _: Duration) -> Result<UpstreamCharge, AcquirerError> {
        let withdraw = |charge: &mut UpstreamCharge| {
            if charge.status == UpstreamStatus::Active {
                charge.status = UpstreamStatus::Removed;
            }
        };
        self.1.change(txid, withdraw).map_err(AcquirerError::Refused)?;
        self.find_charge(txid, Duration::ZERO).await?.ok_or_else(|| AcquirerError::Refused("unknown".to_owned()))
    }

    fn sends_payouts(&self) -> bool {
        true
    }

    /// Keys that begin with `fail` fail; other payouts stay in transit until they are resolved.
    async fn send_payout(&self, order: &PayoutOrder, _: Duration) -> Result<UpstreamPayout, AcquirerError> {
        self.1.reachable()?;
        self.1.sends.fetch_add(1, Ordering::SeqCst);
        let fails = order.pix_key.as_str().starts_with("fail");
        let failed = UpstreamProgress::Failed { reason: Some("the account does not exist".to_owned()) };
        let new = || UpstreamPayout {
            instruction_id: order.instruction_id.clone(),
            end_to_end_id: Some(an_end_to_end_id()),
            amount: order.amount,
            recipient: Recipient { name: Some("Ana Lima".to_owned()), document: Some("***.982.247-**".to_owned()) },
            progress: if fails { failed } else { UpstreamProgress::Processing },
            returned: Vec::new(),
        };
        Ok(self.1.payouts.lock().unwrap().entry(order.instruction_id.clone()).or_insert_with(new).clone())
    }

    async fn find_payout(
        &self,
        instruction_id: &InstructionId,
        _: Duration,
    ) -> Result<Option<UpstreamPayout>, AcquirerError> {
        self.1.reachable()?;
        Ok(self.1.payouts.lock().unwrap().get(instruction_id).cloned())
    }

    async fn send_refund(&self, order: &RefundOrder, budget: Duration) -> Result<UpstreamReturn, AcquirerError> {
        self.1.reachable()?;
        if let Some(known) = self.find_refund(&order.end_to_end_id, order.id, budget).await? {
            return Ok(known);
        }
        let back = UpstreamReturn {
            name: order.id.suffix(),
            return_id: Some(a_return_id()),
            nature: ReturnNature::Ordinary,
            amount: order.amount,
            progress: UpstreamProgress::Processing,
        };
        let mut charges = self.1.charges.lock().unwrap();
        let mut payments = charges.values_mut().flat_map(|charge| &mut charge.payments);
        let payment = payments.find(|payment| payment.end_to_end_id == order.end_to_end_id);
        payment.ok_or_else(|| AcquirerError::Refused("unknown".to_owned()))?.returns.push(back.clone());
        Ok(back)
    }

    async fn find_refund(
        &self,
        end_to_end_id: &EndToEndId,
        id: RefundId,
        _: Duration,
    ) -> Result<Option<UpstreamReturn>, AcquirerError> {
        self.1.reachable()?;
        let charges = self.1.charges.lock().unwrap();
        let payments = charges.values().flat_map(|charge| &charge.payments);
        let mut returns = payments.filter(|pix| pix.end_to_end_id == *end_to_end_id).flat_map(|pix| &pix.returns);
        Ok(returns.find(|back| back.refund() == Some(id)).cloned())
    }

    async fn list_received(&self, _: ListRequest, _: Duration) -> Result<UpstreamPage<ReceivedPix>, AcquirerError> {
        Ok(UpstreamPage::new(Vec::new(), None))
    }

    async fn list_sent(&self, _: ListRequest, _: Duration) -> Result<UpstreamPage<UpstreamPayout>, AcquirerError> {
        Ok(UpstreamPage::new(self.1.payouts.lock().unwrap().values().cloned().collect(), None))
    }

    async fn find_received(
        &self,
        end_to_end_id: &EndToEndId,
        _: Duration,
    ) -> Result<Option<ReceivedPix>, AcquirerError> {
        Ok(self.1.received(end_to_end_id))
    }

    fn reports_infractions(&self) -> bool {
        true
    }

    async fn list_infractions(
        &self,
        _: ListRequest,
        _: Duration,
    ) -> Result<UpstreamPage<UpstreamInfraction>, AcquirerError> {
        self.1.reachable()?;
        Ok(UpstreamPage::new(self.1.infractions.lock().unwrap().values().cloned().collect(), None))
    }

    async fn send_defense(&self, order: &DefenseOrder, _: Duration) -> Result<DefenseReceipt, AcquirerError> {
        if let Some(said) = self.1.refuses_defenses.lock().unwrap().clone() {
            return said;
        }
        let mut infractions = self.1.infractions.lock().unwrap();
        let upstream = infractions.get_mut(&order.infraction).ok_or(AcquirerError::Refused("unknown".to_owned()))?;
        upstream.status = UpstreamInfractionStatus::Defended;
        upstream.defense = Some(UpstreamDefense { text: Some(order.whole_text()), received_at: None });
        Ok(DefenseReceipt::Taken)
    }

    /// A callback's body is a txid in these tests.
    fn callbacks(&self, body: &[u8]) -> Result<Vec<CallbackItem>, AcquirerError> {
        let txid = str::from_utf8(body).ok().and_then(|text| Txid::parse(text).ok());
        let txid = txid.ok_or_else(|| AcquirerError::Refused("not a callback".to_owned()))?;
        Ok(vec![CallbackItem::Received(CallbackPix { txid, end_to_end_id: None, paid_at: None })])
    }

    async fn register_callback(&self, _: &str, _: Duration) -> Result<(), AcquirerError> {
        Ok(())
    }
}

/// No test of the API uses the crypto processor.
impl SimulatedProcessor for Bank {
    fn pay(&self, _: &ProcessorId, _: &SentCoins) -> Result<(), InstitutionError> {
        Err(InstitutionError::Failed("no crypto".to_owned()))
    }

    fn expire(&self, _: &ProcessorId) -> Result<(), InstitutionError> {
        Err(InstitutionError::Failed("no crypto".to_owned()))
    }

    fn fail_withdrawal(&self, _: &ProcessorId, _: WithdrawalFailure) -> Result<(), InstitutionError> {
        Err(InstitutionError::Failed("no crypto".to_owned()))
    }

    fn set_faults(&self, mode: FaultMode, latency: Duration) -> Result<(), InstitutionError> {
        *self.crypto_faults.lock().unwrap() = Some((mode, latency));
        Ok(())
    }
}
