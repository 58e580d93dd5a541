-- The running sum of each ledger account; rebuilt from its entries by an audit. `taken` is what infractions took of pending money
-- whose release is still to come.
-- Room for updates in the same page.
CREATE TABLE balances (
    holder TEXT COLLATE "C" NOT NULL,
    bucket TEXT COLLATE "C" NOT NULL,
    amount BIGINT NOT NULL,
    entries BIGINT NOT NULL CHECK (entries >= 0),
    last_entry_id TEXT COLLATE "C",
    taken BIGINT NOT NULL DEFAULT 0 CHECK (taken >= 0),
    PRIMARY KEY (holder, bucket),
    CHECK ((entries = 0) = (last_entry_id IS NULL))
) WITH (fillfactor = 50);
