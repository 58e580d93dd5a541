DROP TABLE infraction_positions;
