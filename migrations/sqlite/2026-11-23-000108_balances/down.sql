DROP TABLE balances;
