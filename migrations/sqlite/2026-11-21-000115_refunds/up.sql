-- Refunds of charges: what goes back, and where it stands, each state with exactly its facts.
CREATE TABLE refunds (
    account_id TEXT NOT NULL,
    id TEXT NOT NULL,
    charge_id TEXT NOT NULL,
    end_to_end_id TEXT NOT NULL,
    acquirer TEXT NOT NULL,
    amount INTEGER NOT NULL CHECK (amount > 0),
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

CREATE INDEX refunds_of_charge ON refunds (account_id, charge_id, id);
-- What the poller looks for; it shrinks again as outcomes are known.
CREATE INDEX refunds_due ON refunds (due_at, id) WHERE due_at IS NOT NULL;
