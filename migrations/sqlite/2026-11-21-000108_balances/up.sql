-- The running sum of each ledger account; rebuilt from its entries by an audit. `taken` is what infractions took of pending money
-- whose release is still to come.
CREATE TABLE balances (
    holder TEXT NOT NULL,
    bucket TEXT NOT NULL,
    amount INTEGER NOT NULL,
    entries INTEGER NOT NULL CHECK (entries >= 0),
    last_entry_id TEXT,
    taken INTEGER NOT NULL DEFAULT 0 CHECK (taken >= 0),
    PRIMARY KEY (holder, bucket),
    CHECK ((entries = 0) = (last_entry_id IS NULL))
) STRICT, WITHOUT ROWID;
