-- Commit 2 of a creation.
BEGIN;
UPDATE charges SET status = 'pending', copy_paste = '00020126' || lpad(:id::text, 26, '0') || '6304ABCD',
 expires_at = 1767326645678901, version = version + 1
 WHERE account_id = 'acc_' || lpad(:shop::text, 26, '0') AND id = 'chg_' || lpad(:id::text, 26, '0') AND version = 1;
UPDATE idempotency_records SET response_kind = 'created', response_request_id = 'req_' || lpad(:id::text, 26, '0'),
 response_body = convert_to('{answer}', 'UTF8'), due_at = NULL
 WHERE account_id = 'acc_' || lpad(:shop::text, 26, '0') AND key = 'chg_' || lpad(:id::text, 26, '0')
 AND fence = 1 AND response_kind IS NULL;
COMMIT;
