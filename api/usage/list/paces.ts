// How much time lies between two events of a list, as it was when the list was read last: a page looks through the time that its place
// needs at this pace, and some more. Where the memory is wrong, a list asks once more; its answer is the same.
import type { Tenant } from '../../../shared/tenant.ts'
import type { EventFilter } from './sources.ts'

const ENTRIES_MAX = 10_000
/** Few events come less evenly than many; looking through ten times as much for them costs next to nothing. */
const FEW = 500
const MARGIN_OF_FEW = 10
const MARGIN = 1.1
const LEAST_MS = 100
/** How many times as much time as was without events before the first one: it grows while none come. */
const LEAD_MARGIN = 2
/** Pages whose depths differ by this factor are estimated apart: after a burst, the newest events say nothing about older ones. */
const DEPTH_STEP = 4
/** A list whose events lie too far from each other to be looked through is not asked by time so many times; it may change. */
const FAR_TIMES = 20

/** ALL: there were too few events to fill a page. FAR: the time of a page holds too many others. */
export type Expected = { readonly ms: number } | 'ALL' | 'FAR'
/** `cursor`: of a list that is read on from somewhere. */
export type List = { readonly filter: EventFilter; readonly cursor: boolean }

export type Paces = {
  /** In how much time so many events are expected; null when that is not known. */
  of(tenant: Tenant, list: List, events: number): Expected | null
  /** `events`: as many as a page took, with those before it. */
  note(tenant: Tenant, list: List, events: number, seen: Seen): void
}
/** `ms`: in how much time the events were; `lead`: how much of it was before the first of them. */
export type Seen = { readonly ms: number; readonly lead?: number } | 'ALL' | 'FAR'

type Known = { readonly msPerEvent: number; readonly lead: number } | 'ALL' | { far: number }

const depthOf = (events: number): number => Math.floor(Math.log(Math.max(1, events)) / Math.log(DEPTH_STEP))

/** Knows of none yet, and of 10,000 lists at most; the oldest are forgotten first. */
export function createPaces(): Paces {
  const known = new Map<string, Known>()
  const keyOf = (
    { platformId, environment }: Tenant,
    { filter: { from: _from, before: _before, ...filter }, cursor }: List,
    events: number,
  ): string => JSON.stringify([platformId, environment, cursor, depthOf(events), filter])
  const knownOf = (events: number, seen: Seen): Known => {
    if (seen === 'FAR') return { far: FAR_TIMES }
    if (seen === 'ALL') return seen
    const lead = Math.max(0, seen.lead ?? 0)
    return { msPerEvent: Math.max(0, seen.ms - lead) / events, lead }
  }
  return {
    of: (tenant, list, events) => {
      const pace = known.get(keyOf(tenant, list, events)) ?? null
      if (pace === null || pace === 'ALL') return pace
      if ('msPerEvent' in pace) {
        const margin = events < FEW ? MARGIN_OF_FEW : MARGIN
        const ms = Math.ceil(pace.msPerEvent * events * margin + pace.lead * LEAD_MARGIN)
        return { ms: Math.max(LEAST_MS, ms) }
      }
      pace.far -= 1
      return pace.far >= 0 ? 'FAR' : null
    },
    note: (tenant, list, events, seen) => {
      const key = keyOf(tenant, list, events)
      const before = known.get(key)
      // Until it is asked by time again, only that can tell.
      if (typeof before === 'object' && 'far' in before && before.far >= 0 && seen !== 'FAR') return
      known.delete(key)
      known.set(key, knownOf(events, seen))
      for (const oldest of known.keys()) {
        if (known.size <= ENTRIES_MAX) break
        known.delete(oldest)
      }
    },
  }
}
