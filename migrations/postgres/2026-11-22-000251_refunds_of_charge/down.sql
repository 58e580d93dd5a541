DROP INDEX refunds_of_charge;
CREATE INDEX refunds_of_charge ON refunds (account_id, charge_id, id);
