DROP TABLE endpoint_failures;
