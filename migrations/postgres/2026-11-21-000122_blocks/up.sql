-- What open infractions hold of an account's money; whoever changes a row has the account's balances locked.
-- Room for updates in the same page.
CREATE TABLE blocks (
    account_id TEXT COLLATE "C" NOT NULL,
    infraction_id TEXT COLLATE "C" NOT NULL,
    end_to_end_id TEXT NOT NULL,
    max_amount BIGINT NOT NULL,
    held BIGINT NOT NULL,
    PRIMARY KEY (account_id, infraction_id),
    CHECK (held >= 0 AND held <= max_amount)
) WITH (fillfactor = 80);

-- Accounts that lack what their infractions concern: nearly always none, and asked for by every batch that credits somebody.
CREATE INDEX blocks_short ON blocks (account_id) WHERE held < max_amount;
