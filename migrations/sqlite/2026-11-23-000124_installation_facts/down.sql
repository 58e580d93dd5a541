DROP TABLE installation_facts;
