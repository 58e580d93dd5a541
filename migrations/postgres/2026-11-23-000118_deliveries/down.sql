DROP TABLE pending_deliveries;
DROP TABLE deliveries;
