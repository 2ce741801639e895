// The discounts that a change of an ACTIVE schedule gives beyond those that it has. What takes some away, or holds on less or for a shorter
// time, gives nothing. Pure.
import { isDeepStrictEqual } from 'node:util'
import { decimal } from '../../../../shared/decimal.ts'
import { type ClauseEntry, clauseEntries } from '../clauses/clause-entries.ts'
import type { Schedule } from '../table.ts'
import type { GivenDiscount } from './schedule-facts.ts'

type WithDiscounts = Pick<Schedule, 'discount' | 'applied_coupons' | 'start_at'>

/** Each discount and coupon of `after` that none of `before` covers; one of `before` covers one of `after`. */
export function addedDiscounts(before: WithDiscounts, after: WithDiscounts): GivenDiscount[] {
  const left = entriesOf(before)
  const added: GivenDiscount[] = []
  const start = after.start_at
  for (const entry of entriesOf(after)) {
    const covering = left.filter(each => covers(each, entry, start))
    const taken = covering.find(each => covers(entry, each, start)) ?? covering[0]
    if (taken) left.splice(left.indexOf(taken), 1)
    else added.push(entry.value)
  }
  const had = new Set(before.applied_coupons.map(({ coupon_id: id }) => id))
  return [...added, ...after.applied_coupons.filter(({ coupon_id: id }) => !had.has(id)).map(each => each.discount)]
}

const entriesOf = ({ discount }: WithDiscounts): ClauseEntry[] => clauseEntries('discount', { discount })

/** Whether everything that `other` takes off, from the start of the schedule on, is taken off by `one` as well. */
function covers(one: ClauseEntry, other: ClauseEntry, start: string): boolean {
  if (one.list !== other.list || !other.ids.every(id => one.ids.includes(id))) return false
  if (!isDeepStrictEqual(worthOf(one), worthOf(other))) return false
  const startOf = ({ value }: ClauseEntry): string => later(value.start_at ?? start, start)
  if (startOf(other) < startOf(one)) return false
  const [end, otherEnd] = [one.value.end_at ?? null, other.value.end_at ?? null]
  return end === null || (otherEnd !== null && otherEnd <= end)
}

const later = (one: string, other: string): string => (one > other ? one : other)

const worthOf = ({ value: { percentage, amount, condition } }: ClauseEntry) => [
  percentage ? decimal(percentage).toString() : null,
  amount ? [decimal(amount.quantity).toString(), amount.currency] : null,
  condition ?? null,
]
