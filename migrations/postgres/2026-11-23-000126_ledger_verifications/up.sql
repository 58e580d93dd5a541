-- Each row is the result of one verification of the ledger.
CREATE TABLE ledger_verifications (
    verified_at BIGINT PRIMARY KEY,
    differences BIGINT NOT NULL CHECK (differences >= 0)
);
