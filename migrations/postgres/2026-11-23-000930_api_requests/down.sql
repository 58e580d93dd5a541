DROP TABLE api_requests;
