DROP TABLE global_reservations;
