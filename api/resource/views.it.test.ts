// A view is read again exactly when something may have changed since it was read.
import { sql } from 'drizzle-orm'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { inTenant, readTenant, SERVICE, type Uow } from '../../shared/database/database.ts'
import { type ProductCategory, productCategories } from '../modules/catalog/products/table.ts'
import { type ApiHarness, startApi } from '../testing/harness.ts'
import { createResource, updateResource } from './commands.ts'
import { defineResource, field } from './define-resource.ts'
import { Name } from './shapes.ts'
import { getOne } from './store.ts'
import { viewOf } from './views.ts'

let api: ApiHarness
beforeAll(async () => {
  api = await startApi()
})
afterAll(() => api.close())

/** How many views were computed. */
let computed = 0
const categories = defineResource<ProductCategory>({
  objectType: 'PRODUCT_CATEGORY',
  shapeName: 'ProductCategory',
  idPrefix: 'proc',
  path: 'product-categories',
  table: productCategories,
  fields: { name: field(Name) },
  byReference: true,
  defaults: async (_uow, { name }) => ({ reference: `of-${name}` }),
  compute: async (_uow, rows) => {
    computed += 1
    return rows.map(() => ({ others: computed }))
  },
  operations: [],
  fixture: { create: async () => ({}), update: null },
})
const change = <T>(work: (uow: Uow) => Promise<T>): Promise<T> =>
  inTenant(api.database, api.tenants.aLive.tenant, SERVICE, work)

test('the event and the response of a change share one view; after a further write it is read again', async () => {
  const shown = await change(async uow => {
    const row = await createResource(uow, categories, { name: 'Tokens' })
    const before = computed
    const views = [await viewOf(uow, categories, row), await viewOf(uow, categories, row)]
    expect(computed).toBe(before)
    views[0] = Object.assign(views[0] ?? {}, { others: 'changed by who asked' })
    await uow.tx.execute(sql`select 1 + ${1}::int`)
    views.push(await viewOf(uow, categories, row))
    expect(computed).toBe(before)
    await uow.tx.execute(sql`update product_categories set name = ${'Other'} where id = ${row.id}`)
    await viewOf(uow, categories, row)
    expect(computed).toBe(before + 1)
    // What a function does is not in the statement that calls it.
    for (const call of [sql`select lower(${'A'})`, sql`select * from lower(${'A'})`]) {
      await uow.tx.execute(call)
      await viewOf(uow, categories, row)
    }
    expect(computed).toBe(before + 3)
    const next = await updateResource(uow, categories, row.id, { name: 'Seats' })
    return { row, views, next, last: await viewOf(uow, categories, next) }
  })
  expect(shown.views[2]).toEqual(shown.views[1])
  expect(shown.last).toMatchObject({ name: 'Seats', others: computed })
})

test('another transaction, and one that only reads, compute their own', async () => {
  const row = await change(uow => createResource(uow, categories, { name: 'Calls' }))
  const before = computed
  await change(uow => viewOf(uow, categories, row))
  expect(computed).toBe(before + 1)
  for (const count of [2, 3]) {
    await readTenant(api.database, api.tenants.aLive.tenant, async uow => {
      await viewOf(uow, categories, await getOne(uow, categories, row.id))
      await viewOf(uow, categories, row)
    })
    expect(computed).toBe(before + 1 + 2 * (count - 1))
  }
})
