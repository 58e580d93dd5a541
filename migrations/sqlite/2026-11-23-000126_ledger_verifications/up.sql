-- Each row is the result of one verification of the ledger.
CREATE TABLE ledger_verifications (
    verified_at INTEGER PRIMARY KEY,
    differences INTEGER NOT NULL CHECK (differences >= 0)
) STRICT;
