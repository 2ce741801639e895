-- Rate cards (semantics 3.1): plans whose schedules are priced at each moment by the version in force then.
alter table pricing_plans
  drop constraint pricing_plans_variant_check,
  add constraint pricing_plans_variant_check check (variant in ('DEFAULT', 'RATE_CARD'));
-- `start_at`: from when on the version is in force.
alter table pricing_plan_versions add column rate_card jsonb;
-- No two versions of a rate card come into force at one moment.
create unique index pricing_plan_versions_rate_card_start
  on pricing_plan_versions (platform_id, environment, pricing_plan_id, (rate_card ->> 'start_at'))
  where rate_card is not null and status = 'ACTIVE';

-- The versions that price a schedule, and when: its own for all of its time, or those of its rate card in turn.
create view schedule_versions with (security_invoker = true) as
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
where p.variant = 'RATE_CARD' and greatest(h.start_at, v.start_at) < coalesce(least(h.end_at, v.end_at), 'infinity');
grant select on schedule_versions to millrace_app;
