-- The instant at which a merchant requested a test or a resend; null for deliveries of new events. Few requests wait at a time.
ALTER TABLE pending_deliveries ADD COLUMN requested_at INTEGER;
CREATE INDEX pending_deliveries_requested ON pending_deliveries (endpoint_id, epoch) WHERE requested_at IS NOT NULL;
