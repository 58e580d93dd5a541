-- Charges: what was asked for, and where it stands, each state with exactly its facts.
-- What belongs to which state is judged by the types that a row is written from, and again, strictly, whenever it is read:
-- the server would judge it once more for every row, at an eighth of what the row costs.
-- Room for updates in the same page.
CREATE TABLE charges (
    account_id TEXT COLLATE "C" NOT NULL,
    id TEXT COLLATE "C" NOT NULL,
    txid TEXT COLLATE "C" NOT NULL,
    amount BIGINT NOT NULL,
    fee BIGINT NOT NULL,
    description TEXT,
    payer_name TEXT,
    payer_document TEXT,
    expires_in_s BIGINT NOT NULL,
    external_id TEXT,
    postback_url TEXT,
    origin TEXT NOT NULL,
    status TEXT NOT NULL,
    acquirer TEXT NOT NULL,
    copy_paste TEXT,
    expires_at BIGINT,
    paid_at BIGINT,
    end_to_end_id TEXT,
    ended_at BIGINT,
    created_at BIGINT NOT NULL,
    version BIGINT NOT NULL,
    PRIMARY KEY (account_id, id),
    CHECK (amount > 0 AND fee BETWEEN 0 AND amount)
) WITH (fillfactor = 80);

-- Only what the expiry worker looks for; it shrinks again as charges are paid.
CREATE INDEX charges_waiting ON charges (expires_at, id) WHERE status = 'pending';
