DROP TABLE ledger_verifications;
