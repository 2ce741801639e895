-- Lists are ordered by creation unless they say otherwise, and go on from an entry by (created_at, id): of the tables that grow with a
-- platform's customers, the first page of a list may not sort them all.
create index customers_created on customers (platform_id, environment, created_at, id);
create index pricing_plan_subscriptions_created on pricing_plan_subscriptions (platform_id, environment, created_at, id);
create index pricing_plan_schedules_created on pricing_plan_schedules (platform_id, environment, created_at, id);
create index invoices_created on invoices (platform_id, environment, created_at, id);
create index files_created on files (platform_id, environment, created_at, id);
-- With the id, a page by invoice date needs no sort either, and counting a year of them reads the index alone.
drop index invoices_date;
create index invoices_date on invoices (platform_id, environment, invoice_date, id);

-- They read a setting of the transaction, which parallel workers have too. Without this nothing under row-level security is ever
-- counted by more than one core.
alter function current_platform() parallel safe;
alter function current_environment() parallel safe;
