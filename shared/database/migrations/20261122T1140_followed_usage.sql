-- How far the log was when invoices that are not closed were last told of new usage, by tenant.
create table followed_usage (
  platform_id text not null,
  environment environment not null,
  -- By partition of the log: whose usage was touched up to there has been looked at.
  positions jsonb not null,
  primary key (platform_id, environment),
  foreign key (platform_id, environment) references platforms
);
call protect_tenant_table('followed_usage');
