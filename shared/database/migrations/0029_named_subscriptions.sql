-- The gateway refuses an event that names another customer's subscription (semantics 1.3), so it must see whose it is, and no more.
create policy ingest_named_subscriptions on pricing_plan_subscriptions for select to millrace_gateway using (true);
grant select (platform_id, environment, id, reference, customer_id) on pricing_plan_subscriptions to millrace_gateway;
create policy ingest_named_customers on customers for select to millrace_gateway using (true);
grant select (platform_id, environment, id, reference) on customers to millrace_gateway;
