-- Charges: what was asked for, and where it stands, each state with exactly its facts.
-- What belongs to which state is judged by the types that a row is written from, and again, strictly, whenever it is read:
-- the server would judge it once more for every row, at an eighth of what the row costs.
CREATE TABLE charges (
    account_id TEXT NOT NULL,
    id TEXT NOT NULL,
    txid TEXT NOT NULL,
    amount INTEGER NOT NULL,
    fee INTEGER NOT NULL,
    description TEXT,
    payer_name TEXT,
    payer_document TEXT,
    expires_in_s INTEGER NOT NULL,
    external_id TEXT,
    postback_url TEXT,
    origin TEXT NOT NULL,
    status TEXT NOT NULL,
    acquirer TEXT NOT NULL,
    copy_paste TEXT,
    expires_at INTEGER,
    paid_at INTEGER,
    end_to_end_id TEXT,
    ended_at INTEGER,
    created_at INTEGER NOT NULL,
    version INTEGER NOT NULL,
    PRIMARY KEY (account_id, id),
    CHECK (amount > 0 AND fee BETWEEN 0 AND amount)
) STRICT;

-- Only what the expiry worker looks for; it shrinks again as charges are paid.
CREATE INDEX charges_waiting ON charges (expires_at, id) WHERE status = 'pending';
