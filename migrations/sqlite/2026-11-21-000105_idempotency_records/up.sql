-- Who first used an idempotency key, for what, and what was answered.
CREATE TABLE idempotency_records (
    account_id TEXT NOT NULL,
    key TEXT NOT NULL,
    fingerprint BLOB NOT NULL,
    resource_id TEXT NOT NULL,
    fence INTEGER NOT NULL,
    lease_until INTEGER NOT NULL,
    due_at INTEGER,
    answer_status INTEGER,
    answer_request_id TEXT,
    answer_body BLOB,
    created_at INTEGER NOT NULL,
    PRIMARY KEY (account_id, key),
    CHECK (
        length(fingerprint) = 32 AND fence >= 1 AND (answer_status IS NULL) = (answer_body IS NULL)
        AND (answer_status IS NULL) = (answer_request_id IS NULL) AND (answer_status IS NULL OR due_at IS NULL)
    )
) STRICT;

-- What a worker has to take over: nearly always few rows.
CREATE INDEX idempotency_records_due ON idempotency_records (due_at) WHERE due_at IS NOT NULL;
CREATE INDEX idempotency_records_age ON idempotency_records (created_at);
