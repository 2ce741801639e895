// How what decides about events is read: by indexes, however many customers a platform has.
import { type SQL, sql } from 'drizzle-orm'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { placesOf } from '../../../../shared/attribution/replicate.ts'
import { type ReadUow, readTenant } from '../../../../shared/database/database.ts'
import { instantOf } from '../../../../shared/time.ts'
import { type ApiHarness, startApi, type TestTenant } from '../../../testing/harness.ts'
import { makeSchedule, makeSubscription, succeed } from '../testing/seed-subscription.ts'
import { directoryOf, loadAttribution } from './load-attribution.ts'

let api: ApiHarness
let tenant: TestTenant
beforeAll(async () => {
  api = await startApi()
  tenant = api.tenants.bTest
})
afterAll(() => api?.close())

const COPIES = 5_000

test('a customer with thousands beside it: its child, and no pass over the others', async () => {
  const create = async (more: object): Promise<string> =>
    (await tenant.call('POST', '/v1/customers', { type: 'INDIVIDUAL', ...more })).body['id']
  const parent = await create({})
  const child = await create({ parent_customer_ids: [parent] })
  const other = await create({ parent_customer_ids: [parent] })
  // What has ever been a child stays one: which events went on to the parent depends on their time.
  await tenant.call('PATCH', `/v1/customers/${other}`, { status: 'ACTIVE' })
  await tenant.call('PATCH', `/v1/customers/${other}`, { parent_customer_ids: null })
  await api.sql(
    `insert into customers select r.* from customers c
     cross join generate_series(1, ${COPIES}) as n
     cross join lateral jsonb_populate_record(c, jsonb_build_object('id', c.id || n, 'reference', null, 'attribution_terms',
       jsonb_build_array(c.attribution_terms -> 0 || jsonb_build_object('parent_customer_ids', jsonb_build_array('cust_' || n))))) as r
     where c.id = $1`,
    [child],
  )
  await api.sql('analyze customers, customer_parents')
  const plans: string[] = []
  const found = await readTenant(api.database, tenant.tenant, uow =>
    loadAttribution(explaining(uow, plans), { customerIds: [other, child], with: 'CHILDREN' }),
  )
  expect(found.customers.map(({ id }) => id)).toEqual([child, other].toSorted())
  const children = await readTenant(api.database, tenant.tenant, uow =>
    loadAttribution(explaining(uow, plans), { customerIds: [parent], with: 'CHILDREN' }),
  )
  expect(children.customers).toHaveLength(3)
  const parents = await readTenant(api.database, tenant.tenant, uow =>
    loadAttribution(explaining(uow, plans), { customerIds: [child], with: 'PARENTS' }),
  )
  expect(parents.customers.map(({ id }) => id)).toEqual([child, parent].toSorted())
  expect(plans.filter(plan => plan.includes('Seq Scan on customer'))).toEqual([])
  expect(plans.filter(plan => plan.includes('customer_parents_pkey'))).toHaveLength(2)
})

test('a customer that is NON_PROCESSING takes events of its children and none of its own', async () => {
  const of = async (role: string) => {
    const body = { type: 'INDIVIDUAL', status: 'ACTIVE', roles: [role] }
    const customer_id: string = (await tenant.call('POST', '/v1/customers', body)).body['id']
    const id = await makeSubscription(tenant)
    await makeSchedule(tenant, id, '2026-01-01T00:00:00Z')
    await succeed(tenant, 'PATCH', `/v1/pricing-plan-subscriptions/${id}`, { customer_id, status: 'ACTIVE' })
    const below = { roles: ['PROCESSING_ONLY'], parent_customer_ids: [customer_id] }
    const child: string = (await tenant.call('POST', '/v1/customers', { ...body, ...below })).body['id']
    const directory = directoryOf(
      await readTenant(api.database, tenant.tenant, uow =>
        loadAttribution(uow, { customerIds: [child], with: 'PARENTS' }),
      ),
    )
    const [meterReference = ''] = directory.get(customer_id)?.subscriptions[0]?.held[0]?.meters ?? []
    const event = { subscription: '', meterReference, timestamp: instantOf(Date.parse('2026-06-01T00:00:00Z')) }
    return [customer_id, child].map(sender =>
      placesOf(directory, sender, event).map(({ attribution: found }) =>
        found.kind === 'SUBSCRIPTION' ? found.subscription.id === id : found.reason,
      ),
    )
  }
  expect(await of('DEFAULT')).toEqual([[true], ['PROCESSING_ONLY', true]])
  expect(await of('NON_PROCESSING')).toEqual([['NO_SUBSCRIPTION'], ['PROCESSING_ONLY', true]])
})

/** The unit of work, which also writes down the plan of each statement. */
function explaining(uow: ReadUow, plans: string[]): ReadUow {
  const execute = async (query: SQL) => {
    const { rows } = await uow.tx.execute(sql`explain ${query}`)
    plans.push(rows.map(row => row['QUERY PLAN']).join('\n'))
    return await uow.tx.execute(query)
  }
  return { ...uow, tx: { execute } as unknown as ReadUow['tx'] }
}
