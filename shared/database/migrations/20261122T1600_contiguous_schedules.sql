-- A subscription's schedules follow each other without a gap (semantics 4.3); that they do not overlap is an exclusion constraint.
-- Judged at commit, so that a boundary can move in two statements. Whoever changes a timeline holds the row of the subscription, so of
-- two changes at once the second is judged by what the first has left.
create function refuse_gap_between_schedules() returns trigger language plpgsql as $$
declare
  touched record;
  gap record;
begin
  touched := case when tg_op = 'DELETE' then old else new end;
  perform 1 from pricing_plan_subscriptions s
  where s.platform_id = touched.platform_id and s.environment = touched.environment
    and s.id = touched.pricing_plan_subscription_id
  for no key update;
  -- A statement of its own: it sees what was committed while the lock was waited for.
  select each.id into gap
  from (
    select h.id, h.end_at, lead(h.start_at) over (order by h.start_at) as next_start
    from pricing_plan_schedules h
    where h.platform_id = touched.platform_id and h.environment = touched.environment
      and h.pricing_plan_subscription_id = touched.pricing_plan_subscription_id
  ) each
  where each.next_start > each.end_at
  limit 1;
  if found then
    raise exception 'the schedule % is followed by a gap', gap.id
      using errcode = 'check_violation', constraint = 'pricing_plan_schedules_contiguous', table = 'pricing_plan_schedules';
  end if;
  return null;
end $$;

create constraint trigger pricing_plan_schedules_contiguous
  after insert or delete or update of start_at, end_at, pricing_plan_subscription_id on pricing_plan_schedules
  deferrable initially deferred for each row execute function refuse_gap_between_schedules();

create index pricing_plan_schedules_timeline
  on pricing_plan_schedules (platform_id, environment, pricing_plan_subscription_id, start_at);
