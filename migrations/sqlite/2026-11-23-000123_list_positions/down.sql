DROP TABLE list_positions;
