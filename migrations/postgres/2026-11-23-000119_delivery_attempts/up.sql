-- Each row is an attempt of a delivery and its result. `fence` is the number of the claim under which the attempt was made.
CREATE TABLE delivery_attempts (
    account_id TEXT COLLATE "C" NOT NULL,
    delivery_id TEXT COLLATE "C" NOT NULL,
    fence BIGINT NOT NULL,
    at BIGINT NOT NULL,
    status_code BIGINT,
    duration_ms BIGINT NOT NULL,
    error TEXT,
    response_body TEXT,
    PRIMARY KEY (account_id, delivery_id, fence)
);
