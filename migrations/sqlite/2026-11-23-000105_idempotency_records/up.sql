-- Each row is the first use of an idempotency key: its fingerprint, its lease and its stored response.
CREATE TABLE idempotency_records (
    account_id TEXT NOT NULL,
    key TEXT NOT NULL,
    fingerprint BLOB NOT NULL,
    resource_id TEXT NOT NULL,
    fence INTEGER NOT NULL,
    lease_until INTEGER NOT NULL,
    due_at INTEGER,
    response_kind TEXT,
    response_request_id TEXT,
    response_body BLOB,
    created_at INTEGER NOT NULL,
    PRIMARY KEY (account_id, key),
    CHECK (
        length(fingerprint) = 32 AND fence >= 1 AND (response_kind IS NULL) = (response_body IS NULL)
        AND (response_kind IS NULL) = (response_request_id IS NULL)
        AND (response_kind IS NULL OR (response_kind IN ('created', 'existing', 'insufficient_balance') AND due_at IS NULL))
    )
) STRICT;

-- Finds the requests that a worker takes over. Such requests are rare.
CREATE INDEX idempotency_records_due ON idempotency_records (due_at) WHERE due_at IS NOT NULL;
-- Finds the records that housekeeping removes by age. A record enters the index with its response, near the end of the index.
-- Requests that a worker takes over are not in the index.
CREATE INDEX idempotency_records_age ON idempotency_records (created_at) WHERE due_at IS NULL;
