-- Each row is a change by an operator, written in the commit of the change. Rows are never changed or removed.
CREATE TABLE audit_log (
    id TEXT PRIMARY KEY NOT NULL,
    changed_at INTEGER NOT NULL,
    operator TEXT NOT NULL,
    source TEXT NOT NULL,
    host TEXT NOT NULL,
    action TEXT NOT NULL,
    subject TEXT NOT NULL,
    account_id TEXT,
    state_before TEXT,
    state_after TEXT
) STRICT;

-- Lists the changes of an account.
CREATE INDEX audit_log_account ON audit_log (account_id, id);
