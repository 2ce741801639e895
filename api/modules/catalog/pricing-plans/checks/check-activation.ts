// Whether a version can be sold: what it prices is live, and it has a price for each currency and billing period.
import type { Uow } from '../../../../../shared/database/database.ts'
import { AppError } from '../../../../../shared/errors.ts'
import { groupsOf, needsSelection } from '../../pricing-groups/load-groups.ts'
import type { Pricing, PricingPlanVersion } from '../table.ts'
import { coverageGap } from '../variants/coverage.ts'
import { offeredBy } from '../variants/settings.ts'
import { pricingsOf } from '../version-pricings.ts'
import { checkCreditTypes } from './check-credit-types.ts'
import { checkPricing } from './check-pricing.ts'
import { checkVolumeGroups, type GroupMember } from './check-volume-groups.ts'
import { isOptional } from './optional.ts'

const refuse = (message: string, details: { resourceId?: string; resourceType?: string } = {}): never => {
  throw new AppError('INVALID_OPERATION', message, { field: 'status', ...details })
}

/** Throws INVALID_OPERATION naming what stands in the way. The caller holds the version, so its pricings stay as they are. */
export async function checkActivation(uow: Uow, version: PricingPlanVersion): Promise<void> {
  const { id: versionId } = version
  const rows = await pricingsOf(uow, [versionId])
  if (rows.length === 0) refuse('A version needs at least one pricing before it can be ACTIVE.')
  for (const group of await groupsOf(uow, [versionId])) {
    if (!needsSelection(group) || rows.some(row => row.pricing_group_id === group.id)) continue
    const message = `The group ${group.name} is ${group.selection_constraint} and has no pricing; put one into it, or delete it.`
    refuse(message, { resourceId: group.id, resourceType: 'PRICING_GROUP' })
  }
  const groups: GroupMember[] = []
  const sellers: Seller[] = []
  for (const row of rows) {
    const {
      products,
      items,
      groups: own,
    } = await checkSold(uow, row).catch(error => {
      if (!(error instanceof AppError)) throw error
      return refuse(`The pricing ${row.id} cannot be billed: ${error.details.field}: ${error.message}`, {
        resourceId: row.id,
        resourceType: 'PRICING',
      })
    })
    groups.push(...own.map(member => ({ ...member, field: `${row.id}.${member.field}` })))
    for (const product of products.values()) {
      if (product.status !== 'ACTIVE') refuseNotActive('PRODUCT', product)
      if (product.billing_entity_id !== null && !isOptional(row))
        sellers.push({ row, seller: product.billing_entity_id })
    }
    for (const item of items.values()) {
      if (item.status !== 'ACTIVE') refuseNotActive('PRODUCT_ITEM', item)
    }
  }
  refuseTwoSellers(sellers)
  refuseMixedGroups(groups)
  const gap = coverageGap(rows, offeredBy(version))
  if (gap) refuse(gap.message, { resourceId: gap.pricing.id, resourceType: 'PRICING' })
}

/** What a pricing had before may stay, but credits that are retired are sold no more. */
async function checkSold(uow: Uow, row: Pricing): ReturnType<typeof checkPricing> {
  const named = await checkPricing(uow, row, row)
  await checkCreditTypes(uow, row, null)
  return named
}

type Seller = { readonly row: Pricing; readonly seller: string }

/** A subscription has one billing entity, and is always sold these. */
function refuseTwoSellers([first, ...others]: readonly Seller[]): void {
  const other = others.find(({ seller }) => seller !== first?.seller)
  if (!first || !other) return
  const message = `${first.row.name} has a product that the billing entity ${first.seller} alone sells, and ${other.row.name} one of ${other.seller}; no subscription has both. Make one an ADDON, or sell them apart.`
  refuse(message, { resourceId: other.row.id, resourceType: 'PRICING' })
}

/** Groups reach over the pricings of a version. */
function refuseMixedGroups(groups: readonly GroupMember[]): void {
  try {
    checkVolumeGroups(groups)
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    refuse(`${error.details.field}: ${error.message}`)
  }
}

function refuseNotActive(resourceType: string, { id, status }: { id: string; status: string }): never {
  return refuse(`The ${resourceType} ${id} is ${status}; activate it first.`, { resourceId: id, resourceType })
}
