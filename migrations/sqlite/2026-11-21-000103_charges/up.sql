-- Charges: what was asked for, and where it stands, each state with exactly its facts.
CREATE TABLE charges (
    account_id TEXT NOT NULL,
    id TEXT NOT NULL,
    txid TEXT NOT NULL,
    amount INTEGER NOT NULL CHECK (amount > 0),
    fee INTEGER NOT NULL CHECK (fee >= 0),
    description TEXT,
    payer_name TEXT,
    payer_document TEXT,
    expires_in_s INTEGER NOT NULL CHECK (expires_in_s > 0),
    external_id TEXT,
    postback_url TEXT,
    split TEXT,
    origin TEXT NOT NULL CHECK (origin IN ('api', 'manual')),
    status TEXT NOT NULL CHECK (status IN ('creating', 'abandoned', 'pending', 'paid', 'expired', 'cancelled', 'refunded')),
    acquirer TEXT NOT NULL,
    copy_paste TEXT,
    expires_at INTEGER,
    paid_at INTEGER,
    end_to_end_id TEXT,
    ended_at INTEGER,
    split_parts TEXT,
    refunding INTEGER NOT NULL CHECK (refunding >= 0),
    refunded INTEGER NOT NULL CHECK (refunded >= 0),
    open_infractions INTEGER NOT NULL CHECK (open_infractions >= 0),
    created_at INTEGER NOT NULL,
    version INTEGER NOT NULL CHECK (version >= 1),
    PRIMARY KEY (account_id, id),
    CHECK (fee <= amount),
    CHECK ((status IN ('creating', 'abandoned')) = (copy_paste IS NULL)),
    CHECK ((copy_paste IS NULL) = (expires_at IS NULL)),
    CHECK ((status IN ('paid', 'refunded')) = (paid_at IS NOT NULL)),
    CHECK ((paid_at IS NULL) = (end_to_end_id IS NULL)),
    CHECK ((status IN ('abandoned', 'expired', 'cancelled', 'refunded')) = (ended_at IS NOT NULL)),
    CHECK ((split IS NOT NULL AND paid_at IS NOT NULL) = (split_parts IS NOT NULL)),
    CHECK (refunding + refunded <= amount),
    CHECK (paid_at IS NOT NULL OR refunding + refunded = 0)
) STRICT;

-- Only what the expiry worker looks for; it shrinks again as charges are paid.
CREATE INDEX charges_waiting ON charges (expires_at, id) WHERE status = 'pending';
-- A page of the timeline in its one rare status. Pages of pending and of cancelled ones walk along the primary key, and are long only
-- where such charges are few: an index of theirs would cost every creation and every payment.
CREATE INDEX charges_refunded ON charges (account_id, status, id) WHERE status = 'refunded';
