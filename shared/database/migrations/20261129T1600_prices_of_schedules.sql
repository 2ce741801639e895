-- Prices of schedules (semantics 4.3): pricings that are sold by schedules alone, without a plan or on top of one. They are the version of a
-- plan that no list shows and no call names. A copy of a schedule sells the same version.
alter table pricing_plans add column unlisted boolean not null default false;
alter table pricing_plan_versions add column unlisted boolean not null default false;
alter table pricings add column of_schedules boolean not null default false;
alter table pricing_groups add column of_schedules boolean not null default false;

alter table pricing_plan_schedules
  add column own_pricing_plan_version_id text,
  add foreign key (platform_id, environment, own_pricing_plan_version_id) references pricing_plan_versions;
create index pricing_plan_schedules_own_version on pricing_plan_schedules (platform_id, environment, own_pricing_plan_version_id)
  where own_pricing_plan_version_id is not null;

-- The versions that price a schedule, and when: its own for all of its time, or those of its rate card in turn; and besides the one of its
-- own prices.
create or replace view schedule_versions with (security_invoker = true) as
select h.platform_id, h.environment, h.id as pricing_plan_schedule_id, h.pricing_plan_version_id, h.start_at, h.end_at
from pricing_plan_schedules h
join pricing_plans p on p.platform_id = h.platform_id and p.environment = h.environment and p.id = h.pricing_plan_id
where p.variant <> 'RATE_CARD'
union all
select h.platform_id, h.environment, h.id, v.id, greatest(h.start_at, v.start_at), least(h.end_at, v.end_at)
from pricing_plan_schedules h
join pricing_plans p on p.platform_id = h.platform_id and p.environment = h.environment and p.id = h.pricing_plan_id
cross join lateral (
  select id, (rate_card ->> 'start_at')::timestamptz as start_at,
    lead((rate_card ->> 'start_at')::timestamptz) over (order by rate_card ->> 'start_at') as end_at
  from pricing_plan_versions
  where platform_id = p.platform_id and environment = p.environment and pricing_plan_id = p.id
    and rate_card is not null and status = 'ACTIVE'
) v
where p.variant = 'RATE_CARD' and greatest(h.start_at, v.start_at) < coalesce(least(h.end_at, v.end_at), 'infinity')
union all
select h.platform_id, h.environment, h.id, h.own_pricing_plan_version_id, h.start_at, h.end_at
from pricing_plan_schedules h
where h.own_pricing_plan_version_id <> h.pricing_plan_version_id;

-- Prices that no schedule sells any more are deleted: those of a draft that had other prices given, or that was deleted.
create function delete_unsold_prices_of_schedules() returns trigger language plpgsql as $$
declare
  plan text;
begin
  -- Of two transactions that take the last schedules away, the second one sees what the first has done.
  perform from pricing_plan_versions v
  where v.platform_id = old.platform_id and v.environment = old.environment and v.id = old.own_pricing_plan_version_id
  for update;
  if exists (select from pricing_plan_schedules h where h.platform_id = old.platform_id and h.environment = old.environment
      and h.own_pricing_plan_version_id = old.own_pricing_plan_version_id) then
    return null;
  end if;
  -- What is live cannot change; this is sold by nothing.
  update pricing_plan_versions v set status = 'DRAFT'
  where v.platform_id = old.platform_id and v.environment = old.environment and v.id = old.own_pricing_plan_version_id and v.unlisted
  returning v.pricing_plan_id into plan;
  delete from pricings p where p.platform_id = old.platform_id and p.environment = old.environment
    and p.pricing_plan_version_id = old.own_pricing_plan_version_id;
  delete from pricing_groups g where g.platform_id = old.platform_id and g.environment = old.environment
    and g.pricing_plan_version_id = old.own_pricing_plan_version_id;
  delete from pricing_plan_versions v where v.platform_id = old.platform_id and v.environment = old.environment
    and v.id = old.own_pricing_plan_version_id;
  delete from pricing_plans p where p.platform_id = old.platform_id and p.environment = old.environment and p.id = plan;
  return null;
end $$;
create trigger pricing_plan_schedules_unsold_prices after delete on pricing_plan_schedules
  for each row when (old.own_pricing_plan_version_id is not null) execute function delete_unsold_prices_of_schedules();
create trigger pricing_plan_schedules_replaced_prices after update of own_pricing_plan_version_id on pricing_plan_schedules
  for each row when (old.own_pricing_plan_version_id is distinct from new.own_pricing_plan_version_id
    and old.own_pricing_plan_version_id is not null) execute function delete_unsold_prices_of_schedules();
