// The records that usage_records_by_meter may not have yet: those being stored, those stored and not copied, and those being copied. This
// keeps the seconds in which they were received (since 1970) and the keys of their meters (shared/usage/meter-records.ts).

/** Records received from one second on, and before another; null has no end. */
export type Stretch = { readonly from: number; readonly before: number | null }

/** Records that are stored together: the seconds in which they were received, and their meters. */
export type Arrivals = { readonly seconds: ReadonlySet<number>; readonly meters: ReadonlySet<string> }

/** No record received before the second `earliest` is missing. Only records of `meters` are; null stands for any meter. Null where none is missing. */
export type Uncopied = { readonly earliest: number; readonly meters: ReadonlySet<string> | null } | null

export type Received = {
  /** These records are being stored. To be called when they are, or may be: from then on they can be copied. */
  storing(arrivals: Arrivals): () => void
  /** Everything received from then on may be missing. */
  missingFrom(second: number): void
  /** What is to be copied next, in order of time; empty when there is nothing. One at a time: `copied` or `failed` follows. */
  take(nowSecond: number): Stretch[]
  /** Whether nothing is left of what `missingFrom` was given. */
  copied(): boolean
  failed(): void
  uncopied(): Uncopied
}

/** What was missed is copied by the hour, so that no statement takes long. */
const LONGEST = 3_600
/** With more, all between the first and the last is copied. */
const STRETCHES_MAX = 100

type Gathered = { readonly seconds: Set<number>; readonly meters: Set<string> }
const nothing = (): Gathered => ({ seconds: new Set(), meters: new Set() })
function add(to: Gathered, { seconds, meters }: Arrivals): void {
  for (const second of seconds) to.seconds.add(second)
  for (const meter of meters) to.meters.add(meter)
}

/** Nothing is missing yet. */
export function createReceived(): Received {
  const storing = new Set<Arrivals>()
  let stored = nothing()
  let copying = nothing()
  let missing: number | null = null
  /** Where `missing` begins when what is being copied is there. */
  let missingNext: number | null = null

  return {
    storing(arrivals) {
      // A copy of its own each time: the same rows may be stored twice at once.
      const these = nothing()
      add(these, arrivals)
      storing.add(these)
      return () => {
        if (storing.delete(these)) add(stored, these)
      }
    },
    missingFrom(second) {
      missing = Math.min(second, missing ?? second)
    },
    take(nowSecond) {
      missingNext = missing !== null && missing + LONGEST < nowSecond ? missing + LONGEST : null
      if (missing !== null && missingNext !== null) return [{ from: missing, before: missingNext }]
      copying = stored
      stored = nothing()
      const seconds = [...copying.seconds]
      if (missing === null) return stretchesOf(seconds)
      const from = missing
      return [...stretchesOf(seconds.filter(second => second < from)), { from, before: null }]
    },
    copied() {
      copying = nothing()
      missing = missingNext
      return missing === null
    },
    failed() {
      add(stored, copying)
      copying = nothing()
      missingNext = null
    },
    uncopied() {
      const all = nothing()
      for (const arrivals of [...storing, stored, copying]) add(all, arrivals)
      let earliest = missing ?? Number.POSITIVE_INFINITY
      for (const second of all.seconds) earliest = Math.min(earliest, second)
      if (earliest === Number.POSITIVE_INFINITY) return null
      return { earliest, meters: missing === null ? all.meters : null }
    },
  }
}

/** The stretches that hold these seconds: neighbours make one. */
function stretchesOf(seconds: readonly number[]): Stretch[] {
  const stretches: { from: number; before: number }[] = []
  for (const second of [...seconds].sort((one, other) => one - other)) {
    const last = stretches.at(-1)
    if (last?.before === second) last.before = second + 1
    else stretches.push({ from: second, before: second + 1 })
  }
  const [first, last] = [stretches[0], stretches.at(-1)]
  return first && last && stretches.length > STRETCHES_MAX ? [{ from: first.from, before: last.before }] : stretches
}
