// Rolls buckets up in groups. A group that ClickHouse refuses is halved until the bucket is found that cannot be rolled up, so that it
// holds up no other bucket, of no other tenant.
import type { Bucket } from '../outcome.ts'

/** Refused statements of one turn. What is left of refused groups waits for the next. */
const REFUSALS_PER_TURN = 8
/** A statement may take two minutes until it is given up: the hours and days that became quiet meanwhile come first. */
const TURN_MS = 60_000
/** Halves that may wait. A group leaves at most one for each time it is halved. */
const HALVES_MAX = 32

export type Turn = {
  /** Buckets that were refused in a statement of their own. */
  readonly refused: readonly Bucket[]
  /** Why statements failed: nothing where none did. */
  readonly errors: readonly unknown[]
}

export type ApartRoller = {
  /** Whether so much waits that no more groups should be given. */
  isFull(): boolean
  /**
   * Rolls up each of these groups, and then what waits of groups that were refused before. Never throws: when ClickHouse does not
   * answer, or after `stop`, all that is left waits.
   */
  roll(groups: readonly (readonly Bucket[])[], stop?: AbortSignal): Promise<Turn>
}

/** `roll` recomputes a group, in one statement or a few; `isRefusal` tells a statement that was refused from one that was not answered. */
export function createApartRoller(
  roll: (group: readonly Bucket[]) => Promise<void>,
  isRefusal: (error: unknown) => boolean,
): ApartRoller {
  // The last is taken first: so a bucket that is refused is found before the next group is halved.
  const waiting: (readonly Bucket[])[] = []

  return {
    isFull: () => waiting.length > HALVES_MAX,
    async roll(groups, stop) {
      const end = performance.now() + TURN_MS
      const refused: Bucket[] = []
      const errors: unknown[] = []
      const halve = (group: readonly Bucket[]): void => {
        const [only, ...others] = group
        if (only && others.length === 0) refused.push(only)
        const middle = Math.ceil(group.length / 2)
        if (others.length > 0) waiting.push(group.slice(middle), group.slice(0, middle))
      }
      /** False when ClickHouse does not answer. */
      const attempt = async (group: readonly Bucket[]): Promise<boolean> => {
        try {
          await roll(group)
          return true
        } catch (error) {
          errors.push(error)
          if (isRefusal(error)) {
            halve(group)
            return true
          }
          waiting.push(group)
          return false
        }
      }
      for (const [place, group] of groups.entries()) {
        if (await attempt(group)) continue
        waiting.push(...groups.slice(place + 1))
        return { refused, errors }
      }
      while (errors.length < REFUSALS_PER_TURN && performance.now() < end && !stop?.aborted) {
        const next = waiting.pop()
        if (!next || !(await attempt(next))) break
      }
      return { refused, errors }
    },
  }
}
