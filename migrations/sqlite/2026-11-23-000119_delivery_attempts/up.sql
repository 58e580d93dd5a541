-- Each row is an attempt of a delivery and its result. `fence` is the number of the claim under which the attempt was made.
CREATE TABLE delivery_attempts (
    account_id TEXT NOT NULL,
    delivery_id TEXT NOT NULL,
    fence INTEGER NOT NULL,
    at INTEGER NOT NULL,
    status_code INTEGER,
    duration_ms INTEGER NOT NULL,
    error TEXT,
    response_body TEXT,
    PRIMARY KEY (account_id, delivery_id, fence)
) STRICT, WITHOUT ROWID;
