// Whether prices with one `volume_group_reference` can be added up: in one unit, over the same time. Pure.
import { AppError } from '../../../../../shared/errors.ts'
import type { PricePeriod } from '../schema.ts'
import { canOverlap, type VariantKey } from '../variants/variants.ts'

/** A price of a group, and where it stands. */
export type GroupMember = {
  readonly group: string
  readonly metric: 'NUMBER' | 'AMOUNT'
  /** Whether its usage is carried on from period to period. */
  readonly persist: boolean
  readonly billingPeriod: PricePeriod | null
  readonly pricingPeriod: PricePeriod | null
  /** Which schedules it prices; prices of different ones are never added up. */
  readonly variant: VariantKey
  readonly field: string
}

/** Throws INVALID_FIELD with the field of the first price that does not go with one of its group before it. */
export function checkVolumeGroups(members: readonly GroupMember[]): void {
  for (const [index, member] of members.entries()) {
    const before = members
      .slice(0, index)
      .filter(each => each.group === member.group && canOverlap(each.variant, member.variant))
    for (const other of before) {
      const differs = differenceOf(other, member)
      if (!differs) continue
      const message = `The prices of the group ${JSON.stringify(member.group)} must have the same ${differs}; ${other.field} has another.`
      throw new AppError('INVALID_FIELD', message, { field: `${member.field}.volume_group_reference` })
    }
  }
}

function differenceOf(a: GroupMember, b: GroupMember): string | null {
  if (a.metric !== b.metric) return 'unit (numbers, or money)'
  if (a.persist !== b.persist) return 'persist of their calculation'
  if (!isSame(a.billingPeriod, b.billingPeriod)) return 'billing_period'
  return isSame(a.pricingPeriod, b.pricingPeriod) ? null : 'pricing_period'
}

const isSame = (a: PricePeriod | null, b: PricePeriod | null): boolean => a?.type === b?.type && a?.value === b?.value
