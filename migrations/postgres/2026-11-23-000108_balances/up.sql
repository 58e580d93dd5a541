-- Each row is the balance of a ledger account: the sum of its entries. An audit computes the sums again.
-- `seized` is the amount that infractions blocked in `pending` before its release. The release moves less by that amount.
-- The fill factor leaves room in each page for updated rows.
CREATE TABLE balances (
    holder TEXT COLLATE "C" NOT NULL,
    bucket TEXT COLLATE "C" NOT NULL,
    amount BIGINT NOT NULL,
    entries BIGINT NOT NULL CHECK (entries >= 0),
    last_entry_id TEXT COLLATE "C",
    seized BIGINT NOT NULL DEFAULT 0 CHECK (seized >= 0),
    PRIMARY KEY (holder, bucket),
    CHECK ((entries = 0) = (last_entry_id IS NULL))
) WITH (fillfactor = 50);
