//! A model of an account's money and a disputed Pix, in memory. Only functions of the domain change it.

use std::collections::{BTreeMap, VecDeque};

use cais_domain::acquirer_name::AcquirerName;
use cais_domain::block::{self, Block, BlockChange};
use cais_domain::charge::{Charge, ChargeTerms, Issued, Origin, Step};
use cais_domain::end_to_end_id::EndToEndId;
use cais_domain::event::EventType;
use cais_domain::ids::{AccountId, ChargeId, InfractionId, RefundId};
use cais_domain::infraction::{
    DisputeReport, Disputed, Infraction, InfractionChange, InfractionError, InfractionState, InfractionStep, Situation,
};
use cais_domain::ledger::{Bucket, LedgerAccount, Transfer};
use cais_domain::money::Money;
use cais_domain::payment::{CreditedPayment, Payment};
use cais_domain::refund::{NewRefund, Refund, RefundError, RefundStep};
use cais_domain::release::Release;
use cais_domain::split::Split;
use jiff::{SignedDuration, Timestamp};
use uuid::Uuid;

/// The charge's amount. Only this part of the Pix can count as refunded of the charge.
pub const CHARGED: i64 = 1_000;

pub fn money(centavos: i64) -> Money {
    Money::from_centavos(centavos)
}

pub fn at() -> Timestamp {
    "2026-01-02T03:04:05Z".parse().unwrap()
}

pub fn account() -> AccountId {
    AccountId::new(Uuid::from_u128(1))
}

pub fn infraction_id(number: usize) -> InfractionId {
    InfractionId::new(Uuid::from_u128(100 + u128::try_from(number).unwrap()))
}

fn main_acquirer() -> AcquirerName {
    AcquirerName::parse("main").unwrap()
}

/// Returns an acquirer's report of a dispute.
pub fn report(number: usize, centavos: i64) -> DisputeReport {
    DisputeReport {
        id: infraction_id(number),
        acquirer: main_acquirer(),
        upstream_id: format!("upstream-{number}"),
        reason: None,
        situation: Situation::Scam,
        amount: money(centavos),
        opened_at: at(),
        deadline_at: at().checked_add(SignedDuration::from_hours(168)).ok(),
    }
}

/// Returns a pending charge of R$ 10.00.
fn pending() -> Charge {
    let terms = ChargeTerms {
        amount: money(CHARGED),
        fee: Money::ZERO,
        description: None,
        payer_name: None,
        payer_document: None,
        expires_in_s: 3_600,
        external_id: None,
        postback: None,
        split: Split::NONE,
        origin: Origin::Api,
    };
    let charge = Charge::open(ChargeId::new(Uuid::from_u128(2)), account(), terms, main_acquirer(), at());
    let issued = Issued { acquirer: main_acquirer(), copy_paste: "000201".into(), expires_at: Timestamp::MAX };
    match charge.issue(issued).unwrap() {
        Step::Taken { charge, .. } | Step::AlreadyTaken(charge) => charge,
    }
}

/// The whole state of the model.
pub struct Book {
    pub payment: CreditedPayment,
    pub charge: Charge,
    pub infractions: Vec<Infraction>,
    pub refunds: Vec<Refund>,
    pub blocks: BTreeMap<InfractionId, Block>,
    pub balances: BTreeMap<LedgerAccount, i64>,
    /// The amount that infractions seized from `pending` before its release.
    pub seized: Money,
    /// The amounts that wait for their release, in centavos. The oldest credit comes first.
    pub waits: VecDeque<i64>,
    /// The published events of each infraction.
    pub published: Vec<(InfractionId, EventType)>,
}

impl Book {
    /// Credits a Pix. If its amount suffices, [`CHARGED`] of it settles the charge.
    pub fn paid(centavos: i64) -> Self {
        let end_to_end_id = EndToEndId::parse("E1234567820260102030400000000001").unwrap();
        let payment = Payment { end_to_end_id, amount: money(centavos), paid_at: at(), acquirer: main_acquirer() };
        let charge = pending();
        let credit = charge.clone().credit(payment, 0, at()).unwrap();
        let mut book = Self {
            payment: credit.payment,
            charge: credit.charge.unwrap_or(charge),
            infractions: Vec::new(),
            refunds: Vec::new(),
            blocks: BTreeMap::new(),
            balances: BTreeMap::new(),
            seized: Money::ZERO,
            waits: VecDeque::new(),
            published: Vec::new(),
        };
        book.post(&credit.transfers);
        book
    }

    pub fn balance(&self, bucket: Bucket) -> i64 {
        self.balances.get(&LedgerAccount::Merchant(account(), bucket)).copied().unwrap_or_default()
    }

    fn post(&mut self, transfers: &[Transfer]) {
        for transfer in transfers {
            assert!(transfer.amount.is_positive(), "transfers are positive");
            let (mut moved, mut seized) = (transfer.amount, self.seized);
            if transfer.from == LedgerAccount::Merchant(account(), Bucket::Pending) {
                (moved, seized) = block::debited(transfer, seized).unwrap();
            }
            if transfer.to == LedgerAccount::Merchant(account(), Bucket::Pending) {
                seized = block::credited(transfer, seized).unwrap();
            }
            self.seized = seized;
            *self.balances.entry(transfer.from.clone()).or_default() -= moved.centavos();
            *self.balances.entry(transfer.to.clone()).or_default() += moved.centavos();
        }
    }

    /// Applies block changes as the store does after the transfers of a change set: the changes in order, then the
    /// top-up.
    fn rearrange(&mut self, changes: &[BlockChange]) {
        for change in changes {
            let posted = match change {
                BlockChange::Hold { account, infraction, end_to_end_id, limit } => {
                    let fresh = Block {
                        account: *account,
                        infraction: *infraction,
                        end_to_end_id: end_to_end_id.clone(),
                        limit: *limit,
                        held: Money::ZERO,
                    };
                    block::hold(self.blocks.entry(*infraction).or_insert(fresh), *limit, self.seized).unwrap()
                }
                BlockChange::End { infraction, held, to, .. } => {
                    let block = self.blocks.remove(infraction).unwrap();
                    assert_eq!(block.held, *held, "decided on the held amount");
                    block::end(&block, to, self.seized).unwrap()
                }
            };
            self.post(&posted);
        }
        let mut blocks: Vec<Block> = self.blocks.values().cloned().collect();
        let (available, pending) = (self.balance(Bucket::Available), self.balance(Bucket::Pending));
        let swept = block::top_up_blocks(money(available), money(pending), &mut blocks).unwrap();
        self.post(&swept);
        self.blocks = blocks.into_iter().map(|block| (block.infraction, block)).collect();
    }

    fn take(&mut self, change: InfractionChange) {
        for infraction in change.siblings.into_iter().chain([change.infraction.clone()]) {
            match self.infractions.iter_mut().find(|known| known.id == infraction.id) {
                Some(known) => *known = infraction,
                None => self.infractions.push(infraction),
            }
        }
        self.charge = change.charge.unwrap_or_else(|| self.charge.clone());
        self.published.extend(change.event.map(|event| (change.infraction.id, event)));
        self.rearrange(&change.blocks);
    }

    /// Applies a step of an infraction. An invalid step has no effect.
    fn step(&mut self, step: Result<InfractionStep, InfractionError>) {
        match step {
            Ok(InfractionStep::Taken(change)) => self.take(*change),
            Ok(InfractionStep::AlreadyTaken(_)) | Err(InfractionError::InvalidState(_)) => {}
            Err(other) => panic!("{other}"),
        }
    }

    /// Opens a further dispute. Earlier disputes have lower numbers.
    pub fn open(&mut self, centavos: i64) {
        let number = self.infractions.len();
        let disputed = Disputed { payment: &self.payment, charge: &self.charge, infractions: &self.infractions };
        let step = Infraction::open(report(number, centavos), disputed, at());
        self.step(step);
    }

    /// Applies a step to the dispute `number`, with its context and its held amount.
    pub fn with(
        &mut self,
        number: usize,
        act: impl FnOnce(Infraction, Disputed<'_>, Money) -> Result<InfractionStep, InfractionError>,
    ) {
        let Some(infraction) = self.infractions.get(number).cloned() else { return };
        let disputed = Disputed { payment: &self.payment, charge: &self.charge, infractions: &self.infractions };
        let held = self.blocks.get(&infraction.id).map_or(Money::ZERO, |block| block.held);
        let step = act(infraction, disputed, held);
        self.step(step);
    }

    pub fn amend(&mut self, number: usize, centavos: i64) {
        self.with(number, |infraction, disputed, _| infraction.amend(&report(number, centavos), disputed));
    }

    /// Applies the report of an accepted dispute before the infraction is resolved.
    pub fn take_precedence(&mut self, number: usize, centavos: i64) {
        self.with(number, |infraction, disputed, _| {
            infraction.take_precedence(Some(&report(number, centavos)), disputed)
        });
    }

    pub fn win(&mut self, number: usize) {
        self.with(number, |infraction, disputed, held| infraction.win(disputed, held, at()));
    }

    pub fn lose(&mut self, number: usize) {
        self.with(number, |infraction, disputed, held| infraction.lose(disputed, held, at()));
    }

    pub fn cancel(&mut self, number: usize) {
        self.with(number, |infraction, disputed, held| infraction.cancel(disputed, held, at()));
    }

    /// Opens a refund, if the rules and the balance permit it.
    pub fn refund(&mut self, centavos: i64) {
        if self.balance(Bucket::Available) < centavos {
            return;
        }
        let id = RefundId::new(Uuid::from_u128(1_000 + u128::try_from(self.refunds.len()).unwrap()));
        let asked = NewRefund { id, amount: Some(money(centavos)), reason: None, external_id: None };
        match Refund::open(self.charge.clone(), asked, main_acquirer(), at()) {
            Ok(RefundStep::Taken(change)) => {
                self.refunds.push(change.refund);
                self.charge = change.charge.unwrap();
                self.post(&change.transfers);
            }
            Ok(RefundStep::AlreadyTaken(_)) => panic!("the refund is new"),
            Err(RefundError::InfractionOpen) => assert!(self.charge.open_infractions > 0),
            Err(RefundError::NotPaid(_) | RefundError::ExceedsAmount { .. }) => {}
            Err(other) => panic!("{other}"),
        }
    }

    /// Completes or fails a refund.
    pub fn settle_refund(&mut self, number: usize, arrives: bool) {
        let Some(refund) = self.refunds.get(number).cloned() else { return };
        let step = if arrives {
            refund.complete(self.charge.clone(), None, at())
        } else {
            refund.fail(self.charge.clone(), "closed".into(), at())
        };
        let Ok(RefundStep::Taken(change)) = step else { return };
        self.refunds[number] = change.refund;
        self.charge = change.charge.unwrap();
        self.post(&change.transfers);
        self.rearrange(&[]);
    }

    /// Credits money from another source to a bucket.
    pub fn earn(&mut self, bucket: Bucket, centavos: i64) {
        *self.balances.entry(LedgerAccount::Merchant(account(), bucket)).or_default() += centavos;
        if bucket == Bucket::Pending {
            self.waits.push_back(centavos);
        }
        self.rearrange(&[]);
    }

    /// Releases the oldest amount that waits.
    pub fn release(&mut self) {
        let Some(centavos) = self.waits.pop_front() else { return };
        let release = Release {
            account: account(),
            end_to_end_id: self.payment.payment.end_to_end_id.clone(),
            charge: self.charge.id,
            amount: money(centavos),
            due_at: at(),
            released_at: None,
            version: 1,
        };
        let (_, transfer) = release.release(at()).unwrap();
        self.post(&[transfer]);
        self.rearrange(&[]);
    }

    /// Spends a part of `available`, in percent.
    pub fn spend(&mut self, percent: i64) {
        let spent = self.balance(Bucket::Available) * percent / 100;
        *self.balances.entry(LedgerAccount::Merchant(account(), Bucket::Available)).or_default() -= spent;
    }

    /// Returns the amount that infractions returned to payers.
    pub fn returned(&self) -> i64 {
        let returned = |infraction: &Infraction| match &infraction.state {
            InfractionState::Lost { returned, .. } => returned.centavos(),
            InfractionState::Open
            | InfractionState::UnderReview { .. }
            | InfractionState::Won { .. }
            | InfractionState::Cancelled { .. } => 0,
        };
        self.infractions.iter().map(returned).sum()
    }
}
