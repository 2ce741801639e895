// Which events of a request are repeats that the publisher did not recognise, because this gateway has forgotten their reference, never
// had it, or is writing it for another request. Only the answer depends on this: the log decides what counts.
import { type FirstPlaces, REFERENCES_MAX } from '../../../shared/contracts/first-seen.ts'
import type { Allowance } from '../../limits/allowance.ts'
import type { Lines } from '../lines.ts'
import type { Repeat } from '../publish.ts'
import { type EventKeys, idHashAt, KEY_WORDS } from './event-key.ts'
import { NO_PLACE, placeOf } from './place.ts'
import type { RecentEvents } from './recent.ts'

export type FindRepeats = {
  /**
   * Starts the look-up of these lines; null when the allowance is used up or there are too many of them. Call the result once all
   * lines are in the log: it resolves with the repeats among them.
   */
  begin(lines: Lines): (() => Promise<readonly Repeat[]>) | null
}

export type FindRepeatsDeps = {
  readonly recent: RecentEvents
  /** Rejects when no one answers in time. */
  readonly places: (partition: number, idHashes: readonly string[]) => Promise<FirstPlaces>
  /** In requests of LINES_PER_LOOK events. */
  readonly allowance: Allowance
  readonly nowMs: () => number
}

const LINES_PER_LOOK = 50
/** For how long nothing is asked after an answer that did not come. */
const PAUSE_MS = 2_000

export function createFindRepeats({ recent, places, allowance, nowMs }: FindRepeatsDeps): FindRepeats {
  let pausedUntil = 0

  /** The places of the lines by their number; none when they are not known in time. */
  const ask = async (partition: number, own: readonly number[], keys: EventKeys): Promise<[number, number][]> => {
    if (nowMs() < pausedUntil) return []
    try {
      const idHashes = own.map(line => idHashAt(keys, line * KEY_WORDS))
      const found = await places(partition, idHashes)
      return own.flatMap((line, at) => {
        const place = found[at]
        return place ? [[line, placeOf(...place)] as [number, number]] : []
      })
    } catch {
      pausedUntil = nowMs() + PAUSE_MS
      return []
    }
  }

  return {
    begin(lines) {
      if (lines.count > REFERENCES_MAX || !allowance.take(Math.ceil(lines.count / LINES_PER_LOOK))) return null
      const keys = lines.keys.slice(0, lines.count * KEY_WORDS)
      const byPartition = new Map<number, number[]>()
      for (let line = 0; line < lines.count; line += 1) {
        const partition = lines.partitionOf(line)
        const own = byPartition.get(partition)
        if (own) own.push(line)
        else byPartition.set(partition, [line])
      }
      const asked = Promise.all([...byPartition].map(([partition, own]) => ask(partition, own, keys)))
      return async () => {
        const older = new Map((await asked).flat())
        const repeats: Repeat[] = []
        for (const [partition, own] of byPartition)
          for (const line of own) {
            const at = line * KEY_WORDS
            const remembered = recent.placeOf(keys, at)
            const place = older.get(line)
            // What the log now has of this very event, or of a later copy, is no repeat.
            if (place !== undefined && (remembered === NO_PLACE || place < remembered))
              repeats.push({ line, partition, place })
            else if (remembered !== NO_PLACE && !recent.has(keys, at))
              repeats.push({ line, partition, place: remembered })
          }
        return repeats
      }
    },
  }
}
