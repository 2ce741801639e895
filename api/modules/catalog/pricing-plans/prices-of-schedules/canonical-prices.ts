// The prices of a schedule as they are stored: what a body says of them, complete and with ids.
import type { Uow } from '../../../../../shared/database/database.ts'
import { AppError, within } from '../../../../../shared/errors.ts'
import { newId } from '../../../../../shared/ids.ts'
import { idKeeper } from '../../../../resource/nested-ids.ts'
import { findMany } from '../../../../resource/store.ts'
import { canonicalEntitlements } from '../../features/canonical-entitlements.ts'
import type { PricingGroup } from '../../pricing-groups/table.ts'
import { productResource } from '../../products/product.ts'
import { canonicalItems, withoutIds } from '../canonical-items.ts'
import { findInItems } from '../find-in-items.ts'
import type { Pricing } from '../table.ts'
import type { GivenCategories, GivenGroup, GivenPricing } from './schema.ts'

type Service = 'platform_id' | 'environment' | 'created_at' | 'updated_at' | 'pricing_plan_version_id' | 'of_schedules'
export type PricingOfSchedule = Omit<Pricing, Service>
export type GroupOfSchedule = Omit<PricingGroup, Service>

/** The pricings and groups of a schedule, each pricing with where the body has it. */
export type Prices = {
  readonly groups: readonly GroupOfSchedule[]
  readonly pricings: readonly { readonly pricing: PricingOfSchedule; readonly path: string }[]
}
export type Stored = { readonly groups: readonly PricingGroup[]; readonly pricings: readonly Pricing[] }

/**
 * The prices that a body gives. Ids that it sends must be ids of `stored`. Throws INVALID_FIELD, MISSING_FIELD or RESOURCE_NOT_FOUND with
 * the path below `pricing_categories`.
 */
export async function canonicalPrices(uow: Uow, given: GivenCategories, stored: Stored): Promise<Prices> {
  const pricingIds = idKeeper(stored.pricings, 'prcg')
  const groupIds = idKeeper(stored.groups, 'prgr')
  const groups: GroupOfSchedule[] = []
  const placed: { readonly given: GivenPricing; readonly id: string; groupId: string | null; path: string }[] = []
  const place = (list: readonly GivenPricing[], path: string, groupId: string | null): void => {
    for (const [index, entry] of pricingIds(list, path).entries())
      placed.push({ given: entry, id: entry.id, groupId, path: `${path}.${index}` })
  }
  for (const [index, category] of given.entries()) {
    place(category.pricings ?? [], `${index}.pricings`, null)
    for (const [number, group] of groupIds(category.pricing_groups ?? [], `${index}.pricing_groups`).entries()) {
      if (groups.some(({ name }) => name === group.name))
        throw sameName(group, `${index}.pricing_groups.${number}.name`)
      groups.push(groupOf(group))
      place(group.pricings ?? [], `${index}.pricing_groups.${number}.pricings`, group.id)
    }
  }
  const names = await productNames(uow, placed)
  const pricings: { pricing: PricingOfSchedule; path: string }[] = []
  for (const each of placed) {
    const before = stored.pricings.find(({ id }) => id === each.id)
    const named = names.get(each.given.product_ids[0] ?? '')
    pricings.push({
      pricing: await within(each.path, () => pricingOf(uow, { ...each, before, named })),
      path: each.path,
    })
  }
  return { groups, pricings }
}

const groupOf = (group: GivenGroup & { readonly id: string }): GroupOfSchedule => ({
  id: group.id as GroupOfSchedule['id'],
  name: group.name,
  product_type: group.product_type ?? 'DEFAULT',
  selection_constraint: group.selection_constraint ?? 'ANY',
  display_order: group.display_order ?? null,
})

const sameName = ({ name }: GivenGroup, field: string): AppError =>
  new AppError('INVALID_FIELD', `Another group of the schedule is called ${name}; give each a name of its own.`, {
    field,
  })

/** What a pricing is called, and its type, where the body does not say. */
type ProductName = { readonly name: string; readonly product_type: Pricing['product_type'] }

async function productNames(
  uow: Uow,
  placed: readonly { readonly given: GivenPricing }[],
): Promise<ReadonlyMap<string, ProductName>> {
  const first = placed.flatMap(({ given }) => given.product_ids[0] ?? [])
  return new Map((await findMany(uow, productResource, first)).map(each => [each.id, each]))
}

type PlacedPricing = {
  readonly given: GivenPricing
  readonly id: string
  readonly groupId: string | null
  readonly before: Pricing | undefined
  readonly named: ProductName | undefined
}

async function pricingOf(uow: Uow, { given, id, groupId, before, named }: PlacedPricing): Promise<PricingOfSchedule> {
  const items = given.items ?? []
  return {
    id: id as PricingOfSchedule['id'],
    pricing_group_id: groupId as PricingOfSchedule['pricing_group_id'],
    name: given.name ?? named?.name ?? 'Pricing',
    product_type: given.product_type ?? named?.product_type ?? 'DEFAULT',
    product_ids: [...given.product_ids],
    display_order: given.display_order ?? null,
    items: canonicalItems(items, before?.items ?? [], await findInItems(uow, items)),
    entitlements: await canonicalEntitlements(uow, given.entitlements ?? []),
  }
}

/** The same prices with ids of their own, and by the old id the new one. */
export async function withNewIds(
  uow: Uow,
  { groups, pricings }: Prices,
): Promise<Prices & { ids: Map<string, string> }> {
  const ids = new Map<string, string>()
  const renewed = <T extends { readonly id: string }>(entry: T, prefix: string): T => {
    const id = newId(prefix)
    ids.set(entry.id, id)
    return { ...entry, id }
  }
  const ownGroups = groups.map(group => renewed(group, 'prgr'))
  const own: Prices['pricings'][number][] = []
  for (const { pricing, path } of pricings) {
    const copied = withoutIds(pricing.items)
    const items = canonicalItems(copied, [], await findInItems(uow, copied))
    pairIds(pricing.items, items, ids)
    const groupId = pricing.pricing_group_id && ids.get(pricing.pricing_group_id)
    own.push({
      pricing: {
        ...renewed(pricing, 'prcg'),
        items,
        pricing_group_id: (groupId ?? null) as PricingOfSchedule['pricing_group_id'],
      },
      path,
    })
  }
  return { groups: ownGroups, pricings: own, ids }
}

/** Notes the id of everything in `after` for the id that the same thing has in `before`. */
function pairIds(before: unknown, after: unknown, ids: Map<string, string>): void {
  if (typeof before !== 'object' || typeof after !== 'object' || before === null || after === null) return
  for (const [name, value] of Object.entries(before)) {
    const other = (after as Readonly<Record<string, unknown>>)[name]
    if (name === 'id' && typeof value === 'string' && typeof other === 'string' && value !== other)
      ids.set(value, other)
    else pairIds(value, other, ids)
  }
}
