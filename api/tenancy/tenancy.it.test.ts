// Promise 2: no tenant ever sees or changes another's data, nor TEST LIVE's (security section 7).
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type ApiHarness, startApi } from '../testing/harness.ts'
import { openProbe, PROBE_MS } from '../testing/probe-tenants.ts'

let api: ApiHarness
beforeAll(async () => {
  api = await startApi()
})
afterAll(() => api?.close())

// The authorization server's own: a user's consent may reach several tenants. Only the identity host reads them.
const OAUTH = [
  'oauth_clients',
  'oauth_codes',
  'oauth_grant_platforms',
  'oauth_grants',
  'oauth_refresh_tokens',
  'oauth_requests',
  'oauth_signing_keys',
]
// Tables that belong to no tenant. Each was looked at; a new name here needs a reason.
const WITHOUT_TENANT = [
  'identity_mails', // mails to people, without their words; the identity host alone may read them
  ...OAUTH,
  'one_time_links', // hashes of links sent to people; the identity host alone may read them
  'outbox_consumers', // how far those who follow the outbox have read, across tenants
  'passkey_challenges', // for one browser, a few minutes
  'pending_sign_ins', // browsers half way through signing in
  'proof_tries', // how often a person was wrong
  'schema_migrations', // names of migrations
  'sessions', // signed-in browsers; the identity host alone may read them
  'sign_in_tries', // when a password was tried, under a hash of whose; the identity host alone may read them
  'user_authenticators', // second factors of people, as the next two
  'user_passkeys',
  'user_recovery_codes',
  'users', // people of the console; their memberships, not they, belong to tenants
]

test('every table is under forced row-level security with the tenant policy, or is on the reviewed list', async () => {
  const tables = await api.sql(`
    select c.relname as name, c.relrowsecurity and c.relforcerowsecurity as forced,
      exists (select from pg_policies p where p.schemaname = 'public' and p.tablename = c.relname and p.policyname = 'tenant'
        and p.qual like '%current_platform()%' and p.qual like '%current_environment()%' and p.with_check like '%current_platform()%'
        and p.with_check like '%current_environment()%') as policy
    from pg_class c where c.relkind in ('r', 'p') and c.relnamespace = 'public'::regnamespace`)
  expect(tables.length).toBeGreaterThan(5)
  const open = tables.filter(table => !(table['forced'] && table['policy'])).map(table => table['name'])
  expect(open.toSorted()).toEqual(WITHOUT_TENANT)
})

test('primary keys, unique keys and foreign keys between tenant tables start with the tenant', async () => {
  const keys = await api.sql(`
    select conrelid::regclass::text as "table", conname as name, contype as type,
      (select array_agg(attname::text order by position) from unnest(conkey) with ordinality as k(number, position)
        join pg_attribute a on a.attrelid = conrelid and a.attnum = k.number) as columns
    from pg_constraint where contype in ('p', 'u', 'f') and connamespace = 'public'::regnamespace`)
  const reviewed = ['api_keys_key_id_key', 'api_keys_sha256_key', 'user_memberships_user_id_fkey'] // random values of ours: their uniqueness tells nobody anything; and a user is a person, of no tenant
  const loose = keys
    .filter(key => !WITHOUT_TENANT.includes(key['table']) && !reviewed.includes(key['name']))
    .filter(key => key['columns'][0] !== 'platform_id' || key['columns'][1] !== 'environment')
  expect(loose).toEqual([])
})

test('unique indexes start with the tenant too', async () => {
  const rows = await api.sql(
    `select tablename, indexdef from pg_indexes where schemaname = 'public' and indexdef like 'CREATE UNIQUE%'`,
  )
  const loose = rows
    .filter(
      row => !WITHOUT_TENANT.includes(row['tablename']) && !/\(platform_id, environment[,)]/.test(row['indexdef']),
    )
    .map(row => row['indexdef'].replace(/^CREATE UNIQUE INDEX (\S+) .*/, '$1'))
  // outbox_position is a number of ours, given by the relay across tenants.
  expect(loose.toSorted()).toEqual(['api_keys_key_id_key', 'api_keys_sha256_key', 'outbox_position'])
})

test('the roles that serve cannot bypass row-level security and own nothing', async () => {
  const roles =
    await api.sql(`select rolname, rolsuper or rolbypassrls or exists (select from pg_class where relowner = r.oid) as unsafe
    from pg_roles r where rolname like 'millrace_%'`)
  expect(roles.map(role => role['rolname']).toSorted()).toEqual([
    'millrace_app',
    'millrace_gateway',
    'millrace_identity',
    'millrace_worker',
  ])
  expect(roles.filter(role => role['unsafe'])).toEqual([])
})

test(
  'no route lets another tenant, another environment or nobody see or change a thing',
  async () => {
    expect(await (await openProbe(api)).find()).toEqual([])
  },
  PROBE_MS,
)
