-- Payouts: what was asked for, and where it stands, each state with exactly its facts.
-- Room for updates in the same page.
CREATE TABLE payouts (
    account_id TEXT COLLATE "C" NOT NULL,
    id TEXT COLLATE "C" NOT NULL,
    amount BIGINT NOT NULL CHECK (amount > 0),
    fee BIGINT NOT NULL CHECK (fee >= 0),
    pix_key TEXT NOT NULL,
    pix_key_type TEXT NOT NULL CHECK (pix_key_type IN ('cpf', 'cnpj', 'email', 'phone', 'evp')),
    owner_document TEXT,
    description TEXT,
    external_id TEXT,
    origin TEXT NOT NULL CHECK (origin IN ('api', 'manual')),
    recipient_name TEXT,
    recipient_document TEXT,
    returned BIGINT NOT NULL CHECK (returned BETWEEN 0 AND amount),
    status TEXT NOT NULL CHECK (status IN ('pending', 'abandoned', 'processing', 'completed', 'failed', 'reversed')),
    acquirer TEXT NOT NULL,
    sent_at BIGINT,
    end_to_end_id TEXT,
    completed_at BIGINT,
    failure TEXT,
    ended_at BIGINT,
    due_at BIGINT,
    attempts BIGINT NOT NULL CHECK (attempts >= 0),
    created_at BIGINT NOT NULL,
    version BIGINT NOT NULL CHECK (version >= 1),
    PRIMARY KEY (account_id, id),
    CHECK ((status IN ('pending', 'abandoned')) = (sent_at IS NULL)),
    CHECK (sent_at IS NOT NULL OR end_to_end_id IS NULL),
    CHECK ((status IN ('completed', 'reversed')) = (completed_at IS NOT NULL)),
    CHECK (completed_at IS NULL OR end_to_end_id IS NOT NULL),
    CHECK (completed_at IS NOT NULL OR returned = 0),
    CHECK ((status = 'reversed') = (returned = amount)),
    CHECK ((status = 'failed') = (failure IS NOT NULL)),
    CHECK ((status IN ('abandoned', 'failed', 'reversed')) = (ended_at IS NOT NULL)),
    CHECK (status = 'processing' OR due_at IS NULL)
) WITH (fillfactor = 80);

-- What the poller looks for; it shrinks again as outcomes are known.
CREATE INDEX payouts_due ON payouts (due_at, id) WHERE due_at IS NOT NULL;
-- For reconciliation, over all accounts: ids ascend with the instant of creation, so a span of time is a range of them. It is an index
-- of an expression so that nothing else uses it: a page of one account that is read along the ids of all may be a long walk.
CREATE INDEX payouts_by_id ON payouts ((id || ''));
-- A page of the timeline in a rare status. One of completed payouts walks along the primary key, and is long only where few were completed.
CREATE INDEX payouts_rare ON payouts (account_id, status, id) WHERE status = 'processing' OR status = 'failed' OR status = 'reversed';
