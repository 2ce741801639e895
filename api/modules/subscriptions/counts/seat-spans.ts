// When a schedule states a number of seats, and from when on a change of it changes invoices. Pure.
import { decimal } from '../../../../shared/decimal.ts'
import { AppError } from '../../../../shared/errors.ts'
import { at, instantOf } from '../../../../shared/time.ts'
import type { ClauseChange } from '../clauses/clause-entries.ts'
import type { SeatsValue } from './schema.ts'

type Stating = { readonly seats_values: readonly SeatsValue[]; readonly start_at: string }

/**
 * With `set_start_at_to_now` an entry starts at `now`; the others are as they were given. Throws INVALID_FIELD for one that says both when
 * it starts and that it starts now.
 */
export const startingNow = (entries: readonly SeatsValue[], now: string): SeatsValue[] =>
  entries.map(({ set_start_at_to_now: startsNow, ...entry }, index) => {
    if (startsNow !== true) return entry
    if (!entry.start_at) return { ...entry, start_at: now }
    const message = 'set_start_at_to_now has it start now; send that or start_at.'
    throw new AppError('INVALID_FIELD', message, { field: `seats_values.${index}.start_at` })
  })

/** What a schedule states of a price for a time; without one, for as long as the schedule lasts. */
type Stated = {
  readonly pricing_item_config_id: string
  readonly start_at?: string | null
  readonly end_at?: string | null
}
type Within = { readonly start_at: string }

const startOf = ({ start_at: own }: Stated, { start_at }: Within): string => (own && own > start_at ? own : start_at)

const endOf = ({ end_at }: Stated): string | null => end_at ?? null

/** Whether two entries state something of the same price at the same time. */
export const overlap = (a: Stated, b: Stated, of: Within): boolean => {
  const [endA, endB] = [endOf(a), endOf(b)]
  return (
    a.pricing_item_config_id === b.pricing_item_config_id &&
    (endB === null || startOf(a, of) < endB) &&
    (endA === null || startOf(b, of) < endA)
  )
}

type Entries<T> = Within & { readonly entries: readonly T[] }

/**
 * What is different between two states of a list: what is added or removed counts from its start on, a moved end from the earlier end
 * on. `isSame` says whether two entries state the same, whatever their times.
 */
export function statedChanges<T extends Stated>(
  list: string,
  { before, after }: { readonly before: Entries<T>; readonly after: Entries<T> },
  isSame: (a: T, b: T) => boolean,
): ClauseChange[] {
  const alike = (a: T, b: T): boolean =>
    a.pricing_item_config_id === b.pricing_item_config_id && startOf(a, before) === startOf(b, after) && isSame(a, b)
  const left = [...before.entries]
  const changes: ClauseChange[] = []
  for (const [index, entry] of after.entries.entries()) {
    const path = `${list}.${index}`
    const same = left.find(each => alike(each, entry))
    if (!same) {
      changes.push({ from: at(startOf(entry, after)), path: `${path}.start_at` })
      continue
    }
    left.splice(left.indexOf(same), 1)
    const ends = [endOf(same), endOf(entry)].flatMap(end => (end === null ? [] : [at(end)]))
    if (endOf(same) !== endOf(entry)) changes.push({ from: instantOf(Math.min(...ends)), path: `${path}.end_at` })
  }
  return [...changes, ...left.map(entry => ({ from: at(startOf(entry, before)), path: list }))]
}

/** The same of the numbers of seats of a schedule. */
export const seatsValueChanges = (before: Stating, after: Stating): ClauseChange[] =>
  statedChanges(
    'seats_values',
    { before: { ...before, entries: before.seats_values }, after: { ...after, entries: after.seats_values } },
    (a, b) => decimal(a.number).eq(decimal(b.number)),
  )
