-- Variables of each transaction: `id` is unique, `shop` is one of 16 accounts.
\set n :n + 1
\set id :n * 64 + :client_id
\set shop :client_id % 16
