// When the records were received that usage_records_by_meter may not have yet: those being stored, those stored and not copied, and
// those being copied. In whole seconds since 1970.

/** Records received from one second on, and before another; null has no end. */
export type Stretch = { readonly from: number; readonly before: number | null }

export type Received = {
  /** Records received in these seconds are being stored. To be called when they are, or may be: from then on they can be copied. */
  storing(seconds: ReadonlySet<number>): () => void
  /** Everything received from then on may be missing. */
  missingFrom(second: number): void
  /** What is to be copied next, in order of time; empty when there is nothing. One at a time: `copied` or `failed` follows. */
  take(nowSecond: number): Stretch[]
  /** Whether nothing is left of what `missingFrom` was given. */
  copied(): boolean
  failed(): void
  /** The earliest second whose records may be missing; null when none are. */
  earliest(): number | null
}

/** What was missed is copied by the hour, so that no statement takes long. */
const LONGEST = 3_600
/** With more, all between the first and the last is copied. */
const STRETCHES_MAX = 100

/** Nothing is missing yet. */
export function createReceived(): Received {
  const storing = new Set<ReadonlySet<number>>()
  let stored = new Set<number>()
  let copying: ReadonlySet<number> = new Set()
  let missing: number | null = null
  /** Where `missing` begins when what is being copied is there. */
  let missingNext: number | null = null

  return {
    storing(seconds) {
      // A copy of its own each time: the same rows may be stored twice at once.
      const these = new Set(seconds)
      storing.add(these)
      return () => {
        if (!storing.delete(these)) return
        for (const second of these) stored.add(second)
      }
    },
    missingFrom(second) {
      missing = Math.min(second, missing ?? second)
    },
    take(nowSecond) {
      missingNext = missing !== null && missing + LONGEST < nowSecond ? missing + LONGEST : null
      if (missing !== null && missingNext !== null) return [{ from: missing, before: missingNext }]
      copying = stored
      stored = new Set()
      if (missing === null) return stretchesOf([...copying])
      const from = missing
      return [...stretchesOf([...copying].filter(second => second < from)), { from, before: null }]
    },
    copied() {
      copying = new Set()
      missing = missingNext
      return missing === null
    },
    failed() {
      for (const second of copying) stored.add(second)
      copying = new Set()
      missingNext = null
    },
    earliest() {
      let earliest = missing ?? Number.POSITIVE_INFINITY
      for (const seconds of [...storing, stored, copying])
        for (const second of seconds) earliest = Math.min(earliest, second)
      return earliest === Number.POSITIVE_INFINITY ? null : earliest
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
