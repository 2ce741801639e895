// Upgrade and rollback of the schema, as docs/deploying.md has them: a new version adds what is missing to the data of the one
// before, and the one before starts on the newer schema.
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import pg from 'pg'
import { afterEach, beforeEach, expect, inject, test } from 'vitest'
import type {} from '../testing/global-setup.ts'
import { uniqueName } from '../testing/names.ts'
import { runWithAllRows } from './hidden-rows.ts'
import { migrate } from './migrate.ts'

const FOLDER = 'shared/database/migrations'
const files = readdirSync(FOLDER)
  .filter(name => name.endsWith('.sql'))
  .sort()
/** What an early version has. */
const before = files.filter(file => file < '0009')
const SHA256_OF_NOTHING = createHash('sha256').update('').digest('hex')

let name: string
let url: string
let client: pg.Client
const onServer = async (statement: string): Promise<void> => {
  const server = new pg.Client({ connectionString: inject('databaseUrl') })
  await server.connect()
  await server.query(statement).finally(() => server.end())
}
beforeEach(async () => {
  name = uniqueName()
  await onServer(`create database ${name}`)
  const address = new URL(inject('databaseUrl'))
  address.pathname = `/${name}`
  url = address.href
  client = new pg.Client({ connectionString: url })
  await client.connect()
})
afterEach(async () => {
  await client.end()
  await onServer(`drop database ${name} with (force)`)
})

/** Leaves the schema as the early version left it. */
async function migrateAsBefore(owner: pg.Client): Promise<void> {
  await owner.query(
    'create table schema_migrations (name text primary key, sha256 text, applied_at timestamptz default now())',
  )
  for (const file of before) {
    const text = readFileSync(`${FOLDER}/${file}`, 'utf8')
    await owner.query(text)
    const sha256 = createHash('sha256').update(text).digest('hex')
    await owner.query('insert into schema_migrations (name, sha256) values ($1, $2)', [file, sha256])
  }
}
const known = async (): Promise<string[]> =>
  (await client.query<{ name: string }>('select name from schema_migrations order by name')).rows.map(row => row.name)

/** Records of one tenant as they were before 0009, which the migrations from there on fill in or move. */
const EARLY_RECORDS = `
  insert into platforms (platform_id, environment, name) values ('plat_1', 'LIVE', 'Kept');
  insert into customers (platform_id, environment, id, created_at, updated_at, status, type)
    values ('plat_1', 'LIVE', 'cust_1', now(), now(), 'ACTIVE', 'ORGANIZATION');
  insert into billing_entities (platform_id, environment, id, created_at, updated_at, reference, status, registered_address)
    values ('plat_1', 'LIVE', 'bien_1', now(), now(), 'entity', 'ACTIVE', '{"country": "BE"}');
  insert into pricing_plans (platform_id, environment, id, created_at, updated_at, reference, type, amount_type, variant)
    values ('plat_1', 'LIVE', 'ppla_1', now(), now(), 'plan', 'STANDARD', 'EXCLUDING_TAX', 'DEFAULT');
  insert into pricing_plan_versions (platform_id, environment, id, created_at, updated_at, pricing_plan_id, version, status)
    values ('plat_1', 'LIVE', 'ppve_1', now(), now(), 'ppla_1', 1, 'ACTIVE');
  insert into pricing_plan_subscriptions (platform_id, environment, id, created_at, updated_at, status, customer_id, billing_entity_id,
      billing_period, billing_currency, billing_time, due_date_configuration, type, variant, activated_at)
    values ('plat_1', 'LIVE', 'ppsu_1', now(), now(), 'ACTIVE', 'cust_1', 'bien_1', '{"type": "MONTH", "value": 1}', 'EUR', 'CALENDAR',
      '{}', 'BILLING', 'DEFAULT', '2026-01-01Z');
  insert into pricing_plan_schedules (platform_id, environment, id, created_at, updated_at, pricing_plan_subscription_id, type, status,
      pricing_plan_id, pricing_plan_version_id, start_at, pricing_currency)
    values ('plat_1', 'LIVE', 'ppsc_1', now(), now(), 'ppsu_1', 'DEFAULT', 'ACTIVE', 'ppla_1', 'ppve_1', '2026-01-01Z', 'EUR');
  insert into invoices (platform_id, environment, id, created_at, updated_at, status, customer_id, billing_entity_id,
      pricing_plan_subscription_id, period_start, period_end, advance_only, cut_at, billing_currency, timezone, amount_excluding_tax,
      tax_amount, amount_including_tax, payment_status, content, fingerprint, invoice_number, invoice_date, due_date, updated_to_final_at)
    select 'plat_1', 'LIVE', id, now(), now(), status, 'cust_1', 'bien_1', 'ppsu_1', start_at::timestamptz, '2026-02-01Z', false,
      '2026-02-01Z', 'EUR', 'UTC', amount, 0.21 * amount, 1.21 * amount, payment_status, '{"advance_charges": [], "periods": [{"start_at": "2026-01-01T00:00:00Z",
        "end_at": "2026-02-01T00:00:00Z", "groups": [{"pricing_plan_schedule_id": "ppsc_1", "lines": [{"id": "line_1",
        "pricing_item_id": "prii_1", "product_items": [{"id": "proi_1"}], "amount_excluding_tax": {"quantity": "100"},
        "amount_including_tax": {"quantity": "121"}}]}]}]}', 'made before', number, '2026-02-01Z', '2026-03-01Z', '2026-02-01Z'
    from (values ('invo_1', 'FINAL', 'PAID', 'F1', '2026-01-01Z', 100), ('invo_2', 'VOID', 'UNPAID', null, '2026-01-01Z', 0),
      ('invo_3', 'FINAL', 'UNPAID', 'F3', '2026-01-02Z', 0), ('invo_4', 'FINAL', 'UNPAID', 'F4', '2026-01-03Z', 100)
    ) as v (id, status, payment_status, number, start_at, amount);
`

test('an upgrade by an owner that row-level security binds fills the rows of every tenant, once, however many processes begin it', async () => {
  const owner = `owner_${name}`
  await client.query(`create role ${owner} login createrole password 'of-the-test'`)
  try {
    await client.query(`alter database ${name} owner to ${owner}`)
    // The roles belong to the server, which has them already.
    for (const role of ['millrace_app', 'millrace_gateway', 'millrace_worker', 'millrace_identity'])
      await client.query(`grant ${role} to ${owner} with admin option`)
    const address = new URL(url)
    address.username = owner
    address.password = 'of-the-test'
    const bound = new pg.Client({ connectionString: address.href })
    await bound.connect()
    await migrateAsBefore(bound).finally(() => bound.end())
    await client.query(EARLY_RECORDS)

    const applied = await Promise.all([migrate(address.href), migrate(address.href), migrate(address.href)])
    expect(applied.flat().sort()).toEqual(files.slice(before.length))
    expect(await known()).toEqual(files)
    const { rows: subscriptions } = await client.query(
      'select billing_entity_country, start_at from pricing_plan_subscriptions',
    )
    expect(subscriptions).toEqual([{ billing_entity_country: 'BE', start_at: new Date('2026-01-01') }])
    const { rows: invoices } = await client.query(
      `select id, holds_period, settled_amount::real, content ? 'advance_charges' as old, nothing_due
       from invoices order by id`,
    )
    const stored = { holds_period: true, settled_amount: 0, old: false, nothing_due: false }
    expect(invoices).toEqual([
      { ...stored, id: 'invo_1', settled_amount: 121 },
      { ...stored, id: 'invo_2', holds_period: false },
      { ...stored, id: 'invo_3', nothing_due: true },
      { ...stored, id: 'invo_4' },
    ])
    // The owner looks for numbers, in the tenant of the transaction.
    const { rows: found } = await client.query(
      `select set_config('app.platform_id', 'plat_1', false), set_config('app.environment', 'LIVE', false),
         array(select invoices_by_number('%1', false, 9)) as ids`,
    )
    expect(found).toEqual([expect.objectContaining({ ids: ['invo_1'] })])
    const { rows: lines } = await client.query(
      'select invoice_id, line_id, amount_excluding_tax, tax_amount from invoice_lines order by invoice_id',
    )
    expect(lines).toEqual(
      ['invo_1', 'invo_2', 'invo_3', 'invo_4'].map(invoice_id => ({
        invoice_id,
        line_id: 'line_1',
        amount_excluding_tax: '100',
        tax_amount: '21',
      })),
    )
    const later = new pg.Client({ connectionString: address.href })
    await later.connect()
    const onOneLine = `create table later (id text); update platforms set name = 'Filled'`
    await later.query('begin')
    await runWithAllRows(later, onOneLine)
    await later.query('commit').finally(() => later.end())
    expect((await client.query('select name from platforms')).rows).toEqual([{ name: 'Filled' }])
    expect(await unprotected()).toEqual([])
    // What was added `not valid` was checked later, but for the outbox, whose old rows go.
    const { rows: unchecked } = await client.query('select conname from pg_constraint where not convalidated')
    expect(unchecked).toEqual([{ conname: 'outbox_data_somewhere' }])
  } finally {
    await client.query(`reassign owned by ${owner} to current_user; drop owned by ${owner}; drop role ${owner}`)
  }
})

/** The tenant tables that do not hide their rows from their owner. */
async function unprotected(): Promise<string[]> {
  const { rows } = await client.query<{ name: string }>(
    `select c.relname as name from pg_class c join pg_policy p on p.polrelid = c.oid
     where p.polname = 'tenant' and not c.relforcerowsecurity`,
  )
  return rows.map(row => row.name)
}

test('after a rollback the version before starts on the schema of the newer one, and changes nothing', async () => {
  await migrate(url)
  await client.query(`insert into schema_migrations (name, sha256) values ('99991231T2359_newer.sql', $1)`, [
    SHA256_OF_NOTHING,
  ])
  expect(await migrate(url)).toEqual([])
  expect(await known()).toEqual([...files, '99991231T2359_newer.sql'])
})

test('a migration that was changed after it ran is refused by name', async () => {
  await migrate(url)
  await client.query('update schema_migrations set sha256 = $1 where name = $2', [SHA256_OF_NOTHING, files[3]])
  await expect(migrate(url)).rejects.toThrow(`migration ${files[3]} was changed after it had been applied`)
})
