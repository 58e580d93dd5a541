-- What housekeeping removes, by age: a claim comes in when it is answered, at the end of the index. What a worker has to take over is not in it.
DROP INDEX idempotency_records_age;
CREATE INDEX idempotency_records_age ON idempotency_records (created_at) WHERE due_at IS NULL;
