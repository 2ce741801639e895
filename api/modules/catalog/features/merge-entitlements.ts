// What entitlements come to together (semantics 2, Reading). Pure.
import { decimal, plain, sum } from '../../../../shared/decimal.ts'
import type { Entitlement, Grant } from './schema.ts'

/**
 * What one subscription has: `plan` are the entitlements of its version's pricings in the order of display, `schedule` those
 * of its schedule. Of the plan's entries that replace, the last holds and nothing else of the plan counts; a schedule's entry
 * that replaces holds alone. What counts adds up as in `sumGrants`.
 */
export function mergeEntitlements(plan: readonly Entitlement[], schedule: readonly Entitlement[]): Grant[] {
  const replaced = new Set(schedule.filter(replaces).map(entry => entry.feature_id))
  const ofPlan = [...groupBy(plan, entry => entry.feature_id).values()].flatMap(entries => {
    const last = entries.findLast(replaces)
    return last ? [last] : entries
  })
  const counted = [...ofPlan.filter(entry => !replaced.has(entry.feature_id)), ...schedule]
  return sumGrants(counted.map(grantOf))
}

/**
 * Grants of several subscriptions as one list, by reference of the feature: numbers and amounts add up, a switch is on when
 * one is, texts are all there, each once. Amounts of different currencies are never added: a feature has a grant of each.
 */
export function sumGrants(grants: readonly Grant[]): Grant[] {
  const groups = groupBy(grants, grant => `${grant.feature_id} ${grant.amount?.currency ?? ''}`)
  return [...groups.values()]
    .flatMap(group => together(group) ?? [])
    .toSorted(
      (a, b) =>
        inOrder(a.feature_reference, b.feature_reference) ||
        inOrder(a.amount?.currency ?? '', b.amount?.currency ?? ''),
    )
}

/** Of one feature and one currency. */
function together(group: readonly Grant[]): Grant | null {
  const [first] = group
  if (!first) return null
  const total = (texts: readonly string[]): string => plain(sum(texts.map(decimal)))
  const texts = (lists: readonly (readonly string[] | null)[]): string[] =>
    [...new Set(lists.flatMap(list => list ?? []))].toSorted(inOrder)
  return {
    feature_id: first.feature_id,
    feature_reference: first.feature_reference,
    override: group.some(grant => grant.override),
    overwrite: group.some(grant => grant.overwrite),
    number: first.number === null ? null : total(group.flatMap(grant => grant.number ?? [])),
    switch: first.switch === null ? null : group.some(grant => grant.switch),
    amount: first.amount && {
      quantity: total(group.flatMap(grant => grant.amount?.quantity ?? [])),
      currency: first.amount.currency,
    },
    enums: first.enums && texts(group.map(grant => grant.enums)),
    strings: first.strings && texts(group.map(grant => grant.strings)),
  }
}

const grantOf = ({ enum: value, string, ...entry }: Entitlement): Grant => ({
  ...entry,
  enums: value === null ? null : [value],
  strings: string === null ? null : [string],
})

const replaces = ({ override, overwrite }: Entitlement): boolean => override || overwrite
const inOrder = (a: string, b: string): number => (a < b ? -1 : Number(a > b))

function groupBy<T>(list: readonly T[], keyOf: (one: T) => string): Map<string, T[]> {
  const groups = new Map<string, T[]>()
  for (const one of list) {
    const group = groups.get(keyOf(one))
    if (group) group.push(one)
    else groups.set(keyOf(one), [one])
  }
  return groups
}
