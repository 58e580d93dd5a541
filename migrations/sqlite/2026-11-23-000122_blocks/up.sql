-- Each row is the block of an infraction: the money held of an account, and the most that may be held.
-- A transaction that changes a row holds the locks of the account's balances.
CREATE TABLE blocks (
    account_id TEXT NOT NULL,
    infraction_id TEXT NOT NULL,
    end_to_end_id TEXT NOT NULL,
    max_amount INTEGER NOT NULL,
    held INTEGER NOT NULL,
    PRIMARY KEY (account_id, infraction_id),
    CHECK (held >= 0 AND held <= max_amount)
) STRICT;

-- Finds accounts with under-funded blocks, for each batch that credits an account. Such blocks are rare.
CREATE INDEX blocks_short ON blocks (account_id) WHERE held < max_amount;
