DROP TABLE infractions;
