-- Crypto withdrawals: the request, its price, and the state, each state with exactly its facts.
CREATE TABLE crypto_withdrawals (
    account_id TEXT COLLATE "C" NOT NULL,
    id TEXT COLLATE "C" NOT NULL,
    amount BIGINT NOT NULL CHECK (amount > 0),
    currency TEXT NOT NULL,
    address TEXT NOT NULL,
    description TEXT,
    external_id TEXT,
    origin TEXT NOT NULL CHECK (origin IN ('api', 'manual')),
    processor TEXT NOT NULL,
    quote_id TEXT NOT NULL,
    rate TEXT NOT NULL,
    fee BIGINT NOT NULL CHECK (fee >= 0),
    coins TEXT NOT NULL,
    status TEXT NOT NULL CHECK (status IN ('pending', 'abandoned', 'processing', 'completed', 'failed')),
    sent_at BIGINT,
    batch_id TEXT,
    review_since BIGINT,
    failure TEXT,
    ended_at BIGINT,
    network_fee TEXT,
    tx_hash TEXT,
    due_at BIGINT,
    attempts BIGINT NOT NULL CHECK (attempts >= 0),
    created_at BIGINT NOT NULL,
    version BIGINT NOT NULL CHECK (version >= 1),
    PRIMARY KEY (account_id, id),
    CHECK ((status IN ('pending', 'abandoned')) = (sent_at IS NULL)),
    CHECK (sent_at IS NOT NULL OR batch_id IS NULL),
    CHECK (status = 'processing' OR review_since IS NULL),
    CHECK ((status = 'failed') = (failure IS NOT NULL)),
    CHECK ((status IN ('abandoned', 'completed', 'failed')) = (ended_at IS NOT NULL)),
    CHECK (status = 'processing' OR due_at IS NULL)
) WITH (fillfactor = 80);

-- The withdrawals that are looked up at the processor, the longest overdue first.
CREATE INDEX crypto_withdrawals_due ON crypto_withdrawals (due_at, id) WHERE due_at IS NOT NULL;
-- The withdrawals that wait for an operator.
CREATE INDEX crypto_withdrawals_for_review ON crypto_withdrawals (review_since, id) WHERE review_since IS NOT NULL;
-- The withdrawal of any account, by its id. The expression keeps the index from lists of one account.
CREATE INDEX crypto_withdrawals_by_id ON crypto_withdrawals ((id || ''));
-- The withdrawal in a batch of the processor.
CREATE INDEX crypto_withdrawals_of_batch ON crypto_withdrawals (batch_id, processor) WHERE batch_id IS NOT NULL;
