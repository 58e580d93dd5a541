-- What housekeeping removes, by age: a claim comes in when it is answered, at the end of the index. What a worker has to take over is not in it.
DROP INDEX idempotency_claims_age;
CREATE INDEX idempotency_claims_age ON idempotency_claims (created_at) WHERE due_at IS NULL;
