-- Each row is a payout and its present state. Columns of other states are null.
-- The fill factor leaves room in each page for updated rows.
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
    end_to_end_id TEXT COLLATE "C",
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

-- Finds payouts whose outcome is due for a look-up at the acquirer. Payouts with an outcome leave the index, so the index stays small.
CREATE INDEX payouts_due ON payouts (due_at, id) WHERE due_at IS NOT NULL;
-- For reconciliation, over all accounts: ids ascend with the instant of creation, so a span of time is a range of ids.
-- The index is of an expression, so only reconciliation uses it. A page of one account along this index would visit the payouts of all
-- accounts.
CREATE INDEX payouts_by_id ON payouts ((id || ''));
-- Pages of the timeline in a rare status. Pages of completed payouts are read along the primary key.
CREATE INDEX payouts_rare ON payouts (account_id, status, id) WHERE status = 'processing' OR status = 'failed' OR status = 'reversed';
-- Finds the payout that sent a Pix: for searches, and for the callback of a return, which names the Pix alone.
CREATE INDEX payouts_of_pix ON payouts (end_to_end_id) WHERE end_to_end_id IS NOT NULL;
