-- What open infractions hold of an account's money; whoever changes a row has the account's balances locked.
CREATE TABLE blocks (
    account_id TEXT NOT NULL,
    infraction_id TEXT NOT NULL,
    end_to_end_id TEXT NOT NULL,
    max_amount INTEGER NOT NULL,
    held INTEGER NOT NULL,
    PRIMARY KEY (account_id, infraction_id),
    CHECK (held >= 0 AND held <= max_amount)
) STRICT;

-- Accounts that lack what their infractions concern: nearly always none, and asked for by every batch that credits somebody.
CREATE INDEX blocks_short ON blocks (account_id) WHERE held < max_amount;
