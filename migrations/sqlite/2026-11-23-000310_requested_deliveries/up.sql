-- When a merchant asked for a test or a resend; null for what came with its event. Few of them wait at a time.
ALTER TABLE pending_deliveries ADD COLUMN requested_at INTEGER;
CREATE INDEX pending_deliveries_requested ON pending_deliveries (endpoint_id, epoch) WHERE requested_at IS NOT NULL;
