-- Begins with an expression, so that nothing but the list of a charge's refunds uses it: a refund that is looked up by its id along this
-- index would be a walk past all refunds of the account.
DROP INDEX refunds_of_charge;
CREATE INDEX refunds_of_charge ON refunds (account_id || '', charge_id, id);
