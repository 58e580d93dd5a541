DROP TABLE crypto_deposits;
