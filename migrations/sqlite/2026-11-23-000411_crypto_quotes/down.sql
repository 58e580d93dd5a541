DROP TABLE crypto_quotes;
