-- Who first used an idempotency key, for what, and what was answered.
-- Room for updates in the same page.
CREATE TABLE idempotency_claims (
    account_id TEXT COLLATE "C" NOT NULL,
    key TEXT COLLATE "C" NOT NULL,
    fingerprint BYTEA NOT NULL CHECK (length(fingerprint) = 32),
    resource_id TEXT NOT NULL,
    fence BIGINT NOT NULL CHECK (fence >= 1),
    lease_until BIGINT NOT NULL,
    due_at BIGINT,
    answer_status BIGINT,
    answer_request_id TEXT,
    answer_body BYTEA,
    created_at BIGINT NOT NULL,
    PRIMARY KEY (account_id, key),
    CHECK ((answer_status IS NULL) = (answer_body IS NULL)),
    CHECK ((answer_status IS NULL) = (answer_request_id IS NULL)),
    CHECK (answer_status IS NULL OR due_at IS NULL)
) WITH (fillfactor = 80);

-- What a worker has to take over: nearly always few rows.
CREATE INDEX idempotency_claims_due ON idempotency_claims (due_at) WHERE due_at IS NOT NULL;
CREATE INDEX idempotency_claims_age ON idempotency_claims (created_at);
