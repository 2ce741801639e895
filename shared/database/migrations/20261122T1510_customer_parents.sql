-- Who has ever had whom as a parent, so that the children of a customer are found by an index. What held when is in attribution_terms.
-- An index over that column cannot serve: its operator says nothing about leaks, so row-level security has it read row by row.
create table customer_parents (
  platform_id text not null,
  environment environment not null,
  parent_id text not null,
  customer_id text not null,
  primary key (platform_id, environment, parent_id, customer_id),
  foreign key (platform_id, environment, customer_id) references customers on delete cascade
);
create index customer_parents_customer on customer_parents (platform_id, environment, customer_id);

insert into customer_parents (platform_id, environment, parent_id, customer_id)
select distinct c.platform_id, c.environment, parent.id, c.id
from customers c
cross join lateral jsonb_array_elements(c.attribution_terms) as term
cross join lateral jsonb_array_elements_text(term -> 'parent_customer_ids') as parent (id)
where c.attribution_terms is not null;

call protect_tenant_table('customer_parents');

create function keep_customer_parents() returns trigger language plpgsql as $$
begin
  delete from customer_parents p where p.platform_id = new.platform_id and p.environment = new.environment and p.customer_id = new.id;
  insert into customer_parents (platform_id, environment, parent_id, customer_id)
  select distinct new.platform_id, new.environment, parent.id, new.id
  from jsonb_array_elements(new.attribution_terms) as term
  cross join lateral jsonb_array_elements_text(term -> 'parent_customer_ids') as parent (id);
  return null;
end $$;
create trigger customers_parents_made after insert on customers
  for each row when (new.attribution_terms is not null) execute function keep_customer_parents();
create trigger customers_parents_changed after update of attribution_terms on customers
  for each row when (new.attribution_terms is distinct from old.attribution_terms) execute function keep_customer_parents();

drop index customers_parents;
