-- What each transaction has at hand: `id` is a number that no other has, `shop` one of 16 accounts.
\set n :n + 1
\set id :n * 64 + :client_id
\set shop :client_id % 16
