DROP INDEX idempotency_claims_age;
CREATE INDEX idempotency_claims_age ON idempotency_claims (created_at);
