-- The running sum of each ledger account; rebuilt from its entries by an audit.
-- Room for updates in the same page.
CREATE TABLE balances (
    holder TEXT COLLATE "C" NOT NULL,
    bucket TEXT COLLATE "C" NOT NULL,
    amount BIGINT NOT NULL,
    entries BIGINT NOT NULL CHECK (entries >= 0),
    last_entry_id TEXT COLLATE "C",
    PRIMARY KEY (holder, bucket),
    CHECK ((entries = 0) = (last_entry_id IS NULL))
) WITH (fillfactor = 50);
