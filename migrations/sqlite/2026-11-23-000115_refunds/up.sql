-- Each row is a refund of a Pix and its present state. Columns of other states are null.
-- `of_charge` is the part of `amount` that counts as refunded of the charge. The rest was paid beyond the amount of the charge.
CREATE TABLE refunds (
    account_id TEXT NOT NULL,
    id TEXT NOT NULL,
    charge_id TEXT NOT NULL,
    end_to_end_id TEXT NOT NULL,
    acquirer TEXT NOT NULL,
    amount INTEGER NOT NULL CHECK (amount > 0),
    of_charge INTEGER NOT NULL DEFAULT 0 CHECK (of_charge >= 0 AND of_charge <= amount),
    reason TEXT,
    external_id TEXT,
    status TEXT NOT NULL CHECK (status IN ('pending', 'abandoned', 'processing', 'completed', 'failed')),
    sent_at INTEGER,
    return_id TEXT,
    failure TEXT,
    ended_at INTEGER,
    due_at INTEGER,
    attempts INTEGER NOT NULL CHECK (attempts >= 0),
    created_at INTEGER NOT NULL,
    version INTEGER NOT NULL CHECK (version >= 1),
    PRIMARY KEY (account_id, id),
    CHECK ((status = 'processing') = (sent_at IS NOT NULL)),
    CHECK (status NOT IN ('pending', 'abandoned') OR return_id IS NULL),
    CHECK ((status = 'failed') = (failure IS NOT NULL)),
    CHECK ((status IN ('abandoned', 'completed', 'failed')) = (ended_at IS NOT NULL)),
    CHECK (status = 'processing' OR due_at IS NULL)
) STRICT;

-- Finds refunds whose outcome is due for a look-up at the acquirer. Refunds with an outcome leave the index, so the index stays small.
CREATE INDEX refunds_due ON refunds (due_at, id) WHERE due_at IS NOT NULL;
-- Finds the few refunds of money paid beyond the amount of a charge, by their Pix.
CREATE INDEX refunds_beyond ON refunds (account_id, end_to_end_id) WHERE of_charge < amount;
-- Lists the refunds of a charge. The index begins with an expression, so only this list uses it. A refund that is looked up by its id along
-- this index would be found after a walk past all refunds of the account.
CREATE INDEX refunds_of_charge ON refunds ((account_id || ''), charge_id, id);
