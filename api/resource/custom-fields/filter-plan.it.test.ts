// A list filtered by a custom field reads an index, also when ten thousand resources have the field.
import { and, sql } from 'drizzle-orm'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { readTenant } from '../../../shared/database/database.ts'
import { filterConditions } from '../../list/list-spec.ts'
import { customers } from '../../modules/parties/customers/table.ts'
import { type ApiHarness, startOwnApi } from '../../testing/harness.ts'
import { inThisTenant } from '../tenant-condition.ts'

const CUSTOMERS = 10_000

let api: ApiHarness
beforeAll(async () => {
  api = await startOwnApi()
})
afterAll(() => api?.close())

test('the values that match are found by an index, and their customers by theirs', async () => {
  const { aLive } = api.tenants
  const { body: field } = await aLive.call('POST', '/v1/custom-fields', {
    reference: 'crm-id',
    resource_type: 'CUSTOMER',
  })
  const { platformId, environment } = aLive.tenant
  await api.sql(
    `insert into customers (platform_id, environment, id, created_at, updated_at, type, status)
     select $1, $2::environment, 'cust_' || n, now(), now(), 'INDIVIDUAL', 'ACTIVE' from generate_series(1, $3) as n`,
    [platformId, environment, CUSTOMERS],
  )
  await api.sql(
    `insert into custom_field_values (platform_id, environment, resource_id, custom_field_id, position, value, is_unique)
     select platform_id, environment, id, $1, 0, 'crm-' || id, false from customers where platform_id = $2`,
    [field['id'], platformId],
  )
  await api.sql('analyze customers')
  await api.sql('analyze custom_field_values')
  const found = await aLive.call('GET', '/v1/customers?custom_field=crm-id:crm-cust_4711')
  expect(found.body['data'].map((each: { id: string }) => each.id)).toEqual(['cust_4711'])
  const plan = await readTenant(api.database, aLive.tenant, async uow => {
    const spec = {
      table: customers,
      filters: {},
      orderBy: [],
      searchable: [],
      ranges: [],
      customFields: 'CUSTOMER',
    } as const
    const conditions = await filterConditions(uow, spec, { custom_field: 'crm-id:crm-cust_4711' })
    const query = uow.tx
      .select({ id: customers.id })
      .from(customers)
      .where(and(inThisTenant(uow, customers), ...conditions))
      .getSQL()
    const { rows } = await uow.tx.execute(sql`explain ${query}`)
    return JSON.stringify(rows)
  })
  expect(plan).toContain('custom_field_values_value')
  expect(plan).toContain('customers_pkey')
  expect(plan).not.toContain('Seq Scan')
})
