//! What infractions hold: taken of what is there and of what comes, given back, and nothing where somebody is refused.

use cais_domain::block::{Block, BlockChange, BlockEnd};
use cais_domain::end_to_end_id::EndToEndId;
use cais_domain::ids::{AccountId, InfractionId};
use cais_testkit::builders::fresh;

use super::*;
use crate::committer::plan::BlockWrite;

const PIX: &str = "E1234567820260102030400000000001";

/// A block of the account that holds `held` of `limit`.
fn a_block(account: AccountId, infraction: InfractionId, held: i64, limit: i64) -> Block {
    let (limit, held) = (Money::from_centavos(limit), Money::from_centavos(held));
    Block { account, infraction, end_to_end_id: EndToEndId::parse(PIX).unwrap(), limit, held }
}

/// An account with these centavos available, pending and blocked, `taken` of what was pending, and these blocks.
fn holding(account: AccountId, [available, pending, blocked, taken]: [i64; 4], known: &[Block]) -> Books {
    let mut books = books(account, available);
    for (bucket, amount) in [(Bucket::Pending, pending), (Bucket::Blocked, blocked)] {
        let balance = Balance { amount: Money::from_centavos(amount), ..Balance::default() };
        books.balances.insert(merchant(account, bucket), balance);
    }
    books.balances.get_mut(&merchant(account, Bucket::Pending)).unwrap().taken = Money::from_centavos(taken);
    let settlement = LedgerAccount::System(SystemAccount::Settlement(main_acquirer()), 0);
    books.balances.insert(settlement, Balance::default());
    books.blocks.insert(account, known.iter().map(|block| (block.infraction, block.clone())).collect());
    books
}

fn hold_for(account: AccountId, infraction: InfractionId, limit: i64) -> ChangeSet {
    let (end_to_end_id, limit) = (EndToEndId::parse(PIX).unwrap(), Money::from_centavos(limit));
    let blocks = vec![BlockChange::Hold { account, infraction, end_to_end_id, limit }];
    ChangeSet { blocks, ..ChangeSet::new(start()) }
}

fn end(account: AccountId, infraction: InfractionId, held: i64, to: BlockEnd) -> ChangeSet {
    let blocks = vec![BlockChange::End { account, infraction, held: Money::from_centavos(held), to }];
    ChangeSet { blocks, ..ChangeSet::new(start()) }
}

fn income(account: AccountId, bucket: Bucket, centavos: i64) -> ChangeSet {
    let from = LedgerAccount::System(SystemAccount::Settlement(main_acquirer()), 0);
    let to = merchant(account, bucket);
    let transfers = vec![Transfer { from, to, overdraft: Overdraft::Allowed, ..hold(account, centavos) }];
    ChangeSet { transfers, ..ChangeSet::new(start()) }
}

fn release(account: AccountId, centavos: i64) -> ChangeSet {
    let (from, to) = (merchant(account, Bucket::Pending), merchant(account, Bucket::Available));
    let kind = EntryKind::Release;
    let transfers = vec![Transfer { from, to, overdraft: Overdraft::Forbidden, kind, ..hold(account, centavos) }];
    ChangeSet { transfers, ..ChangeSet::new(start()) }
}

/// What is available, pending, blocked and taken after the batch.
fn after(judged: &Judged<'_>, account: AccountId) -> [i64; 4] {
    let of = |bucket| *judged.books.balances.get(&merchant(account, bucket)).unwrap();
    let pending = of(Bucket::Pending);
    [of(Bucket::Available).amount, pending.amount, of(Bucket::Blocked).amount, pending.taken].map(Money::centavos)
}

/// What the rows of blocks say after the batch: whether one is there before, and what it holds of what.
fn rows(judged: &Judged<'_>) -> Vec<(bool, Option<(i64, i64)>)> {
    let amounts = |block: &Block| (block.held.centavos(), block.limit.centavos());
    judged.plan.blocks.values().map(|BlockWrite { stored, now }| (*stored, now.as_ref().map(amounts))).collect()
}

fn is_moving(judged: &Judged<'_>, moves: &[(EntryKind, i64)]) -> bool {
    let entries = judged.plan.entries.iter().map(|entry| (entry.transfer.kind, entry.amount.centavos()));
    entries.eq(moves.iter().copied())
}

#[test]
fn a_block_takes_what_is_there_and_the_rest_of_what_comes_the_oldest_first() {
    let account = an_account().id;
    let [older, younger] = [fresh(), fresh()];
    let changes = [
        hold_for(account, younger, 50),
        hold_for(account, older, 100),
        income(account, Bucket::Pending, 30),
        income(account, Bucket::Available, 200),
    ];
    let judged = judged(&changes, Observed::default(), holding(account, [60, 25, 0, 0], &[]));
    assert!(judged.verdicts.iter().all(Result::is_ok), "{:?}", judged.verdicts);
    // Of 85 the younger got its 50 before the older was known; then all that comes is the older's until it has its 100.
    assert_eq!(after(&judged, account), [165, 0, 150, 55]);
    assert_eq!(rows(&judged), [(false, Some((100, 100))), (false, Some((50, 50)))]);
}

#[test]
fn what_is_above_a_lower_limit_goes_to_who_lacks_it_before_anybody_may_use_it() {
    let account = an_account().id;
    let [older, younger] = [fresh(), fresh()];
    let known = [a_block(account, older, 100, 100), a_block(account, younger, 10, 60)];
    let changes = [hold_for(account, older, 30)];
    let judged = judged(&changes, Observed::default(), holding(account, [0, 0, 110, 0], &known));
    assert_eq!(after(&judged, account), [20, 0, 90, 0]);
    assert_eq!(rows(&judged), [(true, Some((30, 30))), (true, Some((60, 60)))]);
    let (released, taken) = (EntryKind::InfractionReleased, EntryKind::Infraction);
    assert!(is_moving(&judged, &[(released, -70), (released, 70), (taken, -50), (taken, 50)]));
}

#[test]
fn what_is_freed_waits_again_as_far_as_it_was_taken_before_its_release() {
    let account = an_account().id;
    let [older, younger] = [fresh(), fresh()];
    let known = [a_block(account, older, 100, 100), a_block(account, younger, 10, 60)];
    let changes = [hold_for(account, older, 30), end(account, younger, 60, BlockEnd::Released), release(account, 40)];
    let judged = judged(&changes, Observed::default(), holding(account, [0, 0, 110, 80], &known));
    assert_eq!(judged.verdicts, [good(&[]), good(&[]), good(&[])]);
    assert_eq!(after(&judged, account), [40, 40, 30, 0]);
    let (released, taken) = (EntryKind::InfractionReleased, EntryKind::Infraction);
    let first = [(released, -70), (released, 70), (taken, -50), (taken, 50)];
    let second = [(released, -60), (released, 60), (EntryKind::Release, -40), (EntryKind::Release, 40)];
    assert!(is_moving(&judged, &[first, second].concat()), "{:?}", judged.plan.entries);
}

#[test]
fn a_block_ends_only_with_what_was_read() {
    let account = an_account().id;
    let (infraction, unknown) = (fresh(), fresh());
    let known = [a_block(account, infraction, 70, 100)];
    let settlement = LedgerAccount::System(SystemAccount::Settlement(main_acquirer()), 0);
    let changes = [
        end(account, infraction, 69, BlockEnd::Released),
        end(account, unknown, 0, BlockEnd::Released),
        end(account, infraction, 70, BlockEnd::Returned(settlement.clone())),
        end(account, infraction, 70, BlockEnd::Released),
    ];
    let judged = judged(&changes, Observed::default(), holding(account, [0, 0, 70, 0], &known));
    let stale = || Err(CommitError::Stale);
    assert_eq!(judged.verdicts, [stale(), stale(), good(&[]), stale()]);
    assert_eq!(after(&judged, account), [0, 0, 0, 0]);
    assert_eq!(judged.books.balances.get(&settlement).unwrap().amount, Money::from_centavos(70));
    assert_eq!(rows(&judged), [(true, None)]);
}

#[test]
fn who_is_refused_takes_nothing_and_blocks_nothing() {
    let account = an_account().id;
    let mut uncovered = hold_for(account, fresh(), 10);
    uncovered.transfers.push(hold(account, 101));
    let mut negative = hold_for(account, fresh(), -1);
    negative.transfers.push(hold(account, 1));
    let changes = [uncovered, negative];
    let judged = judged(&changes, Observed::default(), holding(account, [100, 0, 0, 0], &[]));
    assert!(matches!(judged.verdicts.as_slice(), [Err(CommitError::NotCovered { .. }), Err(CommitError::Corrupt(_))]));
    assert!(judged.plan.is_empty());
    assert_eq!(after(&judged, account), [100, 0, 0, 0]);
}

#[test]
fn a_payout_after_a_block_has_what_is_left() {
    let account = an_account().id;
    let pay = |centavos| ChangeSet { transfers: vec![hold(account, centavos)], ..ChangeSet::new(start()) };
    let changes = [pay(40), hold_for(account, fresh(), 50), pay(11), pay(10), pay(1)];
    let judged = judged(&changes, Observed::default(), holding(account, [100, 0, 0, 0], &[]));
    let refused = |centavos| Err(not_covered(account, Bucket::Available, centavos));
    assert_eq!(judged.verdicts, [good(&[]), good(&[]), refused(10), good(&[]), refused(0)]);
}

#[test]
fn a_release_moves_less_by_what_was_taken_and_what_is_released_first_is_what_was_taken() {
    let account = an_account().id;
    let changes = [release(account, 40), release(account, 50), release(account, 60), release(account, 1)];
    let judged = judged(&changes, Observed::default(), holding(account, [0, 80, 70, 70], &[]));
    let uncovered = Err(not_covered(account, Bucket::Pending, 0));
    assert_eq!(judged.verdicts, [good(&[]), good(&[]), good(&[]), uncovered]);
    assert_eq!(after(&judged, account), [80, 0, 70, 0]);
    let kind = EntryKind::Release;
    assert!(is_moving(&judged, &[(kind, -20), (kind, 20), (kind, -60), (kind, 60)]));
}

#[test]
fn a_release_of_which_all_was_taken_leaves_no_entry_and_is_remembered() {
    let account = an_account().id;
    let changes = [release(account, 40)];
    let judged = judged(&changes, Observed::default(), holding(account, [0, 0, 70, 70], &[]));
    assert_eq!(judged.verdicts, [good(&[])]);
    assert_eq!(after(&judged, account), [0, 0, 70, 30]);
    assert!(judged.plan.entries.is_empty());
    assert!(judged.plan.unmoved.iter().eq([&merchant(account, Bucket::Pending)]));
}

#[test]
fn a_block_that_opens_and_ends_in_one_batch_has_no_row() {
    let account = an_account().id;
    let infraction = fresh();
    let changes = [hold_for(account, infraction, 50), end(account, infraction, 50, BlockEnd::Released)];
    let judged = judged(&changes, Observed::default(), holding(account, [100, 0, 0, 0], &[]));
    assert_eq!(judged.verdicts, [good(&[]), good(&[])]);
    assert_eq!(after(&judged, account), [100, 0, 0, 0]);
    assert_eq!(rows(&judged), [(false, None)]);
}
