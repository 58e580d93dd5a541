-- Crypto deposits: the request, its price, and the state, each state with exactly its facts.
CREATE TABLE crypto_deposits (
    account_id TEXT NOT NULL,
    id TEXT NOT NULL,
    amount INTEGER NOT NULL CHECK (amount > 0),
    currency TEXT NOT NULL,
    description TEXT,
    external_id TEXT,
    postback_endpoint TEXT,
    postback_url TEXT,
    origin TEXT NOT NULL CHECK (origin IN ('api', 'manual')),
    processor TEXT NOT NULL,
    quote_id TEXT NOT NULL,
    rate TEXT NOT NULL,
    fee_rule TEXT NOT NULL,
    coins TEXT NOT NULL,
    status TEXT NOT NULL CHECK (status IN (
        'creating', 'abandoned', 'pending', 'confirming', 'completed', 'underpaid', 'expired', 'failed', 'refunded'
    )),
    payment_id TEXT,
    address TEXT,
    extra_id TEXT,
    expires_at INTEGER,
    state_at INTEGER,
    credited_coins TEXT NOT NULL,
    credited_gross INTEGER NOT NULL CHECK (credited_gross >= 0),
    credited_fee INTEGER NOT NULL CHECK (credited_fee BETWEEN 0 AND credited_gross),
    resolution TEXT CHECK (resolution IN ('exact', 'underpaid', 'overpaid', 'late')),
    confirmed_at INTEGER,
    tx_hash TEXT,
    due_at INTEGER,
    attempts INTEGER NOT NULL CHECK (attempts >= 0),
    created_at INTEGER NOT NULL,
    version INTEGER NOT NULL CHECK (version >= 1),
    PRIMARY KEY (account_id, id),
    CHECK ((postback_endpoint IS NULL) = (postback_url IS NULL)),
    CHECK ((status IN ('creating', 'abandoned')) = (payment_id IS NULL)),
    CHECK ((payment_id IS NULL) = (address IS NULL) AND (payment_id IS NULL) = (expires_at IS NULL)),
    CHECK (extra_id IS NULL OR payment_id IS NOT NULL),
    CHECK ((status IN ('creating', 'pending', 'confirming')) = (state_at IS NULL)),
    CHECK (status IN ('completed', 'underpaid') OR credited_gross = 0),
    CHECK (due_at IS NULL OR payment_id IS NOT NULL)
) STRICT;

-- The deposits that are looked up at the processor, the longest overdue first.
CREATE INDEX crypto_deposits_due ON crypto_deposits (due_at, id) WHERE due_at IS NOT NULL;
