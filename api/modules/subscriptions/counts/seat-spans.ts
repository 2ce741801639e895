// When a schedule states a number of seats, and from when on a change of it changes invoices. Pure.
import { decimal } from '../../../../shared/decimal.ts'
import { at, instantOf } from '../../../../shared/time.ts'
import type { ClauseChange } from '../clauses/clause-entries.ts'
import type { SeatsValue } from './schema.ts'

type Stating = { readonly seats_values: readonly SeatsValue[]; readonly start_at: string }

/** With `set_start_at_to_now` an entry starts at `now`; the others are as they were given. */
export const startingNow = (entries: readonly SeatsValue[], now: string): SeatsValue[] =>
  entries.map(({ set_start_at_to_now: startsNow, ...entry }) =>
    startsNow === true ? { ...entry, start_at: now } : entry,
  )

const startOf = ({ start_at: own }: SeatsValue, { start_at }: Stating): string =>
  own && own > start_at ? own : start_at

const endOf = ({ end_at }: SeatsValue): string | null => end_at ?? null

/** Whether two entries state a number for the same price at the same time. */
export const overlap = (a: SeatsValue, b: SeatsValue, of: Stating): boolean => {
  const [endA, endB] = [endOf(a), endOf(b)]
  return (
    a.pricing_item_config_id === b.pricing_item_config_id &&
    (endB === null || startOf(a, of) < endB) &&
    (endA === null || startOf(b, of) < endA)
  )
}

/** What is different between two states: what is added or removed counts from its start on, a moved end from the earlier end on. */
export function seatsValueChanges(before: Stating, after: Stating): ClauseChange[] {
  const alike = (a: SeatsValue, b: SeatsValue): boolean =>
    a.pricing_item_config_id === b.pricing_item_config_id &&
    startOf(a, before) === startOf(b, after) &&
    decimal(a.number).eq(decimal(b.number))
  const left = [...before.seats_values]
  const changes: ClauseChange[] = []
  for (const [index, entry] of after.seats_values.entries()) {
    const path = `seats_values.${index}`
    const same = left.find(each => alike(each, entry))
    if (!same) {
      changes.push({ from: at(startOf(entry, after)), path: `${path}.start_at` })
      continue
    }
    left.splice(left.indexOf(same), 1)
    const ends = [endOf(same), endOf(entry)].flatMap(end => (end === null ? [] : [at(end)]))
    if (endOf(same) !== endOf(entry)) changes.push({ from: instantOf(Math.min(...ends)), path: `${path}.end_at` })
  }
  return [...changes, ...left.map(entry => ({ from: at(startOf(entry, before)), path: 'seats_values' }))]
}
