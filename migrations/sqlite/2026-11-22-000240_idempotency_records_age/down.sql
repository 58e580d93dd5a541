DROP INDEX idempotency_records_age;
CREATE INDEX idempotency_records_age ON idempotency_records (created_at);
