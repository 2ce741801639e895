-- Plans for one customer (semantics 3.1: CUSTOM).
alter table pricing_plans
  drop constraint pricing_plans_type_check,
  add constraint pricing_plans_type_check check (type in ('STANDARD', 'CUSTOM')),
  add column customer_id text,
  add foreign key (platform_id, environment, customer_id) references customers,
  add constraint pricing_plans_custom_has_customer check ((type = 'CUSTOM') = (customer_id is not null));
create index pricing_plans_customer on pricing_plans (platform_id, environment, customer_id) where customer_id is not null;
