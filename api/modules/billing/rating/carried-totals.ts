// An amount on the total that a copy or a migration takes along is one discount: it is deducted once for an invoice that has lines of both
// schedules (contract: a fixed-amount invoice-level discount applies once per invoice). Pure.
import { groupBy } from '../../../../shared/group-by.ts'
import { clauseEntries, identityOf } from '../../subscriptions/clauses/clause-entries.ts'
import type { ScheduleInput } from '../terms/billing-inputs.ts'
import { idOfClause } from '../terms/clauses-of-prices.ts'

type Discounting = Pick<ScheduleInput, 'id' | 'start_at' | 'end_at' | 'discount'>
type Amount = { readonly id: string; readonly schedule: Discounting; readonly key: string }

/** How amounts on the total count. Absent members are the rules of now. */
export type TotalRules = {
  /** One that went along to a later schedule counted for each schedule on the invoice. */
  readonly totalsEachSchedule?: true
}

/** Amounts on the total that several schedules have, each ending where the next one starts: the ids of their clauses, in order of time. */
export function carriedTotals(schedules: readonly Discounting[]): Pick<Amount, 'id' | 'schedule'>[][] {
  const having = schedules.flatMap(amountsOn)
  return [...groupBy(having, ({ key }) => key).values()].flatMap(alike => {
    const runs: [Amount, ...Amount[]][] = []
    for (const each of alike) {
      const run = runs.find(all => all.at(-1)?.schedule.end_at === each.schedule.start_at)
      if (run) run.push(each)
      else runs.push([each])
    }
    return runs.filter(run => run.length > 1)
  })
}

/** Of two alike in one schedule, the second is the second of the next schedule too. */
function amountsOn(schedule: Discounting): Amount[] {
  const seen = new Map<string, number>()
  return clauseEntries('discount', schedule).flatMap(entry => {
    if (entry.level !== null || !entry.value.amount) return []
    const text = `${identityOf(entry)} ${entry.value.end_at ?? ''}`
    const place = seen.get(text) ?? 0
    seen.set(text, place + 1)
    return { id: idOfClause(schedule.id, entry.path), schedule, key: `${text} ${place}` }
  })
}

/**
 * The discounts of an invoice with each amount on its total once, named after the first schedule that charges something. `charging`: the
 * ids of the schedules that do.
 */
export function onceForInvoice<D extends { readonly id: string }>(
  discounts: readonly D[],
  schedules: readonly Discounting[],
  charging: ReadonlySet<string>,
): (D & { readonly alsoOf?: readonly string[] })[] {
  const others = new Map<string, readonly string[]>()
  const dropped = new Set<string>()
  for (const run of carriedTotals(schedules)) {
    const present = run.filter(({ schedule }) => charging.has(schedule.id))
    const [first, ...rest] = present
    if (!first || rest.length === 0) continue
    others.set(
      first.id,
      rest.map(({ schedule }) => schedule.id),
    )
    for (const { id } of rest) dropped.add(id)
  }
  if (dropped.size === 0) return [...discounts]
  return discounts.flatMap(each => {
    if (dropped.has(each.id)) return []
    const alsoOf = others.get(each.id)
    return alsoOf ? { ...each, alsoOf } : each
  })
}
