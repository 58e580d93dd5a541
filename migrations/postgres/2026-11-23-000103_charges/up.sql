-- Each row is a charge and its present state. Columns of other states are null.
-- The table has a single CHECK, because the server parses every CHECK again for each statement.
-- The fill factor leaves room in each page for updated rows.
CREATE TABLE charges (
    account_id TEXT COLLATE "C" NOT NULL,
    id TEXT COLLATE "C" NOT NULL,
    txid TEXT COLLATE "C" NOT NULL,
    amount BIGINT NOT NULL,
    fee BIGINT NOT NULL,
    description TEXT,
    payer_name TEXT,
    payer_document TEXT COLLATE "C",
    expires_in_s BIGINT NOT NULL,
    external_id TEXT,
    postback_endpoint TEXT,
    postback_url TEXT,
    split TEXT,
    origin TEXT NOT NULL,
    status TEXT NOT NULL,
    acquirer TEXT NOT NULL,
    copy_paste TEXT,
    expires_at BIGINT,
    paid_at BIGINT,
    end_to_end_id TEXT,
    ended_at BIGINT,
    split_parts TEXT,
    refunding BIGINT NOT NULL DEFAULT 0,
    refunded BIGINT NOT NULL DEFAULT 0,
    open_infractions BIGINT NOT NULL DEFAULT 0,
    created_at BIGINT NOT NULL,
    version BIGINT NOT NULL,
    PRIMARY KEY (account_id, id),
    CHECK (
        amount > 0 AND fee >= 0 AND fee <= amount AND expires_in_s > 0 AND version >= 1 AND open_infractions >= 0
        AND origin IN ('api', 'manual') AND (copy_paste IS NULL) = (expires_at IS NULL)
        AND (postback_endpoint IS NULL) = (postback_url IS NULL)
        AND CASE
            WHEN status IN ('creating', 'abandoned', 'pending', 'expired', 'cancelled') THEN
                paid_at IS NULL AND end_to_end_id IS NULL AND split_parts IS NULL AND refunding = 0 AND refunded = 0
                AND (copy_paste IS NULL) = (status IN ('creating', 'abandoned'))
                AND (ended_at IS NULL) = (status IN ('creating', 'pending'))
            WHEN status IN ('paid', 'refunded') THEN
                copy_paste IS NOT NULL AND paid_at IS NOT NULL AND end_to_end_id IS NOT NULL
                AND (split IS NULL) = (split_parts IS NULL) AND (ended_at IS NULL) = (status = 'paid')
                AND refunding >= 0 AND refunded >= 0 AND refunding + refunded <= amount
            ELSE FALSE
        END
    )
) WITH (fillfactor = 80);

-- Finds pending charges that have expired. Paid charges leave the index, so the index stays small.
CREATE INDEX charges_waiting ON charges (expires_at, id) WHERE status = 'pending';
-- Pages of the timeline in the statuses `refunded`, `expired` and `cancelled`. A charge enters these indexes long after its creation, so
-- neither its creation nor its payment updates them.
-- Pages of pending charges are read along the primary key. An index for them would be updated by every creation and every payment.
CREATE INDEX charges_refunded ON charges (account_id, status, id) WHERE status = 'refunded';
CREATE INDEX charges_cancelled ON charges (account_id, id) WHERE status IN ('expired', 'cancelled');
-- Finds charges by the document of their payer. Charges without one are not in the index.
CREATE INDEX charges_of_payer ON charges (account_id, payer_document, id) WHERE payer_document IS NOT NULL;
