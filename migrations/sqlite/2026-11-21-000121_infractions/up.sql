-- Disputes of Pix that were credited to charges, each state with exactly its facts.
CREATE TABLE infractions (
    account_id TEXT NOT NULL,
    id TEXT NOT NULL,
    charge_id TEXT NOT NULL,
    external_id TEXT,
    acquirer TEXT NOT NULL,
    upstream_id TEXT NOT NULL,
    end_to_end_id TEXT NOT NULL,
    reason TEXT,
    situation TEXT NOT NULL CHECK (situation IN (
        'SCAM', 'ACCOUNT_TAKEOVER', 'COERCION', 'FRAUDULENT_ACCESS', 'OTHER', 'UNKNOWN'
    )),
    amount INTEGER NOT NULL CHECK (amount >= 0),
    max_amount INTEGER NOT NULL CHECK (max_amount >= 0),
    status TEXT NOT NULL CHECK (status IN ('open', 'under_review', 'won', 'lost', 'cancelled')),
    state_at INTEGER,
    returned INTEGER CHECK (returned >= 0),
    refunded INTEGER CHECK (refunded BETWEEN 0 AND returned),
    defense_text TEXT,
    defense_evidence_url TEXT,
    defense_sent_at INTEGER,
    defense_submitted_at INTEGER,
    deadline_at INTEGER,
    alerted_h INTEGER CHECK (alerted_h BETWEEN 1 AND 255),
    due_at INTEGER,
    attempts INTEGER NOT NULL CHECK (attempts >= 0),
    opened_at INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    version INTEGER NOT NULL CHECK (version >= 1),
    PRIMARY KEY (account_id, id),
    CHECK ((status = 'open') = (state_at IS NULL)),
    CHECK ((status = 'lost') = (returned IS NOT NULL)),
    CHECK ((returned IS NULL) = (refunded IS NULL)),
    CHECK (
        defense_sent_at IS NOT NULL
        OR (defense_text IS NULL AND defense_evidence_url IS NULL AND defense_submitted_at IS NULL)
    )
) STRICT;

CREATE INDEX infractions_of_pix ON infractions (account_id, end_to_end_id, id);
CREATE INDEX infractions_in_status ON infractions (account_id, status, id);
-- For operators, over all accounts. They begin with expressions so that no list of one account is read along them.
CREATE INDEX infractions_by_id ON infractions ((id || ''));
CREATE INDEX infractions_by_status ON infractions ((status || ''), id);
-- What is not settled at an acquirer, in the order in which it is asked for.
CREATE INDEX infractions_unsettled ON infractions (acquirer, opened_at, id) WHERE status IN ('open', 'under_review');
-- Defences whose arrival is to be found out, and deadlines that come near.
CREATE INDEX infractions_due ON infractions (due_at, id) WHERE due_at IS NOT NULL;
CREATE INDEX infractions_undefended ON infractions (deadline_at, id) WHERE status = 'open' AND defense_sent_at IS NULL;
