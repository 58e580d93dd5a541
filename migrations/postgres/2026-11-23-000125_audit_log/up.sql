-- Each row is a change by an operator, written in the commit of the change. Rows are never changed or removed.
CREATE TABLE audit_log (
    id TEXT COLLATE "C" PRIMARY KEY,
    changed_at BIGINT NOT NULL,
    operator TEXT NOT NULL,
    source TEXT NOT NULL,
    host TEXT NOT NULL,
    action TEXT NOT NULL,
    subject TEXT NOT NULL,
    account_id TEXT COLLATE "C",
    state_before TEXT,
    state_after TEXT
);

-- Lists the changes of an account.
CREATE INDEX audit_log_account ON audit_log (account_id, id);
