-- Each row is the first use of an idempotency key: its fingerprint, its lease and its stored response.
-- The table has a single CHECK, because the server parses every CHECK again for each statement.
-- A row with a response is five times as long as before and moves to another page. So pages are filled to the end.
CREATE TABLE idempotency_records (
    account_id TEXT COLLATE "C" NOT NULL,
    key TEXT COLLATE "C" NOT NULL,
    fingerprint BYTEA NOT NULL,
    resource_id TEXT NOT NULL,
    fence BIGINT NOT NULL,
    lease_until BIGINT NOT NULL,
    due_at BIGINT,
    response_kind TEXT,
    response_request_id TEXT,
    response_body BYTEA,
    created_at BIGINT NOT NULL,
    PRIMARY KEY (account_id, key),
    CHECK (
        length(fingerprint) = 32 AND fence >= 1 AND (response_kind IS NULL) = (response_body IS NULL)
        AND (response_kind IS NULL) = (response_request_id IS NULL)
        AND (response_kind IS NULL OR (response_kind IN ('created', 'existing', 'insufficient_balance') AND due_at IS NULL))
    )
) WITH (toast_tuple_target = 8160);

-- A response consists mostly of an image that is compressed already. So the response is stored uncompressed in its row, where a replay
-- finds it with a single read.
ALTER TABLE idempotency_records ALTER COLUMN response_body SET STORAGE EXTERNAL;

-- Finds the requests that a worker takes over. Such requests are rare.
CREATE INDEX idempotency_records_due ON idempotency_records (due_at) WHERE due_at IS NOT NULL;
-- Finds the records that housekeeping removes by age. A record enters the index with its response, near the end of the index.
-- Requests that a worker takes over are not in the index.
CREATE INDEX idempotency_records_age ON idempotency_records (created_at) WHERE due_at IS NULL;
