DROP TABLE acquirer_drains;
