-- Each row is the balance of a ledger account: the sum of its entries. An audit computes the sums again.
-- `seized` is the amount that infractions blocked in `pending` before its release. The release moves less by that amount.
CREATE TABLE balances (
    holder TEXT NOT NULL,
    bucket TEXT NOT NULL,
    amount INTEGER NOT NULL,
    entries INTEGER NOT NULL CHECK (entries >= 0),
    last_entry_id TEXT,
    seized INTEGER NOT NULL DEFAULT 0 CHECK (seized >= 0),
    PRIMARY KEY (holder, bucket),
    CHECK ((entries = 0) = (last_entry_id IS NULL))
) STRICT, WITHOUT ROWID;
