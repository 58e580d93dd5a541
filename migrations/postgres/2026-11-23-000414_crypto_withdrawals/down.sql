DROP TABLE crypto_withdrawals;
