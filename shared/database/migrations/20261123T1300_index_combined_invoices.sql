-- Reads go on while these are made, since no table is altered with them.
create index invoices_combined on invoices (platform_id, environment, combined_into_id) where combined_into_id is not null;
-- The others of a customer are looked up when one of them closes.
create index pricing_plan_subscriptions_combined on pricing_plan_subscriptions (platform_id, environment, customer_id) where combine;
