//! The audit log: rows become durable with their change, and are returned filtered and page by page.

use cais_domain::merchant::account::{Account, AccountStatus};
use cais_ports::{Actor, AuditFilter, AuditRow, ChangeSet, CommitError, Page, PageRequest, Write};

use super::Harness;
use crate::builders::{fresh, start};

pub(super) fn row(account: &Account, operator: &str, action: &str) -> AuditRow {
    AuditRow {
        id: fresh(),
        at: start(),
        operator: Actor { name: operator.to_owned(), source: "cli".to_owned(), host: "node-1".to_owned() },
        action: action.to_owned(),
        subject: account.id.to_string(),
        account: Some(account.id),
        before: Some(r#"{"status":"active","name":"Pão"}"#.to_owned()),
        after: None,
    }
}

fn suspended(account: &Account, row: &AuditRow) -> ChangeSet {
    let changed = Account { status: AccountStatus::Suspended, ..account.clone() };
    let writes = vec![Write::update(changed), Write::insert(row.clone())];
    ChangeSet { writes, ..ChangeSet::new(row.at) }
}

async fn listed(h: &Harness, filter: AuditFilter, page: PageRequest<cais_domain::ids::AuditId>) -> Page<AuditRow> {
    h.store.list_audit(filter, page).await.unwrap()
}

/// A stale change writes no row, and an accepted change writes one.
pub async fn audit_row_is_written_with_its_change(h: &mut Harness) {
    let account = h.account().await;
    let row = row(&account, "ana", "account.suspend");
    let stale = Account { version: account.version + 1, ..account.clone() };
    assert_eq!(h.commit(suspended(&stale, &row)).await.unwrap_err(), CommitError::Stale);
    let all = PageRequest { limit: 200, starting_after: None };
    assert_eq!(listed(h, AuditFilter::default(), all).await, Page { rows: Vec::new(), has_more: false });
    h.commit_ok(suspended(&account, &row)).await;
    assert_eq!(listed(h, AuditFilter::default(), all).await, Page { rows: vec![row], has_more: false });
}

/// Tests every filter alone and all together. The list is newest first and continues after a row.
pub async fn audit_rows_are_filtered_and_paged(h: &mut Harness) {
    let (one, other) = (h.account().await, h.account().await);
    let mut rows = Vec::new();
    for (account, operator, action) in [
        (&one, "ana", "account.fees"),
        (&other, "ana", "account.fees"),
        (&one, "bia", "account.fees"),
        (&one, "ana", "account.limits"),
    ] {
        let row = row(account, operator, action);
        h.commit_ok(ChangeSet { writes: vec![Write::insert(row.clone())], ..ChangeSet::new(row.at) }).await;
        rows.insert(0, row);
    }
    let all = PageRequest { limit: 200, starting_after: None };
    let text = |text: &str| Some(text.to_owned());
    for (filter, expected) in [
        (AuditFilter::default(), vec![0, 1, 2, 3]),
        (AuditFilter { account: Some(one.id), ..AuditFilter::default() }, vec![0, 1, 3]),
        (AuditFilter { operator: text("bia"), ..AuditFilter::default() }, vec![1]),
        (AuditFilter { action: text("account.fees"), ..AuditFilter::default() }, vec![1, 2, 3]),
        (AuditFilter { account: Some(one.id), operator: text("ana"), action: text("account.fees") }, vec![3]),
        (AuditFilter { operator: text("nobody"), ..AuditFilter::default() }, vec![]),
    ] {
        let expected: Vec<AuditRow> =
            expected.into_iter().filter_map(|index: usize| rows.get(index).cloned()).collect();
        let page = listed(h, filter.clone(), all).await;
        assert_eq!(page, Page { rows: expected, has_more: false }, "{filter:?}");
    }
    let first = listed(h, AuditFilter::default(), PageRequest { limit: 3, starting_after: None }).await;
    let oldest = rows.split_off(3);
    assert_eq!((first.rows.as_slice(), first.has_more), (rows.as_slice(), true));
    let starting_after = first.rows.last().map(|row| row.id);
    let rest = listed(h, AuditFilter::default(), PageRequest { limit: 3, starting_after }).await;
    assert_eq!((rest.rows.as_slice(), rest.has_more), (oldest.as_slice(), false));
}
