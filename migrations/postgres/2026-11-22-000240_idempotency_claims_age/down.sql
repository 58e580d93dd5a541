DROP INDEX idempotency_claims_age;
CREATE INDEX idempotency_claims_age ON idempotency_claims USING brin (created_at);
