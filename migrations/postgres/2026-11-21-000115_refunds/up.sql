-- Refunds of charges: what goes back, and where it stands, each state with exactly its facts.
-- Room for updates in the same page.
CREATE TABLE refunds (
    account_id TEXT COLLATE "C" NOT NULL,
    id TEXT COLLATE "C" NOT NULL,
    charge_id TEXT COLLATE "C" NOT NULL,
    end_to_end_id TEXT NOT NULL,
    acquirer TEXT NOT NULL,
    amount BIGINT NOT NULL CHECK (amount > 0),
    reason TEXT,
    external_id TEXT,
    status TEXT NOT NULL CHECK (status IN ('pending', 'abandoned', 'processing', 'completed', 'failed')),
    sent_at BIGINT,
    return_id TEXT,
    failure TEXT,
    ended_at BIGINT,
    due_at BIGINT,
    attempts BIGINT NOT NULL CHECK (attempts >= 0),
    created_at BIGINT NOT NULL,
    version BIGINT NOT NULL CHECK (version >= 1),
    PRIMARY KEY (account_id, id),
    CHECK ((status = 'processing') = (sent_at IS NOT NULL)),
    CHECK (status NOT IN ('pending', 'abandoned') OR return_id IS NULL),
    CHECK ((status = 'failed') = (failure IS NOT NULL)),
    CHECK ((status IN ('abandoned', 'completed', 'failed')) = (ended_at IS NOT NULL)),
    CHECK (status = 'processing' OR due_at IS NULL)
) WITH (fillfactor = 80);

CREATE INDEX refunds_of_charge ON refunds (account_id, charge_id, id);
-- What the poller looks for; it shrinks again as outcomes are known.
CREATE INDEX refunds_due ON refunds (due_at, id) WHERE due_at IS NOT NULL;
