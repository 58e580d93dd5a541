DROP INDEX pending_deliveries_requested;
ALTER TABLE pending_deliveries DROP COLUMN requested_at;
