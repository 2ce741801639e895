// When a change of an assignment changes the number of seats. Pure.
import { at, instantOf } from '../../../../shared/time.ts'
import type { ClauseChange } from '../clauses/clause-entries.ts'
import type { SeatAssignment } from './table.ts'

type Times = Pick<SeatAssignment, 'start_at' | 'end_at'>

/** From when on there are more or fewer seats, and the field that makes it; a new assignment has no `previous`. */
export function seatTimes(row: Times, previous: Times | null): ClauseChange[] {
  if (previous === null) return [{ from: at(row.start_at), path: 'start_at' }]
  if (row.end_at === previous.end_at) return []
  const ends = [row.end_at, previous.end_at].filter(end => end !== null)
  return ends.length === 0 ? [] : [{ from: instantOf(Math.min(...ends.map(at))), path: 'end_at' }]
}
