//! A long random workload that runs on the tested store and on the store in memory (the model). Every result must be equal.
//!
//! Both stores apply `cais_commit_rules`, so a mistake in these rules goes unnoticed here. The comparison covers everything around
//! the rules: the snapshot that the tested store loads, the effects that it writes, its guards, and its queries. The tests of
//! `cais_commit_rules` compare the rules themselves with an independent model.

mod compare;
mod disputes;
mod money_out;

use std::collections::BTreeSet;

use cais_domain::charge::{Charge, ChargeStatus};
use cais_domain::end_to_end_id::ReturnId;
use cais_domain::event::EventType;
use cais_domain::ids::{AccountId, ChargeId, PayoutId, RefundId};
use cais_domain::ledger::{Bucket, EntryKind, LedgerAccount, Overdraft, SystemAccount, Transfer};
use cais_domain::merchant::account::Account;
use cais_domain::merchant::webhook::{Endpoint, Subscription};
use cais_domain::payment::Payment;
use cais_domain::release::Release;
use cais_ports::{
    ChangeSet, ChargeQueries as _, CommitError, Committed, IdempotencyChange, IdempotencyQueries as _, IdempotencyRef,
    ResponseKind, Store as _,
};

use super::Harness;
use super::harness::{after_s, hold, income, merchant, movement};
use crate::builders::{
    a_payment, a_postback, a_return_id, a_split, an_account, an_endpoint, in_status, main_acquirer, pending_charge,
    steps, subscribed,
};
use crate::memory::MemoryStore;
use crate::random::Random;

/// The seeds of the workloads. A seed that once found a mistake is added.
const SEEDS: [u64; 3] = [1, 42, 20_260_102];
/// The number of change sets of each workload.
const STEPS: u64 = 1_400;
/// Every kind of outcome that a workload must have, in alphabetical order. A correct store has no other kinds.
const KINDS: [&str; 5] = ["committed", "key in use", "not covered", "stale", "taken"];

/// The workload has creations, stored responses, payments, splits, payouts, refunds, releases, infractions, transfers, and new leases of
/// idempotency records. Many of its change sets are stale or collide with others.
pub async fn a_random_workload_agrees_with_the_model(h: &mut Harness) {
    for seed in SEEDS {
        let mut workload = Workload::open(h, seed).await;
        let mut met = BTreeSet::new();
        for step in 0..STEPS {
            let change = workload.next_change().await;
            let expected = workload.model.commit(change.clone()).await;
            let outcome = h.commit(change.clone()).await;
            assert_eq!(outcome, expected, "seed {seed}, step {step}: {change:#?}");
            met.insert(kind(&outcome));
        }
        assert!(met.into_iter().eq(KINDS), "seed {seed} has too few or too many kinds of outcomes");
        let entries = workload.model.entries();
        let never = EntryKind::ALL.into_iter().filter(|kind| entries.iter().all(|entry| entry.kind != *kind));
        assert_eq!(never.collect::<Vec<_>>(), [], "seed {seed} has no entry of these kinds");
        workload.compare(h).await;
    }
}

fn kind(outcome: &Result<Committed, CommitError>) -> &'static str {
    match outcome {
        Ok(_) => "committed",
        Err(CommitError::KeyInUse { .. }) => "key in use",
        Err(CommitError::Taken { .. }) => "taken",
        Err(CommitError::Stale) => "stale",
        Err(CommitError::NotCovered { .. }) => "not covered",
        Err(CommitError::Exists(_)) => "exists",
        Err(CommitError::Unavailable(_) | CommitError::Corrupt(_)) => "failed",
    }
}

struct Workload {
    model: MemoryStore,
    random: Random,
    accounts: Vec<AccountId>,
    charges: Vec<Charge>,
    payments: Vec<Payment>,
    payouts: Vec<(AccountId, PayoutId)>,
    refunds: Vec<(AccountId, RefundId)>,
    returns: Vec<ReturnId>,
    releases: Vec<Release>,
    keys: Vec<IdempotencyRef>,
}

impl Workload {
    async fn open(h: &Harness, seed: u64) -> Self {
        let model = MemoryStore::default();
        let accounts: [Account; 3] = std::array::from_fn(|_| an_account());
        for account in &accounts {
            let open = steps::open_account(account);
            model.commit(open.clone()).await.unwrap();
            h.commit_ok(open).await;
        }
        let accounts = accounts.map(|account| account.id);
        for account in accounts {
            for (slot, subscription) in
                [Subscription::All, subscribed(&[EventType::ChargePaid])].into_iter().enumerate()
            {
                let slot = u8::try_from(slot).unwrap();
                let open = steps::open_endpoint(&Endpoint { subscription, ..an_endpoint(account, slot) });
                model.commit(open.clone()).await.unwrap();
                h.commit_ok(open).await;
            }
        }
        let key = |key: u64| steps::idempotency_ref(accounts[0], &format!("workload-{seed}-{key}"));
        Self {
            model,
            random: Random(seed),
            accounts: accounts.to_vec(),
            charges: Vec::new(),
            payments: (0..40).map(|number| a_payment(900 + 10 * number)).collect(),
            payouts: Vec::new(),
            refunds: Vec::new(),
            returns: (0..20).map(|_| a_return_id()).collect(),
            releases: Vec::new(),
            keys: (0..12).map(key).collect(),
        }
    }

    async fn next_change(&mut self) -> ChangeSet {
        let change = match self.random.below(20) {
            0 | 1 => Some(self.creation()),
            2..=4 => Some(self.payment().await),
            5 => Some(self.another_state().await),
            6 => Some(self.change_key().await),
            7 => Some(self.payout()),
            8..=10 => self.payout_step().await,
            11 => self.refund().await,
            12 => self.refund_step().await,
            13 => self.release().await,
            14 | 15 => self.dispute().await,
            16 | 17 => self.dispute_step().await,
            18 => Some(self.endpoint_step()),
            _ => None,
        };
        change.unwrap_or_else(|| self.movement())
    }

    fn creation(&mut self) -> ChangeSet {
        let mut charge = pending_charge(self.random.one_of(&self.accounts));
        charge.terms.external_id = Some(self.name());
        if self.random.below(2) == 0 {
            let others = self.accounts.iter().copied().filter(|other| *other != charge.account);
            let shares: Vec<_> = others.zip(["33.3333", "0.5"]).collect();
            charge.terms.split = a_split(&shares);
        }
        if self.random.below(3) == 0 {
            let own = self.model.endpoints().into_iter().find(|endpoint| endpoint.account == charge.account);
            charge.terms.postback = own.as_ref().map(a_postback);
        }
        self.charges.push(charge.clone());
        match self.random.below(3) {
            0 => steps::create_charge(&charge, self.random.one_of(&self.keys)),
            _ => steps::open_charge(&charge),
        }
    }

    async fn payment(&mut self) -> ChangeSet {
        let Some(charge) = self.a_known_charge().await else {
            return self.creation();
        };
        let payment = self.random.one_of(&self.payments);
        steps::credit_payment(&charge, payment, self.random.one_of(&[0, 60]), after_s(5))
    }

    async fn another_state(&mut self) -> ChangeSet {
        let Some(mut charge) = self.a_known_charge().await else {
            return self.creation();
        };
        let status = self.random.one_of(&[ChargeStatus::Cancelled, ChargeStatus::Expired, ChargeStatus::Pending]);
        if charge.is_payable() {
            charge = in_status(charge, status);
        }
        if self.random.below(3) == 0 {
            charge.version -= 1;
        }
        steps::update_charge(&charge, after_s(6))
    }

    async fn change_key(&mut self) -> ChangeSet {
        let name = self.random.one_of(&self.keys);
        let known = self.model.find_idempotency_record(&name).await.unwrap();
        let Some(known) = known else {
            return ChangeSet {
                idempotency: Some(IdempotencyChange::Take(steps::new_idempotency_record(name, "chg_1", after_s(0)))),
                ..ChangeSet::new(after_s(0))
            };
        };
        let fence = known.fence - i64::from(self.random.below(4) == 0);
        let idempotency = match self.random.below(3) {
            0 => IdempotencyChange::Retake { name, fence, lease_until: after_s(60) },
            1 => IdempotencyChange::Release { name, fence, due_at: Some(after_s(70)) },
            _ => IdempotencyChange::Answer { name, fence, answer: steps::answer(ResponseKind::Created, b"{}") },
        };
        ChangeSet { idempotency: Some(idempotency), ..ChangeSet::new(after_s(7)) }
    }

    /// Returns a transfer of a crypto deposit, a crypto withdrawal, or a failed crypto withdrawal.
    fn movement(&mut self) -> ChangeSet {
        let account = self.random.one_of(&self.accounts);
        let centavos = i64::try_from(1 + self.random.below(3_000)).unwrap();
        if self.random.below(2) == 0 {
            return steps::transfer(Transfer { kind: EntryKind::CryptoWithdrawal, ..hold(account, centavos) });
        }
        if self.random.below(2) == 0 {
            let (away, available) = (merchant(account, Bucket::InTransit), merchant(account, Bucket::Available));
            let back = movement(away, available, centavos, Overdraft::Forbidden);
            return steps::transfer(Transfer { kind: EntryKind::CryptoWithdrawalFailed, ..back });
        }
        let from = LedgerAccount::system(SystemAccount::Crypto(main_acquirer()), account);
        steps::transfer(Transfer { from, kind: EntryKind::CryptoDeposit, ..income(account, centavos) })
    }

    /// Returns a random charge as the model has stored it; `None` if its creation was refused, or if no charge exists.
    async fn a_known_charge(&mut self) -> Option<Charge> {
        if self.charges.is_empty() {
            return None;
        }
        let charge = self.random.one_of(&self.charges);
        self.model_charge(charge.account, charge.id).await
    }

    async fn model_charge(&self, account: AccountId, id: ChargeId) -> Option<Charge> {
        self.model.find_charge(account, id).await.unwrap()
    }
}
