DROP TABLE account_reservations;
