-- Who first used an idempotency key, for what, and what was answered.
CREATE TABLE idempotency_records (
    account_id TEXT COLLATE "C" NOT NULL,
    key TEXT COLLATE "C" NOT NULL,
    fingerprint BYTEA NOT NULL,
    resource_id TEXT NOT NULL,
    fence BIGINT NOT NULL,
    lease_until BIGINT NOT NULL,
    due_at BIGINT,
    answer_status BIGINT,
    answer_request_id TEXT,
    answer_body BYTEA,
    created_at BIGINT NOT NULL,
    PRIMARY KEY (account_id, key),
    CHECK (
        length(fingerprint) = 32 AND fence >= 1 AND (answer_status IS NULL) = (answer_body IS NULL)
        AND (answer_status IS NULL) = (answer_request_id IS NULL) AND (answer_status IS NULL OR due_at IS NULL)
    )
) WITH (toast_tuple_target = 8160);

-- An answer is mostly a picture, which is compressed already; it stays in its row, where a repeat finds it with one look.
-- An answered row is five times as long as before and goes to another page anyway, so pages are filled to the end.
ALTER TABLE idempotency_records ALTER COLUMN answer_body SET STORAGE EXTERNAL;

-- What a worker has to take over: nearly always few rows.
CREATE INDEX idempotency_records_due ON idempotency_records (due_at) WHERE due_at IS NOT NULL;
-- For housekeeping alone; a summary of each range of pages costs the writers next to nothing.
CREATE INDEX idempotency_records_age ON idempotency_records USING brin (created_at);
