// Where the time of a start goes, for the log line that says that it is over.

export type StartPhases = {
  /** Ends the phase that began with the one before, or with the process. */
  ended(phase: string): void
  /** Milliseconds by phase, and `total` since the process began. */
  durations(): Readonly<Record<string, number>>
}

/** `nowMs` counts from the start of the process, so that the first phase holds the loading of the code. */
export function createStartPhases(nowMs: () => number = () => performance.now()): StartPhases {
  const durations: Record<string, number> = {}
  let before = 0
  return {
    ended: phase => {
      const now = nowMs()
      durations[phase] = Math.round(now - before)
      before = now
    },
    durations: () => ({ ...durations, total: Math.round(nowMs()) }),
  }
}
