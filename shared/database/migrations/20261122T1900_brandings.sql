-- What documents looked like: each branding of a platform, from when on. A FINAL invoice keeps the one of its time.
create table brandings (
  platform_id text not null,
  environment environment not null,
  id bigint generated always as identity,
  effective_at timestamptz not null,
  branding jsonb not null,
  primary key (platform_id, environment, id),
  foreign key (platform_id, environment) references platforms
);
create index brandings_effective on brandings (platform_id, environment, effective_at, id);
call protect_tenant_table('brandings');

-- Nothing is known of earlier ones.
insert into brandings (platform_id, environment, effective_at, branding)
  select platform_id, environment, '-infinity', branding from platforms where branding <> '{}';
