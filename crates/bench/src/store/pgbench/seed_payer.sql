-- The rows that payouts find: a funded account, and the other contended rows.
INSERT INTO balances VALUES ('acc_payer', 'available', {funds}, 0, NULL), ('acc_payer', 'in_transit', 0, 0, NULL),
 ('settlement-main', '00', -{funds}, 0, NULL), ('fees', '00', 0, 0, NULL);
INSERT INTO event_counters VALUES ('acc_payer', 0)
