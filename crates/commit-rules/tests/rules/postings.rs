//! Tests cover, running balances, and the range of money.

use cais_testkit::builders::an_account;

use super::*;

#[test]
fn cover_uses_the_balance_after_earlier_change_sets() {
    let account = an_account().id;
    let changes = [60, 50, 40, 1].map(|centavos| moving(outgoing(account, centavos)));
    let judged = judge_all(&changes, snapshot(account, 100));
    let refused = |centavos| not_covered(account, Bucket::Available, centavos);
    assert_eq!(judged.verdicts, [accepted(&[]), refused(40), accepted(&[]), refused(0)]);
    let entries = judged.effects.iter().flat_map(|effects| &effects.entries);
    let after: Vec<i64> = entries.map(|entry| entry.balance_after.centavos()).collect();
    assert_eq!(after, [40, 60, 0, 100]);
    assert_eq!(judged.balance(&merchant(account, Bucket::InTransit)).entries, 2);
}

#[test]
fn cover_refusal_reports_the_balance_before_the_change_set() {
    let account = an_account().id;
    let transfers = vec![outgoing(account, 70), outgoing(account, 70)];
    let changes = [ChangeSet { transfers, ..ChangeSet::new(start()) }];
    let judged = judge_all(&changes, snapshot(account, 100));
    assert_eq!(judged.verdicts, [not_covered(account, Bucket::Available, 100)]);
    assert_eq!(judged.after, snapshot(account, 100));
}

#[test]
fn balance_out_of_range_refuses_only_its_change_set() {
    let account = an_account().id;
    let changes = [11, 10].map(|centavos| moving(incoming(account, Bucket::Available, centavos)));
    let judged = judge_all(&changes, snapshot(account, 0));
    assert!(matches!(judged.verdicts.as_slice(), [Err(CommitError::Corrupt(_)), Ok(_)]), "{:?}", judged.verdicts);
}

#[test]
fn transfer_of_nothing_or_less_is_refused() {
    let account = an_account().id;
    let changes = [0, -1].map(|centavos| moving(outgoing(account, centavos)));
    let judged = judge_all(&changes, snapshot(account, 100));
    assert!(judged.verdicts.iter().all(|verdict| matches!(verdict, Err(CommitError::Corrupt(_)))));
    assert_eq!(judged.after, snapshot(account, 100));
}

#[test]
fn missing_ledger_row_refuses_the_change_set() {
    let account = an_account().id;
    let changes = [moving(incoming(an_account().id, Bucket::Available, 1))];
    let judged = judge_all(&changes, snapshot(account, 100));
    assert!(matches!(judged.verdicts.as_slice(), [Err(CommitError::Corrupt(_))]));
}
