-- Approval policies say what users have to approve, and who they are.
create table approval_policies (
  platform_id text not null,
  environment environment not null,
  id text not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  reference text not null,
  name text not null,
  source_type text not null check (source_type in ('QUOTE_VERSION', 'INVOICE', 'PRICING_PLAN_SCHEDULE')),
  status text not null check (status in ('DRAFT', 'ACTIVE', 'DEPRECATED', 'ARCHIVED')),
  approval_type text not null check (approval_type in ('GROUP', 'LEVEL')),
  approvers jsonb not null,
  -- What needs approval meets every rule of one of the groups. Without a group everything does.
  rule_groups jsonb not null,
  primary key (platform_id, environment, id),
  unique (platform_id, environment, reference),
  foreign key (platform_id, environment) references platforms
);
-- One decides for each source type, also when two are activated at once.
create unique index approval_policies_platform_id_environment_source_type_key on approval_policies
  (platform_id, environment, source_type) where status = 'ACTIVE';
call protect_tenant_table('approval_policies');
