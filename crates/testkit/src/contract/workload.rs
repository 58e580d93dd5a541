//! A long random workload: the store and the store in memory agree on every outcome and on what is true afterwards.

use std::collections::BTreeSet;

use cais_domain::account::Account;
use cais_domain::charge::{Charge, ChargeStatus};
use cais_domain::external_id::ExternalId;
use cais_domain::ids::AccountId;
use cais_domain::ledger::{Bucket, Cover};
use cais_domain::payment::Payment;
use cais_ports::{
    ChangeSet, ChargeQueries as _, ClaimChange, ClaimQueries as _, ClaimRef, CommitError, Committed, Maintenance as _,
    Page, PageRequest, Store as _,
};

use super::Harness;
use super::harness::{after_s, hold, merchant, movement};
use crate::builders::{a_payment, an_account, in_status, pending_charge, steps};
use crate::memory::MemoryStore;

/// Seeds of the workloads; one that ever failed is added.
const SEEDS: [u64; 3] = [1, 42, 20_260_102];
/// Change sets of each workload.
const STEPS: u64 = 250;
/// Every kind of outcome that a right store has.
const KINDS: [&str; 5] = ["claimed", "committed", "not covered", "stale", "taken"];

/// Creations, answers, payments, transfers and takeovers, right and wrong, with many collisions.
pub async fn a_random_workload_agrees_with_the_model(h: &mut Harness) {
    for seed in SEEDS {
        let mut world = World::open(h, seed).await;
        let mut met = BTreeSet::new();
        for step in 0..STEPS {
            let change = world.next_change().await;
            let expected = world.model.commit(change.clone()).await;
            let outcome = h.commit(change.clone()).await;
            assert_eq!(outcome, expected, "seed {seed}, step {step}: {change:#?}");
            met.insert(kind(&outcome));
        }
        assert!(met.into_iter().eq(KINDS), "seed {seed} does not meet every kind of outcome");
        world.compare(h).await;
    }
}

fn kind(outcome: &Result<Committed, CommitError>) -> &'static str {
    match outcome {
        Ok(_) => "committed",
        Err(CommitError::Claimed { .. }) => "claimed",
        Err(CommitError::Taken { .. }) => "taken",
        Err(CommitError::Stale) => "stale",
        Err(CommitError::NotCovered { .. }) => "not covered",
        Err(CommitError::Unavailable(_) | CommitError::Corrupt(_)) => "failed",
    }
}

struct World {
    model: MemoryStore,
    random: Random,
    accounts: Vec<AccountId>,
    charges: Vec<Charge>,
    payments: Vec<Payment>,
    claims: Vec<ClaimRef>,
}

impl World {
    async fn open(h: &Harness, seed: u64) -> Self {
        let model = MemoryStore::default();
        let accounts: [Account; 3] = std::array::from_fn(|_| an_account());
        for account in &accounts {
            let open = steps::open_account(account);
            model.commit(open.clone()).await.unwrap();
            h.good(open).await;
        }
        let accounts = accounts.map(|account| account.id);
        let key = |key: u64| steps::claim_name(accounts[0], &format!("workload-{seed}-{key}"));
        Self {
            model,
            random: Random(seed),
            accounts: accounts.to_vec(),
            charges: Vec::new(),
            payments: (0..40).map(|number| a_payment(900 + 10 * number)).collect(),
            claims: (0..12).map(key).collect(),
        }
    }

    async fn next_change(&mut self) -> ChangeSet {
        match self.random.below(8) {
            0 | 1 => self.creation(),
            2 | 3 => self.payment().await,
            4 => self.another_state().await,
            5 => self.claim().await,
            _ => self.movement(),
        }
    }

    fn creation(&mut self) -> ChangeSet {
        let mut charge = pending_charge(self.random.one_of(&self.accounts));
        let name = format!("order {}", self.random.below(40));
        charge.terms.external_id = Some(ExternalId::parse(&name).unwrap());
        self.charges.push(charge.clone());
        match self.random.below(3) {
            0 => steps::create_charge(&charge, self.random.one_of(&self.claims)),
            _ => steps::open_charge(&charge),
        }
    }

    async fn payment(&mut self) -> ChangeSet {
        let Some(charge) = self.a_known_charge().await else {
            return self.creation();
        };
        let payment = self.random.one_of(&self.payments);
        steps::confirm_payment(&charge, payment, after_s(5))
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

    async fn claim(&mut self) -> ChangeSet {
        let name = self.random.one_of(&self.claims);
        let known = self.model.find_claim(&name).await.unwrap();
        let Some(known) = known else {
            return ChangeSet {
                claim: Some(ClaimChange::Take(steps::new_claim(name, "chg_1", after_s(0)))),
                ..ChangeSet::new(after_s(0))
            };
        };
        let fence = known.fence - i64::from(self.random.below(4) == 0);
        let claim = match self.random.below(3) {
            0 => ClaimChange::Retake { name, fence, lease_until: after_s(60) },
            1 => ClaimChange::Release { name, fence, due_at: Some(after_s(70)) },
            _ => ClaimChange::Answer { name, fence, answer: steps::answer(201, b"{}") },
        };
        ChangeSet { claim: Some(claim), ..ChangeSet::new(after_s(7)) }
    }

    fn movement(&mut self) -> ChangeSet {
        let account = self.random.one_of(&self.accounts);
        let centavos = i64::try_from(1 + self.random.below(3_000)).unwrap();
        if self.random.below(2) == 0 {
            return steps::transfer(hold(account, centavos));
        }
        let [one, two, three, four] = Bucket::ALL;
        let pairs = [(one, two), (two, one), (one, three), (three, one), (four, one), (two, three)];
        let (from, to) = self.random.one_of(&pairs);
        let (from, to) = (merchant(account, from), merchant(account, to));
        steps::transfer(movement(from, to, centavos, Cover::Required))
    }

    /// As it is in the store, or was never stored.
    async fn a_known_charge(&mut self) -> Option<Charge> {
        if self.charges.is_empty() {
            return None;
        }
        let charge = self.random.one_of(&self.charges);
        self.model.find_charge(charge.account, charge.id).await.unwrap()
    }

    async fn compare(&self, h: &Harness) {
        for account in self.accounts.iter().copied() {
            let expected = cais_ports::BalanceQueries::balances(&self.model, account).await;
            assert_eq!(h.store.balances(account).await, expected);
            let expected = self.model.last_sequence(account).await;
            assert_eq!(h.store.last_sequence(account).await, expected);
            let page = PageRequest { limit: 200, starting_after: None };
            let expected: Page<Charge> = self.model.list_charges(account, page).await.unwrap();
            assert_eq!(h.store.list_charges(account, page).await.unwrap(), expected);
        }
        for name in &self.claims {
            let mut stored = h.store.find_claim(name).await.unwrap();
            let mut expected = self.model.find_claim(name).await.unwrap();
            for claim in [&mut stored, &mut expected].into_iter().flatten() {
                // The lease of an answered claim means nothing.
                claim.lease_until = claim.answer.as_ref().map_or(claim.lease_until, |_| after_s(0));
            }
            assert_eq!(stored, expected);
        }
        assert_eq!(self.model.verify_ledger().await.unwrap().differences, []);
        h.audit().await;
    }
}

/// `SplitMix64`: small, and the same everywhere.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % limit
    }

    fn one_of<T: Clone>(&mut self, choices: &[T]) -> T {
        let place = self.below(u64::try_from(choices.len()).unwrap());
        choices.get(usize::try_from(place).unwrap()).unwrap().clone()
    }
}
