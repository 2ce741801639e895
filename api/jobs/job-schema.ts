// The job queue's own tables. Only the owner of the database can make them; the worker then gets what it needs and no more.
import { runMigrations } from 'graphile-worker'
import pg from 'pg'

/** Any constant: one preparer at a time in one database. */
const LOCK = 7_243_112

// The queue's tables have row-level security without policies, which shuts out everybody but their owner.
const GRANT = `
  grant usage on schema graphile_worker to millrace_worker;
  grant select, insert, update, delete on all tables in schema graphile_worker to millrace_worker;
  grant usage on all sequences in schema graphile_worker to millrace_worker;
  grant execute on all functions in schema graphile_worker to millrace_worker;
  do $$
  declare target text;
  begin
    for target in select c.relname from pg_class c
      where c.relnamespace = 'graphile_worker'::regnamespace and c.relkind = 'r' and c.relrowsecurity
        and not exists (select from pg_policy p where p.polrelid = c.oid and p.polname = 'millrace_worker')
    loop
      execute format('create policy millrace_worker on graphile_worker.%I to millrace_worker using (true) with check (true)', target);
    end loop;
  end $$;`

/** Makes or updates the job queue in the database at `ownerUrl`, whose user owns the schema. Safe to run from many workers at once. */
export async function prepareJobSchema(ownerUrl: string): Promise<void> {
  const client = new pg.Client({ connectionString: ownerUrl })
  await client.connect()
  try {
    await client.query('select pg_advisory_lock($1)', [LOCK])
    await runMigrations({ connectionString: ownerUrl, maxPoolSize: 2 })
    await client.query(GRANT)
  } finally {
    await client.end()
  }
}
