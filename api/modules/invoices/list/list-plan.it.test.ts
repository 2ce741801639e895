// Searches of a year of invoices read an index and count no further than pages are counted, and the search for overdue ones reads an index
// of those that may be: the statements that are sent, explained.
import { sql } from 'drizzle-orm'
import pg from 'pg'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { type DatabaseRole, inTenant, SERVICE } from '../../../../shared/database/database.ts'
import { loginOf } from '../../../../shared/testing/database-logins.ts'
import { type ApiHarness, startOwnApi } from '../../../testing/harness.ts'
import { openWorkerDatabase } from '../../../testing/worker.ts'
import { seedInvoice } from '../../billing/testing/seed-invoice.ts'
import { findOverdue } from '../overdue/jobs.ts'
import { unpaidInvoices } from '../overdue/unpaid-invoices.ts'

/** 12,000 FINAL invoices, some of them unpaid and some for nothing, with a VOID one after every 120. */
const INVOICES = 12_100
const INVOICES_UNPAID = 120
const LIMIT = 50
/** So far pages are counted, and one more to know whether there are more. */
const COUNTED = 10_001

let api: ApiHarness
beforeAll(async () => {
  api = await startOwnApi()
  const { aLive } = api.tenants
  const seeded = await seedInvoice(api, aLive)
  // One an hour, in 2025 and the months after, like one that billing made.
  await api.sql(
    `insert into invoices (platform_id, environment, id, created_at, updated_at, invoice_number, status, type, billing_type, customer_id,
       billing_entity_id, invoice_date, due_date, billing_currency, timezone, amount_excluding_tax, tax_amount, amount_including_tax,
       payment_status, content, inputs_hash, updated_to_final_at, producer, holds_period, own_notes, credited_amount, paid_amount, settled_amount)
     select t.platform_id, t.environment, 'invo_' || n, at, at, case when not void then 'N-' || n end, case when void then 'VOID' else 'FINAL' end, 'STANDARD', 'DEFAULT', t.customer_id, t.billing_entity_id, at, at, 'EUR', 'UTC',
       amount, 0, amount, case when void or n % 100 = 0 or amount = 0 then 'UNPAID' else 'PAID' end, t.content, '', at, 'ONE_OFF', false, '[]', 0, 0, 0
     from generate_series(1, $2::int) as n
     cross join lateral (select timestamptz '2025-01-01T00:00:00Z' + n * interval '1 hour' as at, n % 121 = 0 as void,
       case when n % 100 = 1 then 0 else 100 end as amount) as made
     join invoices t on t.id = $1`,
    [seeded['id'], INVOICES],
  )
  await api.sql('analyze invoices')
})
afterAll(() => api?.close())

type Sent = { readonly text: string; readonly values: unknown[] }
type Plan = Readonly<Record<string, unknown>> & { readonly Plans?: readonly Plan[] }

/** The statements about invoices that the api sends while it answers. */
async function statementsOf(work: () => Promise<unknown>): Promise<Sent[]> {
  const query = vi.spyOn(pg.Client.prototype, 'query')
  try {
    await work()
    return query.mock.calls.flatMap(([config, values]): Sent[] => {
      const text = typeof config === 'string' ? config : (config as unknown as Sent).text
      const given = Array.isArray(values) ? values : ((config as unknown as Partial<Sent>).values ?? [])
      return / from ("invoices"|invoices v)/.test(text) ? [{ text, values: given }] : []
    })
  } finally {
    query.mockRestore()
  }
}

/** The nodes of the plan, run under row-level security as the api or the worker runs it. */
async function nodesOf({ text, values }: Sent, role: DatabaseRole = 'millrace_app'): Promise<Plan[]> {
  const { platformId, environment } = api.tenants.aLive.tenant
  const client = new pg.Client({ connectionString: loginOf(api.databaseUrl, role) })
  await client.connect()
  try {
    await client.query(`set app.platform_id = ${pg.escapeLiteral(platformId)}`)
    await client.query(`set app.environment = ${pg.escapeLiteral(environment)}`)
    await client.query('set random_page_cost = 1.1')
    const { rows } = await client.query(`explain (analyze, timing off, format json) ${text}`, values)
    const flat = (plan: Plan): Plan[] => [plan, ...(plan.Plans ?? []).flatMap(flat)]
    return flat(rows[0]['QUERY PLAN'][0]['Plan'])
  } finally {
    await client.end()
  }
}

test('invoices with an open amount are found by indexes of those alone', async () => {
  const { tenant } = api.tenants.aLive
  const system = await openWorkerDatabase(api, 1)
  try {
    const all = { where: sql`true`, limit: INVOICES, hold: 'share' } as const
    const sent: readonly [DatabaseRole, string, Sent[]][] = [
      ['millrace_worker', 'invoices_becoming_overdue', await statementsOf(() => findOverdue(system))],
      [
        'millrace_app',
        'invoices_open_amount',
        await statementsOf(() =>
          inTenant(api.database, tenant, SERVICE, uow => unpaidInvoices(uow, { dueBefore: uow.now, ...all })),
        ),
      ],
    ]
    for (const [role, index, [statement]] of sent) {
      if (!statement) throw new Error('a statement looks for them')
      const read = (await nodesOf(statement, role)).filter(node => node['Relation Name'] === 'invoices')
      expect(read).toEqual([expect.objectContaining({ 'Index Name': index, 'Actual Rows': INVOICES_UNPAID })])
    }
  } finally {
    await system.close()
  }
})

const year = { name: 'invoice_date', value: '[2025-01-01T00:00:00Z,2025-12-31T23:59:59Z]' }
const SEARCHES: readonly (readonly [string, string, object])[] = [
  ['everything', '', {}],
  ['a year', '', { filter_fields: [year] }],
  ['a year by its date', '&order_by=invoice_date', { filter_fields: [year] }],
  ['a deep page', '&page=100', { filter_fields: [year] }],
  ['a year by its due date', '&order_by=due_date', { filter_fields: [year] }],
  ['an early month', '', { filter_fields: [{ ...year, value: '[2025-01-01T00:00:00Z,2025-01-31T23:59:59Z]' }] }],
  ['an early day', '', { filter_fields: [{ ...year, value: '[2025-01-01T00:00:00Z,2025-01-04T00:00:00Z]' }] }],
  ['a status', '', { filter_fields: [year, { name: 'status', value: 'FINAL' }] }],
  ['a rare status', '', { filter_fields: [year, { name: 'status', value: 'VOID' }] }],
  ['a rare payment status', '', { filter_fields: [year, { name: 'payment_status', value: 'UNPAID' }] }],
  ['a currency', '', { filter_fields: [year, { name: 'billing_currency', value: 'EUR' }] }],
  ['the start of a number', '', { search_fields: [{ name: 'invoice_number', value: 'N-1', wildcard_end: true }] }],
]

test.each(SEARCHES)('%s: no statement reads the whole table', async (name, query, body) => {
  const { aLive } = api.tenants
  const search = async (): Promise<void> => {
    const found = await aLive.call('POST', `/v1/invoices/search?limit=${LIMIT}${query}`, body)
    expect(found).toMatchObject({ status: 200, body: { data: { length: LIMIT } } })
  }
  const sent = await statementsOf(search)
  // The rows and their count. The first page of everything also finds the custom fields of its rows in the same message.
  expect(sent).toHaveLength(name === 'everything' ? 3 : 2)
  for (const statement of sent) {
    const nodes = await nodesOf(statement)
    for (const node of nodes) expect(Number(node['Actual Rows'])).toBeLessThanOrEqual(COUNTED)
    // A count that stops may read the rows as they lie, where nearly all of them match.
    if (statement.text.startsWith('select count')) continue
    const types = nodes.map(node => node['Node Type'])
    expect([statement.text, types]).toEqual([statement.text, expect.not.arrayContaining(['Seq Scan'])])
    expect(nodes.map(node => node['Index Name'])).toEqual(
      expect.arrayContaining([
        expect.stringMatching(
          /^invoices_(created|currency|date|due|not_final|not_paid|platform_id_environment_invoice_number_key)$/,
        ),
      ]),
    )
  }
})

test('a part of a number is found by an index of parts, of the own tenant alone', async () => {
  const { aLive, bLive } = api.tenants
  const body = { search_fields: [{ name: 'invoice_number', value: '-1204', wildcard_start: true, wildcard_end: true }] }
  const search = async (given: object, tenant = aLive): Promise<unknown[]> => {
    const { body: found } = await tenant.call('POST', '/v1/invoices/search?order_by=invoice_number', given)
    return found['data'].map((each: Record<string, unknown>) => each['invoice_number'])
  }
  const numbers = ['N-12049', 'N-12048', 'N-12047', 'N-12046', 'N-12045', 'N-12044', 'N-12043', 'N-12042', 'N-12041']
  const sent = await statementsOf(async () => {
    expect(await search(body)).toEqual([...numbers, 'N-12040', 'N-1204'])
  })
  for (const statement of sent) {
    expect(statement.text).not.toContain('like')
    for (const node of await nodesOf(statement)) expect(Number(node['Actual Rows'])).toBeLessThanOrEqual(11)
  }
  const [field] = body.search_fields
  expect(await search({ search_fields: [{ ...field, value: 'n-1204', ignore_case: true }] })).toHaveLength(11)
  expect(await search({ ...body, filter_fields: [{ name: 'payment_status', value: 'UNPAID' }] })).toEqual([])
  expect(await search({ search_fields: [{ ...field, value: 'N-1204%' }] })).toEqual([])
  // Too little to look for, and in more numbers than are looked for: compared one by one.
  expect(await search({ search_fields: [{ ...field, value: '-' }] })).toHaveLength(50)
  expect(await search(body, bLive)).toEqual([])
})

test('the function that finds numbers knows no tenant but that of the transaction', async () => {
  const { aLive, bLive } = api.tenants
  const client = new pg.Client({ connectionString: loginOf(api.databaseUrl, 'millrace_app') })
  await client.connect()
  try {
    const count = async (platform: string, environment: string): Promise<unknown> => {
      await client.query(`select set_config('app.platform_id', $1, false), set_config('app.environment', $2, false)`, [
        platform,
        environment,
      ])
      const { rows } = await client.query(
        `select count(*)::int as found from invoices_by_number('%-1204%', false, 100)`,
      )
      return rows[0].found
    }
    expect(await count(aLive.tenant.platformId, 'LIVE')).toBe(11)
    expect(await count(aLive.tenant.platformId, 'TEST')).toBe(0)
    expect(await count(bLive.tenant.platformId, 'LIVE')).toBe(0)
    expect(await count('', '')).toBe(0)
  } finally {
    await client.end()
  }
})

test('a currency that no invoice has is looked for in an index by itself', async () => {
  const { aLive } = api.tenants
  const body = { filter_fields: [year, { name: 'billing_currency', value: 'USD' }] }
  const [page] = await statementsOf(() => aLive.call('POST', `/v1/invoices/search?limit=${LIMIT}`, body))
  if (!page) throw new Error('the search reads invoices')
  const scans = (await nodesOf(page)).filter(node => String(node['Node Type']).endsWith('Scan'))
  expect(scans.map(node => node['Index Name'])).toContain('invoices_currency')
})

test('pages are counted up to 10,000 entries, and no page that is there is left out', async () => {
  const page = async (number: number): Promise<unknown[]> => {
    const { body } = await api.tenants.aLive.call('GET', `/v1/invoices?statuses[]=FINAL&limit=${LIMIT}&page=${number}`)
    return [body['data'].length, body['total_number_of_pages'], body['has_more']]
  }
  // 12,000 invoices are 240 pages.
  expect(await page(1)).toEqual([LIMIT, 201, true])
  expect(await page(200)).toEqual([LIMIT, 201, true])
  expect(await page(201)).toEqual([LIMIT, 202, true])
  expect(await page(240)).toEqual([LIMIT, 240, false])
  expect(await page(241)).toEqual([0, 240, false])
})
