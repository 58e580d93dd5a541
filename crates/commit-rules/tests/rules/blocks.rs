//! Tests money held for infractions: blocked from existing money and from later credits, and freed.

use cais_domain::block::{Block, BlockChange, BlockEnd};
use cais_domain::end_to_end_id::EndToEndId;
use cais_domain::ids::InfractionId;
use cais_testkit::builders::{an_account, fresh};

use super::*;

const PIX: &str = "E1234567820260102030400000000001";

/// Returns a block of the account that holds `held` of `limit`.
fn block(account: AccountId, infraction: InfractionId, held: i64, limit: i64) -> Block {
    let (limit, held) = (Money::from_centavos(limit), Money::from_centavos(held));
    Block { account, infraction, end_to_end_id: EndToEndId::parse(PIX).unwrap(), limit, held }
}

/// Returns a snapshot with these centavos available, pending, blocked and seized from `pending`, and with these blocks.
fn holding(account: AccountId, [available, pending, blocked, seized]: [i64; 4], blocks: &[Block]) -> Snapshot {
    let mut snapshot = snapshot(account, available);
    for (bucket, amount, seized) in [(Bucket::Pending, pending, seized), (Bucket::Blocked, blocked, 0)] {
        let (amount, seized_from_pending) = (Money::from_centavos(amount), Money::from_centavos(seized));
        let balance = Balance { amount, seized_from_pending, ..Balance::default() };
        snapshot.ledger.balances.insert(merchant(account, bucket), balance);
    }
    snapshot.ledger.balances.insert(settlement(), Balance::default());
    snapshot.ledger.blocks.insert(account, blocks.iter().map(|one| (one.infraction, one.clone())).collect());
    snapshot
}

fn hold(account: AccountId, infraction: InfractionId, limit: i64) -> ChangeSet {
    let (end_to_end_id, limit) = (EndToEndId::parse(PIX).unwrap(), Money::from_centavos(limit));
    let blocks = vec![BlockChange::Hold { account, infraction, end_to_end_id, limit }];
    ChangeSet { blocks, ..ChangeSet::new(start()) }
}

fn end(account: AccountId, infraction: InfractionId, held: i64, to: BlockEnd) -> ChangeSet {
    let blocks = vec![BlockChange::End { account, infraction, held: Money::from_centavos(held), to }];
    ChangeSet { blocks, ..ChangeSet::new(start()) }
}

fn release(account: AccountId, centavos: i64) -> ChangeSet {
    let (from, to) = (merchant(account, Bucket::Pending), merchant(account, Bucket::Available));
    moving(Transfer { from, to, kind: EntryKind::Release, ..outgoing(account, centavos) })
}

/// Returns the amounts available, pending, blocked and seized from `pending` afterwards.
fn after(judged: &Judged<'_>, account: AccountId) -> [i64; 4] {
    let of = |bucket| judged.balance(&merchant(account, bucket));
    let pending = of(Bucket::Pending);
    let amounts =
        [of(Bucket::Available).amount, pending.amount, of(Bucket::Blocked).amount, pending.seized_from_pending];
    amounts.map(Money::centavos)
}

/// Returns the entries of transfers with these kinds and amounts.
fn legs(transfers: &[(EntryKind, i64)]) -> Vec<(EntryKind, i64)> {
    transfers.iter().flat_map(|(kind, amount)| [(*kind, -amount), (*kind, *amount)]).collect()
}

#[test]
fn block_seizes_the_balance_then_later_credits_oldest_first() {
    let account = an_account().id;
    let [older, younger] = [fresh(), fresh()];
    let changes = [
        hold(account, younger, 50),
        hold(account, older, 100),
        moving(incoming(account, Bucket::Pending, 30)),
        moving(incoming(account, Bucket::Available, 200)),
    ];
    let judged = judge_all(&changes, holding(account, [60, 25, 0, 0], &[]));
    assert!(judged.verdicts.iter().all(Result::is_ok), "{:?}", judged.verdicts);
    // The younger block received 50 of the 85 before the older block existed. Then the older block receives every credit until it holds
    // 100.
    assert_eq!(after(&judged, account), [165, 0, 150, 55]);
    let held: Vec<_> = judged.after.ledger.blocks.get(&account).unwrap().values().map(|one| one.held).collect();
    assert_eq!(held, [100, 50].map(Money::from_centavos));
}

#[test]
fn money_above_a_lower_limit_tops_up_other_blocks_first() {
    let account = an_account().id;
    let [older, younger] = [fresh(), fresh()];
    let blocks = [block(account, older, 100, 100), block(account, younger, 10, 60)];
    let changes = [hold(account, older, 30)];
    let judged = judge_all(&changes, holding(account, [0, 0, 110, 0], &blocks));
    assert_eq!(after(&judged, account), [20, 0, 90, 0]);
    assert_eq!(judged.block_writes(), [(true, Some((30, 30))), (true, Some((60, 60)))]);
    assert_eq!(judged.moves(), legs(&[(EntryKind::InfractionReleased, 70), (EntryKind::Infraction, 50)]));
}

#[test]
fn seized_money_returns_to_pending_when_it_is_freed() {
    let account = an_account().id;
    let [older, younger] = [fresh(), fresh()];
    let blocks = [block(account, older, 100, 100), block(account, younger, 10, 60)];
    let changes = [hold(account, older, 30), end(account, younger, 60, BlockEnd::Released), release(account, 40)];
    let judged = judge_all(&changes, holding(account, [0, 0, 110, 80], &blocks));
    assert_eq!(judged.verdicts, [accepted(&[]), accepted(&[]), accepted(&[])]);
    assert_eq!(after(&judged, account), [40, 40, 30, 0]);
    let (released, blocked) = (EntryKind::InfractionReleased, EntryKind::Infraction);
    let expected = legs(&[(released, 70), (blocked, 50), (released, 60), (EntryKind::Release, 40)]);
    assert_eq!(judged.moves(), expected);
}

#[test]
fn block_ends_only_with_the_amount_that_was_read() {
    let account = an_account().id;
    let (infraction, unknown) = (fresh(), fresh());
    let changes = [
        end(account, infraction, 69, BlockEnd::Released),
        end(account, unknown, 0, BlockEnd::Released),
        end(account, infraction, 70, BlockEnd::Returned(settlement())),
        end(account, infraction, 70, BlockEnd::Released),
    ];
    let judged = judge_all(&changes, holding(account, [0, 0, 70, 0], &[block(account, infraction, 70, 100)]));
    let stale = || Err(CommitError::Stale);
    assert_eq!(judged.verdicts, [stale(), stale(), accepted(&[]), stale()]);
    assert_eq!(after(&judged, account), [0, 0, 0, 0]);
    assert_eq!(judged.balance(&settlement()).amount, Money::from_centavos(70));
    assert_eq!(judged.block_writes(), [(true, None)]);
}

#[test]
fn refused_change_set_moves_and_blocks_nothing() {
    let account = an_account().id;
    let mut uncovered = hold(account, fresh(), 10);
    uncovered.transfers.push(outgoing(account, 101));
    let mut negative = hold(account, fresh(), -1);
    negative.transfers.push(outgoing(account, 1));
    let before = holding(account, [100, 0, 0, 0], &[]);
    let changes = [uncovered, negative];
    let judged = judge_all(&changes, before.clone());
    assert!(matches!(judged.verdicts.as_slice(), [Err(CommitError::NotCovered { .. }), Err(CommitError::Corrupt(_))]));
    assert_eq!(judged.after, before);
}

#[test]
fn payout_after_a_block_is_covered_by_the_rest() {
    let account = an_account().id;
    let pay = |centavos| moving(outgoing(account, centavos));
    let changes = [pay(40), hold(account, fresh(), 50), pay(11), pay(10), pay(1)];
    let judged = judge_all(&changes, holding(account, [100, 0, 0, 0], &[]));
    let refused = |centavos| not_covered(account, Bucket::Available, centavos);
    assert_eq!(judged.verdicts, [accepted(&[]), accepted(&[]), refused(10), accepted(&[]), refused(0)]);
}

#[test]
fn release_moves_the_amount_less_the_seized_part() {
    let account = an_account().id;
    let changes = [40, 50, 60, 1].map(|centavos| release(account, centavos));
    let judged = judge_all(&changes, holding(account, [0, 80, 70, 70], &[]));
    let uncovered = not_covered(account, Bucket::Pending, 0);
    assert_eq!(judged.verdicts, [accepted(&[]), accepted(&[]), accepted(&[]), uncovered]);
    assert_eq!(after(&judged, account), [80, 0, 70, 0]);
    assert_eq!(judged.moves(), legs(&[(EntryKind::Release, 20), (EntryKind::Release, 60)]));
}

#[test]
fn release_of_seized_money_changes_the_balance_without_entry() {
    let account = an_account().id;
    let changes = [release(account, 40)];
    let judged = judge_all(&changes, holding(account, [0, 0, 70, 70], &[]));
    assert_eq!(judged.verdicts, [accepted(&[])]);
    assert_eq!(after(&judged, account), [0, 0, 70, 30]);
    let effects = judged.effects.first().unwrap();
    assert_eq!(effects.entries, []);
    assert!(effects.balances.keys().eq([&merchant(account, Bucket::Pending)]));
}
