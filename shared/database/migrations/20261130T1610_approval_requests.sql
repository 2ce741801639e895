-- What was submitted for approval, to whom, and what they have decided.
create table approval_requests (
  platform_id text not null,
  environment environment not null,
  id text not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  source_type text not null check (source_type in ('QUOTE_VERSION', 'INVOICE', 'PRICING_PLAN_SCHEDULE')),
  -- No foreign key: a thing that was declined may be deleted, and what was decided about it stays.
  source_id text not null,
  -- By which the customer is found, whose test clock decides on the time.
  pricing_plan_schedule_id text generated always as (case source_type when 'PRICING_PLAN_SCHEDULE' then source_id end) stored,
  status text not null check (status in ('PENDING_REVIEW', 'APPROVED', 'DECLINED', 'CANCELLED')),
  approval_policy_ids text[] not null,
  approval_strategy text not null check (approval_strategy in
    ('EVERYONE_HAS_TO_APPROVE', 'ANYONE_CAN_DECIDE', 'ALL_LEVELS_MUST_APPROVE', 'HIGHER_LEVEL_CAN_OVERRIDE')),
  owner_id text,
  reviewed_at timestamptz,
  -- Those whom the policy named when the request was made.
  reviewers jsonb not null,
  facts jsonb not null,
  primary key (platform_id, environment, id),
  foreign key (platform_id, environment) references platforms,
  check ((status = 'PENDING_REVIEW') = (reviewed_at is null))
);
create unique index approval_requests_pending on approval_requests (platform_id, environment, source_type, source_id)
  where status = 'PENDING_REVIEW';
create index approval_requests_source on approval_requests (platform_id, environment, source_id);
create index approval_requests_created on approval_requests (platform_id, environment, created_at);
call protect_tenant_table('approval_requests');
revoke delete on approval_requests from millrace_app;

-- A request that is cancelled leaves its mark on the schedule too.
alter table pricing_plan_schedules drop constraint pricing_plan_schedules_approval_status_check;
alter table pricing_plan_schedules add constraint pricing_plan_schedules_approval_status_check
  check (approval_status in ('PENDING_REVIEW', 'APPROVED', 'DECLINED', 'CANCELLED')) not valid;
