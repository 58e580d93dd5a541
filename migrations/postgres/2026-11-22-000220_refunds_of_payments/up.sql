-- Refunds of payments beyond the amount of their charge: the part of a refund that counts as refunded of the charge. Every refund before
-- this migration counts whole.
ALTER TABLE refunds ADD COLUMN of_charge BIGINT NOT NULL DEFAULT 0 CHECK (of_charge >= 0 AND of_charge <= amount);
UPDATE refunds SET of_charge = amount;

-- The few refunds of what was paid beyond a charge's amount, by their Pix. The collation is that of `payments`.
CREATE INDEX refunds_beyond ON refunds (account_id, end_to_end_id COLLATE "C") WHERE of_charge < amount;
