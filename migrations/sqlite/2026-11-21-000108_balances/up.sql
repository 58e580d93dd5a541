-- The running sum of each ledger account; rebuilt from its entries by an audit.
CREATE TABLE balances (
    holder TEXT NOT NULL,
    bucket TEXT NOT NULL,
    amount INTEGER NOT NULL,
    entries INTEGER NOT NULL CHECK (entries >= 0),
    last_entry_id TEXT,
    PRIMARY KEY (holder, bucket),
    CHECK ((entries = 0) = (last_entry_id IS NULL))
) STRICT, WITHOUT ROWID;
