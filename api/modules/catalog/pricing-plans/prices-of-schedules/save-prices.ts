// The prices of a schedule as a version that no list shows and no call names. Schedules that are copies of each other sell the same version,
// so their prices have the same ids; a draft that gets other prices has a version of its own from then on.

import { isDeepStrictEqual } from 'node:util'
import { and, eq } from 'drizzle-orm'
import type { Uow } from '../../../../../shared/database/database.ts'
import { AppError, within } from '../../../../../shared/errors.ts'
import { type Id, newId } from '../../../../../shared/ids.ts'
import { followSave, guardSave } from '../../../../resource/rules.ts'
import { insertRow } from '../../../../resource/store.ts'
import { inThisTenant } from '../../../../resource/tenant-condition.ts'
import { groupsOf } from '../../pricing-groups/load-groups.ts'
import { pricingGroups } from '../../pricing-groups/table.ts'
import { checkActivation } from '../checks/check-activation.ts'
import { checkPricing } from '../checks/check-pricing.ts'
import { pricingResource } from '../pricing.ts'
import { pricingPlanResource } from '../pricing-plan.ts'
import { pricingPlanVersionResource } from '../pricing-plan-version.ts'
import { pricingGroupResource } from '../selection/pricing-group.ts'
import { type PricingPlanVersion, pricingPlans, pricingPlanVersions, pricings } from '../table.ts'
import { pricingCategoriesOf, pricingsOf } from '../version-pricings.ts'
import { canonicalPrices, type Prices, type Stored, withNewIds } from './canonical-prices.ts'
import type { GivenCategories } from './schema.ts'

/** The version of these prices; `ids`: by the id of a price that the schedule had, the one that it has instead. */
export type SavedPrices = Pick<PricingPlanVersion, 'id' | 'pricing_plan_id'> & {
  readonly ids: ReadonlyMap<string, string>
}

/**
 * Saves the prices that a body gives, and returns their version: the same one where nothing changes. Prices keep their ids while the version is
 * DRAFT and no other schedule sells it. Throws INVALID_FIELD, MISSING_FIELD or RESOURCE_NOT_FOUND with the path below `pricing_categories`.
 */
export async function savePrices(
  uow: Uow,
  given: GivenCategories,
  of: {
    readonly versionId: Id<'ppve'> | null
    /** Whether another schedule sells the version. Asked once that is locked, so that none begins to meanwhile. */
    readonly isShared: () => Promise<boolean>
    readonly customerId: string | null
  },
): Promise<SavedPrices> {
  const version = of.versionId === null ? null : await lockVersion(uow, of.versionId)
  const stored: Stored = version
    ? { groups: await groupsOf(uow, [version.id]), pricings: await pricingsOf(uow, [version.id]) }
    : { groups: [], pricings: [] }
  const prices = await canonicalPrices(uow, given, stored)
  if (version && isSame(prices, stored)) {
    await checkCategories(uow, given, version.id)
    return { ...version, ids: new Map() }
  }
  const keepsIds = version !== null && version.status === 'DRAFT' && !(await of.isShared())
  if (keepsIds) await deletePrices(uow, version.id)
  const { ids, ...own } =
    version && !keepsIds ? await withNewIds(uow, prices) : { ...prices, ids: new Map<string, string>() }
  const made = await insertVersion(uow, of.customerId)
  const isPrivate = await insertPrices(uow, own, made.id)
  if (of.customerId !== null && !isPrivate) await openToAll(uow, made)
  await checkCategories(uow, given, made.id)
  return { ...made, ids }
}

/** Held until commit, so that no copy of a schedule takes these prices on while they change. */
async function lockVersion(uow: Uow, id: Id<'ppve'>): Promise<PricingPlanVersion> {
  const v = pricingPlanVersions
  const [version] = await uow.tx
    .select()
    .from(v)
    .where(and(inThisTenant(uow, v), eq(v.id, id)))
    .for('update')
  if (!version) throw new Error(`the prices of a schedule are there while it is: ${id}`)
  return version
}

const PRICING = [
  'id',
  'pricing_group_id',
  'name',
  'product_type',
  'product_ids',
  'display_order',
  'items',
  'entitlements',
] as const
const GROUP = ['id', 'name', 'product_type', 'selection_constraint', 'display_order'] as const

/** Whether they are what is stored, in whatever order the body has them. */
function isSame({ groups, pricings: own }: Prices, stored: Stored): boolean {
  const seen = <T extends object, K extends keyof T>(rows: readonly T[], names: readonly K[]): unknown[] =>
    rows.map(row => names.map(name => row[name])).sort((a, b) => (String(a[0]) < String(b[0]) ? -1 : 1))
  const plain = (rows: unknown[]): unknown => JSON.parse(JSON.stringify(rows))
  return (
    isDeepStrictEqual(plain(seen(groups, GROUP)), plain(seen(stored.groups, GROUP))) &&
    isDeepStrictEqual(
      plain(
        seen(
          own.map(({ pricing }) => pricing),
          PRICING,
        ),
      ),
      plain(seen(stored.pricings, PRICING)),
    )
  )
}

async function deletePrices(uow: Uow, versionId: Id<'ppve'>): Promise<void> {
  await uow.tx.delete(pricings).where(and(inThisTenant(uow, pricings), eq(pricings.pricing_plan_version_id, versionId)))
  const g = pricingGroups
  await uow.tx.delete(g).where(and(inThisTenant(uow, g), eq(g.pricing_plan_version_id, versionId)))
}

async function insertVersion(uow: Uow, customerId: string | null): Promise<PricingPlanVersion> {
  const id = newId(pricingPlanResource.idPrefix)
  const plan = {
    reference: id,
    type: customerId === null ? 'STANDARD' : 'CUSTOM',
    customer_id: customerId,
    amount_type: 'EXCLUDING_TAX',
    variant: 'DEFAULT',
    pricing_plan_selection_rules: [],
    unlisted: true,
  }
  await insertRow(uow, pricingPlanResource, plan, id)
  const version = { pricing_plan_id: id, version: 1, status: 'DRAFT', unlisted: true }
  return await insertRow<PricingPlanVersion>(uow, pricingPlanVersionResource, version)
}

/**
 * Returns whether a product of them is for one customer alone. They emit no events of their own: that of the schedule shows them.
 */
async function insertPrices(uow: Uow, { groups, pricings: own }: Prices, versionId: Id<'ppve'>): Promise<boolean> {
  let isPrivate = false
  const ofVersion = { pricing_plan_version_id: versionId, of_schedules: true }
  for (const { id, ...group } of groups) await insertRow(uow, pricingGroupResource, { ...group, ...ofVersion }, id)
  for (const {
    pricing: { id, ...pricing },
    path,
  } of own) {
    const row = { ...pricing, ...ofVersion }
    const { products } = await within(path, () => checkPricing(uow, row, null))
    isPrivate ||= [...products.values()].some(({ customer_id }) => customer_id !== null)
    await within(path, () => guardSave(uow, pricingResource, { ...row, id: undefined } as never, null))
    await followSave(uow, pricingResource, await insertRow(uow, pricingResource, row, id), null)
  }
  return isPrivate
}

/** A copy of the schedule may be of another customer. */
async function openToAll(uow: Uow, { pricing_plan_id: id }: PricingPlanVersion): Promise<void> {
  await uow.tx
    .update(pricingPlans)
    .set({ type: 'STANDARD', customer_id: null })
    .where(and(inThisTenant(uow, pricingPlans), eq(pricingPlans.id, id)))
}

/** The category of a pricing is that of its first product. Throws INVALID_FIELD where the body has another one, or another order. */
async function checkCategories(uow: Uow, given: GivenCategories, versionId: Id<'ppve'>): Promise<void> {
  const [shown] = await pricingCategoriesOf(uow, [{ id: versionId }])
  const categories = (shown?.['pricing_categories'] ?? []) as readonly {
    readonly product_category_id: string | null
    readonly display_order: number | null
  }[]
  for (const [index, { product_category_id: id, display_order: order }] of given.entries()) {
    const refuse = (field: string, message: string): AppError =>
      new AppError('INVALID_FIELD', message, { field: `${index}.${field}` })
    const found = categories.find(each => each.product_category_id === id)
    if (id !== undefined && id !== null && !found)
      throw refuse('product_category_id', `No product of these pricings is in the category ${id}; leave it out.`)
    if (order !== undefined && order !== null && order !== found?.display_order)
      throw refuse('display_order', 'The order is that of the product category; change it there, or leave it out.')
  }
}

/**
 * Makes the prices live, so that they never change; those that are stay so. Throws INVALID_OPERATION at `pricing_categories` naming what
 * stands in the way.
 */
export async function activatePrices(uow: Uow, versionId: Id<'ppve'>): Promise<void> {
  const version = await lockVersion(uow, versionId)
  if (version.status === 'ACTIVE') return
  await checkActivation(uow, version).catch(error => {
    throw error instanceof AppError ? error.at('pricing_categories') : error
  })
  const v = pricingPlanVersions
  await uow.tx
    .update(v)
    .set({ status: 'ACTIVE' })
    .where(and(inThisTenant(uow, v), eq(v.id, versionId)))
}
