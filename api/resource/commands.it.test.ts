import { afterAll, beforeAll, expect, test } from 'vitest'
import { inTenant, SERVICE, type Uow } from '../../shared/database/database.ts'
import { meterResource } from '../modules/catalog/meters/meter.ts'
import { type ProductCategory, productCategories } from '../modules/catalog/products/table.ts'
import { customerResource } from '../modules/parties/customers/resource.ts'
import { type ApiHarness, startApi } from '../testing/harness.ts'
import { noticesOf } from '../testing/notices.ts'
import { createResource, updateResource } from './commands.ts'
import { defineResource, field, type ResourceDefinition } from './define-resource.ts'
import { Name, Reference } from './shapes.ts'
import { getOne } from './store.ts'

let api: ApiHarness
beforeAll(async () => {
  api = await startApi()
})
afterAll(() => api.close())

const definition: ResourceDefinition<ProductCategory, { readonly nickname?: string | null }> = {
  objectType: 'PRODUCT_CATEGORY',
  shapeName: 'ProductCategory',
  idPrefix: 'proc',
  path: 'product-categories',
  table: productCategories,
  fields: { reference: field(Reference, { change: 'draft' }), name: field(Name) },
  given: { nickname: field(Name) },
  operations: [],
  byReference: true,
  // Derives a column from another one, and one from a field that is no column.
  resolve: (_uow, { nickname, ...row }) => ({
    ...row,
    name: nickname ?? row.name,
    reference: `of-${(nickname ?? row.name).toLowerCase()}`,
  }),
  fixture: { create: async () => ({}), update: null },
}
const derived = defineResource(definition)

const change = <T>(work: (uow: Uow) => Promise<T>): Promise<T> =>
  inTenant(api.database, api.tenants.aLive.tenant, SERVICE, work)
const referencesIn = async (id: string): Promise<unknown[]> =>
  (await noticesOf(api, id)).map(({ type, data, previous_data }) => [
    type,
    data.reference,
    previous_data?.reference ?? null,
  ])

test('an update saves the columns that resolve derived, not only those that were patched', async () => {
  const made = await change(uow => createResource(uow, derived, { name: 'Tokens' }))
  expect(made.reference).toBe('of-tokens')
  await change(uow => updateResource(uow, derived, made.id, { name: 'Seats' }))
  const stored = await change(uow => getOne(uow, derived, made.id))
  expect([stored.name, stored.reference]).toEqual(['Seats', 'of-seats'])
  await change(uow => updateResource(uow, derived, made.id, { nickname: 'Calls' }))
  const [row] = await api.sql('select name, reference from product_categories where id = $1', [made.id])
  expect(row).toEqual({ name: 'Calls', reference: 'of-calls' })
  expect(await referencesIn(made.id)).toEqual([
    ['PRODUCT_CATEGORY.CREATED', 'of-tokens', null],
    ['PRODUCT_CATEGORY.UPDATED', 'of-seats', 'of-tokens'],
    ['PRODUCT_CATEGORY.UPDATED', 'of-calls', 'of-seats'],
  ])
})

test('a patch that leads to what is stored writes nothing and notifies no one', async () => {
  const made = await change(uow => createResource(uow, derived, { name: 'Idle' }))
  const same = await change(uow => updateResource(uow, derived, made.id, { name: 'Idle', nickname: null }))
  expect(same).toEqual(made)
  expect(await referencesIn(made.id)).toHaveLength(1)
})

test('the rule of when a field may change holds of what was patched, not of what follows from it', async () => {
  const meter = await api.tenants.aLive.seed.make(meterResource)
  const patched = await api.tenants.aLive.call('PATCH', `/v1/meters/${meter['id']}`, { reference: 'other' })
  expect([patched.status, patched.body['field']]).toEqual([400, 'reference'])
  const followed = await change(async uow => {
    const made = await createResource(uow, derived, { name: 'Frozen' })
    return await updateResource(uow, derived, made.id, { name: 'Thawed' })
  })
  expect(followed.reference).toBe('of-thawed')
})

test('a body with a reference where an id belongs is told the id', async () => {
  const { aLive, bLive } = api.tenants
  const customer = await aLive.seed.make(customerResource)
  const reference = String(customer['reference'])
  const contact = { customer_id: reference, reference: aLive.seed.unique('contact') }
  expect((await aLive.call('POST', '/v1/contacts', contact)).body).toEqual({
    type: 'INVALID_REQUEST',
    code: 'RESOURCE_NOT_FOUND',
    field: 'customer_id',
    message: `customer_id takes the id of a customer, not its reference: "${reference}" is ${customer['id']}.`,
    resource_id: customer['id'],
    resource_type: 'CUSTOMER',
  })
  // Of another tenant nothing is said.
  const foreign = (await bLive.call('POST', '/v1/contacts', contact)).body
  expect(foreign).toMatchObject({ code: 'RESOURCE_NOT_FOUND', message: `There is no CUSTOMER "${reference}".` })
  expect(foreign).not.toHaveProperty('resource_id')
})

test('a reference that is there already is refused with the id of what has it', async () => {
  const { aLive, bLive } = api.tenants
  const body = { reference: aLive.seed.unique('twice'), name: 'Twice' }
  const first = await aLive.call('POST', '/v1/products', body)
  expect((await aLive.call('POST', '/v1/products', body)).body).toEqual({
    type: 'INVALID_REQUEST',
    code: 'RESOURCE_ALREADY_EXISTS',
    field: 'reference',
    message: 'There already is one with this reference; choose another.',
    resource_id: first.body['id'],
    resource_type: 'PRODUCT',
  })
  expect((await bLive.call('POST', '/v1/products', body)).status).toBe(201)
  const fresh = { ...body, reference: aLive.seed.unique('at-once') }
  const both = await Promise.all([1, 2].map(() => aLive.call('POST', '/v1/products', fresh)))
  expect(both.map(({ status }) => status).toSorted()).toEqual([201, 409])
  const [made, refused] = both.toSorted((a, b) => a.status - b.status)
  expect(refused?.body['resource_id']).toBe(made?.body['id'])
})

test('a row has the type of its table, and a name that is no column does not compile', () => {
  const { fields, searchable, ...rest } = definition
  // @ts-expect-error -- `nmae` is no column of product categories
  defineResource<ProductCategory>({ ...rest, given: {}, fields: { nmae: field(Name) } })
  // @ts-expect-error -- nor is `titel`
  defineResource({ ...rest, fields, searchable: ['titel'] })
  expect(Object.keys(derived.fields)).toEqual(['reference', 'name', 'nickname'])
})
