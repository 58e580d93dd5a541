-- Each row is an infraction: a dispute of a Pix that was credited to a charge, and its present state.
-- Columns of other states are null.
-- `review_reason` and `review_since` mark an infraction for review by an operator. The mark stays after the operator's decision.
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
    review_reason TEXT CHECK (review_reason IN ('unexplained_return', 'missing_return', 'reopened_unseen')),
    review_since INTEGER CHECK ((review_since IS NULL) = (review_reason IS NULL)),
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

-- Lists the infractions of a Pix.
CREATE INDEX infractions_of_pix ON infractions (account_id, end_to_end_id, id);
-- Lists for operators, over all accounts. The indexes begin with expressions, so no list of one account is read along them.
CREATE INDEX infractions_by_id ON infractions ((id || ''));
CREATE INDEX infractions_by_status ON infractions ((status || ''), id);
-- Lists the unresolved infractions of an acquirer, in the order of their look-ups.
CREATE INDEX infractions_unresolved ON infractions (acquirer, opened_at, id) WHERE status IN ('open', 'under_review');
-- Finds defenses whose receipt is due for a look-up at the acquirer.
CREATE INDEX infractions_due ON infractions (due_at, id) WHERE due_at IS NOT NULL;
-- Finds open infractions without a defense by their deadline.
CREATE INDEX infractions_undefended ON infractions (deadline_at, id) WHERE status = 'open' AND defense_sent_at IS NULL;
-- Lists the infractions of an account in one status. The index begins with an expression, so only this list uses it. An infraction that is
-- looked up by its id along this index would be found after a walk past all infractions of the account.
CREATE INDEX infractions_in_status ON infractions ((account_id || ''), status, id);
-- Lists the infractions that wait for an operator.
CREATE INDEX infractions_for_review ON infractions (id)
    WHERE review_reason IS NOT NULL AND status IN ('open', 'under_review');
