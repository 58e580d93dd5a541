//! Reads the audit log.

use async_trait::async_trait;
use cais_domain::ids::AuditId;
use cais_ports::{AuditFilter, AuditQueries, AuditRow, Page, PageRequest, QueryError};

use super::page::{after, cut, one_more};
use crate::Persistence;
use crate::rows::Record as _;
use crate::rows::audit::StoredAudit;
use crate::sql::Query;
use crate::sql::table::names;

#[async_trait]
impl AuditQueries for Persistence {
    async fn list_audit(&self, filter: AuditFilter, page: PageRequest<AuditId>) -> Result<Page<AuditRow>, QueryError> {
        let rows = self.pool().read(move |session| {
            let query = filter.account.into_iter().fold(Query::new(page_text(&filter)), Query::bind);
            let texts = [filter.operator.as_deref(), filter.action.as_deref()];
            let query = texts.into_iter().flatten().fold(query, Query::bind);
            session.load(&query.bind(after(page)).bind(one_more(page)))?.into_iter().map(AuditRow::read).collect()
        });
        Ok(cut(rows.await?, page))
    }
}

/// Returns the statement of a page, with a condition for each part of the filter that is set. The caller binds the values in the same
/// order.
fn page_text(filter: &AuditFilter) -> String {
    let conditions = [
        (filter.account.is_some(), "account_id = ? AND "),
        (filter.operator.is_some(), "operator = ? AND "),
        (filter.action.is_some(), "action = ? AND "),
    ];
    let wanted: String = conditions.iter().filter(|(set, _)| *set).map(|(_, condition)| *condition).collect();
    let columns = names::<StoredAudit<'_>>("audit_log");
    format!("SELECT {columns} FROM audit_log WHERE {wanted}id < ? ORDER BY id DESC LIMIT ?")
}

/// Returns the statements of pages that have an index, for the test of their plans. Pages filtered only by operator or by action are rare
/// and have no index.
#[cfg(test)]
pub(super) fn lists() -> Vec<super::walks::List> {
    let page = |account, action: Option<&str>| {
        page_text(&AuditFilter { account, action: action.map(str::to_owned), operator: None })
    };
    let account = || Some(cais_testkit::builders::fresh());
    vec![
        (page(None, None), "'~', 51"),
        (page(account(), None), "'acc_a', '~', 51"),
        (page(account(), Some("key.create")), "'acc_a', 'key.create', '~', 51"),
    ]
}

#[cfg(test)]
mod tests {
    use cais_testkit::builders::fresh;

    use super::super::plans::Planner;
    use super::*;

    #[test]
    fn audit_page_with_or_without_account_needs_no_sort() {
        let mut planner = Planner::new();
        let of_account = AuditFilter { account: Some(fresh()), action: Some("key.create".into()), operator: None };
        for (filter, index) in [(AuditFilter::default(), "sqlite_autoindex"), (of_account, "audit_log_account")] {
            let plan = planner.plan(&page_text(&filter)).join("; ");
            assert!(plan.contains(index) && !plan.contains("TEMP B-TREE"), "{plan}");
        }
    }
}
