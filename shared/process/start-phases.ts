// Where the time of a start goes, for the log line that says that it is over: what passed, and what of it this process worked. On a
// busy machine much more passes than is worked.

export type StartPhases = {
  /** Ends the phase that began with the one before, or with the process. */
  ended(phase: string): void
  /** Milliseconds by phase, and `total` since the process began. `phasesCpuMs` is processor time, of all its threads. */
  durations(): { readonly phasesMs: Durations; readonly phasesCpuMs: Durations }
}

type Durations = Readonly<Record<string, number>>

const processCpuMs = (): number => {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1_000
}

/** Both clocks count from the start of the process, so that the first phase holds the loading of the code. */
export function createStartPhases(
  nowMs: () => number = () => performance.now(),
  cpuMs: () => number = processCpuMs,
): StartPhases {
  const clocks = [nowMs, cpuMs].map(clock => ({ clock, before: 0, durations: {} as Record<string, number> }))
  return {
    ended: phase => {
      for (const each of clocks) {
        const now = each.clock()
        each.durations[phase] = Math.round(now - each.before)
        each.before = now
      }
    },
    durations: () => {
      const [phasesMs = {}, phasesCpuMs = {}] = clocks.map(({ clock, durations }) => ({
        ...durations,
        total: Math.round(clock()),
      }))
      return { phasesMs, phasesCpuMs }
    },
  }
}
