DROP TABLE crypto_payments;
