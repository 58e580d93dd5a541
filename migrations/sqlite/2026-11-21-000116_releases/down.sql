DROP TABLE releases;
