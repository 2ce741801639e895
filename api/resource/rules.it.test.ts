// Rules of other modules meet every change of a resource, whichever command makes it, and no change is made without them.
import { eq } from 'drizzle-orm'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { inTenant, SERVICE, type Uow, withContext } from '../../shared/database/database.ts'
import { AppError } from '../../shared/errors.ts'
import { productCategoryResource } from '../modules/catalog/products/product-category.ts'
import { type ProductCategory, productCategories } from '../modules/catalog/products/table.ts'
import { type ApiHarness, startApi } from '../testing/harness.ts'
import { noticesOf } from '../testing/notices.ts'
import { createResource, deleteResource, saveChange, saveNew, saveRemoval, updateResource } from './commands.ts'
import { afterSave, beforeDelete, beforeSave, namedBy, type Rules, withDelete, withRules } from './rules.ts'
import { getOne } from './store.ts'
import { upsertResource } from './upsert/upsert.ts'

let api: ApiHarness
let met: string[]
let refuses: boolean
beforeAll(async () => {
  api = await startApi()
})
afterAll(() => api.close())
beforeEach(() => {
  met = []
  refuses = false
})

const named = (row: ProductCategory | null): string => row?.name ?? 'none'
function note(rule: string): void {
  met.push(rule)
  if (refuses) throw new AppError('INVALID_OPERATION', 'A guard stands against it.')
}
const RULES: Rules = {
  guards: [
    beforeSave(productCategoryResource, (_uow, row, previous) => note(`save ${named(previous)} ${named(row)}`)),
    beforeDelete(productCategoryResource, (_uow, row) => note(`delete ${named(row)}`)),
  ],
  effects: [
    afterSave(productCategoryResource, (_uow, row, previous) => {
      met.push(`saved ${named(previous)} ${named(row)}`)
    }),
    withDelete(productCategoryResource, (_uow, row) => {
      met.push(`with ${named(row)}`)
    }),
  ],
}
const here = { permissions: new Set<string>() }
const change = <T>(work: (uow: Uow) => Promise<T>, rules = RULES): Promise<T> =>
  inTenant(withRules(api.database, rules, here), api.tenants.aLive.tenant, SERVICE, work)

let counter = 0
const body = (name: string) => {
  counter += 1
  return { reference: `rules-${counter}`, name }
}
const make = (): Promise<ProductCategory> =>
  inTenant(api.database, api.tenants.aLive.tenant, SERVICE, uow =>
    createResource(uow, productCategoryResource, body('A')),
  )
const rename = { name: 'B' }

test.each<[string, (uow: Uow, row: ProductCategory) => Promise<unknown>, string[]]>([
  ['a creation', uow => createResource(uow, productCategoryResource, body('N')), ['save none N', 'saved none N']],
  ['a new row', uow => saveNew(uow, productCategoryResource, body('N')), ['save none N', 'saved none N']],
  ['an update', (uow, { id }) => updateResource(uow, productCategoryResource, id, rename), ['save A B', 'saved A B']],
  [
    'an upsert',
    (uow, { reference }) => upsertResource(uow, productCategoryResource, { reference, ...rename }),
    ['save A B', 'saved A B'],
  ],
  ['a saved change', (uow, row) => saveChange(uow, productCategoryResource, row, rename), ['save A B', 'saved A B']],
  ['a deletion', (uow, { id }) => deleteResource(uow, productCategoryResource, id), ['delete A', 'with A']],
  ['a removal', (uow, row) => saveRemoval(uow, productCategoryResource, row), ['delete A', 'with A']],
])('%s meets them, and a guard that refuses leaves nothing', async (_name, command, expected) => {
  const row = await make()
  refuses = true
  await expect(change(uow => command(uow, row))).rejects.toMatchObject({ code: 'INVALID_OPERATION' })
  expect(met).toEqual(expected.slice(0, 1))
  expect(await change(uow => getOne(uow, productCategoryResource, row.id))).toEqual(row)
  expect(await noticesOf(api, row.id)).toHaveLength(1)
  refuses = false
  met = []
  await change(uow => command(uow, row))
  expect(met).toEqual(expected)
})

test('an effect that fails takes the change with it', async () => {
  const row = await make()
  const failing = afterSave(productCategoryResource, () => {
    throw new AppError('INVALID_OPERATION', 'It cannot follow.')
  })
  const renamed = change(uow => saveChange(uow, productCategoryResource, row, rename), {
    guards: [],
    effects: [failing],
  })
  await expect(renamed).rejects.toMatchObject({ code: 'INVALID_OPERATION' })
  expect(await change(uow => getOne(uow, productCategoryResource, row.id))).toEqual(row)
})

test('what a row of another table names is not deleted, and the refusal says where it is named', async () => {
  const [row, other] = [await make(), await make()]
  const guard = namedBy(productCategoryResource, {
    table: productCategories,
    noun: 'category',
    shown: productCategories.reference,
    names: id => eq(productCategories.description, id),
  })
  await change(uow => saveChange(uow, productCategoryResource, other, { description: row.id }))
  const rules = { guards: [guard], effects: [] }
  await expect(change(uow => deleteResource(uow, productCategoryResource, row.id), rules)).rejects.toMatchObject({
    code: 'COULD_NOT_DELETE_RESOURCE',
    message: `The category ${other.reference} names it; remove it there first.`,
    details: { resourceId: row.id, resourceType: 'PRODUCT_CATEGORY' },
  })
  await change(uow => deleteResource(uow, productCategoryResource, other.id), rules)
  await change(uow => deleteResource(uow, productCategoryResource, row.id), rules)
})

test('a unit of work without rules changes nothing', async () => {
  const database = withContext(api.database, undefined)
  const make = inTenant(database, api.tenants.aLive.tenant, SERVICE, uow =>
    createResource(uow, productCategoryResource, body('N')),
  )
  await expect(make).rejects.toThrow('carries no rules of resources')
})
