// What a stretch of work cost each process: processor time, which other load on the machine hardly moves, unlike rates.
import { readFileSync } from 'node:fs'

/** Microseconds of processor time an event, user and system together, by process. */
export type Costs = Readonly<Record<string, number>>

/** Ticks a second of /proc; the same on every Linux that Node runs on. */
const TICKS = 100

/** Seconds of processor time a process has used, all its threads together; null where the system does not tell. */
export function cpuSeconds(pid: number): number | null {
  try {
    // The name, in brackets, may hold spaces; utime and stime are the 12th and 13th fields after it.
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)?.split(' ') ?? []
    return (Number(fields[11]) + Number(fields[12])) / TICKS
  } catch {
    return null // no /proc on this system, or the process is gone
  }
}

/** Starts counting; the function it returns tells what each process used since. Processes that cannot be read are left out. */
export function countCpu(pids: Readonly<Record<string, number>>): (events: number) => Costs {
  const before = new Map(Object.entries(pids).map(([name, pid]) => [name, cpuSeconds(pid)]))
  return events => {
    const costs: Record<string, number> = {}
    for (const [name, start] of before) {
      const end = cpuSeconds(pids[name] ?? 0)
      if (start !== null && end !== null) costs[name] = ((end - start) / events) * 1e6
    }
    return costs
  }
}
