// Whether what a schedule enables keeps to the constraints of pricing groups, at every instant of a time. Pure.
import type { Span } from '../../../../shared/billing/periods.ts'
import { at, type Instant, instantOf } from '../../../../shared/time.ts'
import { SELECTION, type SelectionConstraint } from '../../catalog/pricing-groups/schema.ts'
import { enabledSpans } from './enabled-spans.ts'
import type { EnabledPricing } from './schema.ts'

/** A pricing group with the ids of its pricings. */
export type SelectionGroup = {
  readonly name: string
  readonly selection_constraint: SelectionConstraint
  readonly pricingIds: readonly string[]
}

/** The first instant at which the pricings of a group that are enabled are too few or too many. */
export type BrokenSelection = {
  readonly group: SelectionGroup
  readonly at: Instant
  /** How many of its pricings are enabled then. */
  readonly enabled: number
  /** With too many: the last entry of the list that enables one then; null with too few. */
  readonly entry: number | null
}

/** Gives the earliest breach within the time, of two at once that of the group that comes first; null where there is none. */
export function brokenSelection(
  groups: readonly SelectionGroup[],
  enabled: readonly EnabledPricing[],
  within: Span,
): BrokenSelection | null {
  const found = groups.flatMap(group => firstOf(group, enabled, within) ?? [])
  return found.toSorted((a, b) => a.at - b.at)[0] ?? null
}

function firstOf(group: SelectionGroup, enabled: readonly EnabledPricing[], within: Span): BrokenSelection | null {
  const { least, most } = SELECTION[group.selection_constraint]
  const times = group.pricingIds.map(id => enabledSpans(enabled, id, within))
  // The number changes only where one begins or ends.
  const edges = new Set([
    within.start,
    ...times.flat().flatMap(({ start, end }) => (end === null ? [start] : [start, end])),
  ])
  for (const edge of [...edges].toSorted((a, b) => a - b)) {
    if (within.end !== null && edge >= within.end) break
    const count = times.filter(spans => spans.some(span => holds(span, edge))).length
    if (count < least) return { group, at: edge, enabled: count, entry: null }
    if (most !== null && count > most)
      return { group, at: edge, enabled: count, entry: lastEntry(group, enabled, edge) }
  }
  return null
}

const holds = ({ start, end }: Span, instant: Instant): boolean => start <= instant && (end === null || instant < end)

const lastEntry = ({ pricingIds }: SelectionGroup, enabled: readonly EnabledPricing[], instant: Instant): number =>
  enabled.findLastIndex(
    ({ pricing_id, start_at, end_at }) =>
      pricingIds.includes(pricing_id) &&
      holds({ start: start_at ? at(start_at) : instantOf(instant), end: end_at ? at(end_at) : null }, instant),
  )
