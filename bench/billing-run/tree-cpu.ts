// Processor time of a process with all its children, those that ended included: PostgreSQL serves every connection by one.
import { readdirSync, readFileSync } from 'node:fs'
import type { Costs } from '../cpu.ts'

const TICKS = 100

type Stat = { readonly parent: number; readonly seconds: number }

/** The parent of a process, and what it and its ended children used; null when it has ended. */
export function statOf(pid: string): Stat | null {
  try {
    // The name, in brackets, may hold spaces; the parent is the 2nd field after it, the times of it and its ended children the 12th to 15th.
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)?.split(' ').map(Number) ?? []
    return { parent: fields[1] ?? 0, seconds: fields.slice(11, 15).reduce((sum, ticks) => sum + ticks, 0) / TICKS }
  } catch {
    return null // it has ended
  }
}

function treesSeconds(pids: Readonly<Record<string, number>>): Map<string, number> {
  const names = Object.fromEntries(Object.entries(pids).map(([name, pid]) => [pid, name]))
  const stats = new Map<number, Stat>()
  for (const pid of readdirSync('/proc').filter(each => /^[0-9]+$/.test(each))) {
    const stat = statOf(pid)
    if (stat) stats.set(Number(pid), stat)
  }
  const sums = new Map<string, number>()
  for (const [pid, { seconds }] of stats) {
    let at = pid
    while (at > 1 && !(at in names)) at = stats.get(at)?.parent ?? 0
    const name = names[at]
    if (name !== undefined) sums.set(name, (sums.get(name) ?? 0) + seconds)
  }
  return sums
}

/** Starts counting; the function it returns gives what each of the processes, with its children, used since, in milliseconds for each of `count`. */
export function countTrees(pids: Readonly<Record<string, number>>): (count: number) => Costs {
  const before = treesSeconds(pids)
  return count => {
    const after = treesSeconds(pids)
    return Object.fromEntries(
      [...before].map(([name, start]) => [name, (((after.get(name) ?? start) - start) / count) * 1e3]),
    )
  }
}

/** What PostgreSQL does by itself, for no client: its processes are named by their purpose. */
const HOUSEKEEPING =
  /^postgres: (?:\S+ )?(?:autovacuum|checkpointer|background writer|walwriter|logical replication|io worker)/

/**
 * Starts counting; the function it returns gives what each kind of PostgreSQL's processes used since, in milliseconds for each of `count`.
 * `pid`: of the server. A process that ended since is not counted.
 */
export function countServers(
  pid: number,
): (count: number) => { readonly asked: number; readonly housekeeping: number } {
  const before = serverSeconds(pid)
  return count => {
    const sums = { asked: 0, housekeeping: 0 }
    for (const [child, { seconds, isAsked }] of serverSeconds(pid))
      sums[isAsked ? 'asked' : 'housekeeping'] += ((seconds - (before.get(child)?.seconds ?? 0)) / count) * 1e3
    return sums
  }
}

function serverSeconds(pid: number): Map<string, { readonly seconds: number; readonly isAsked: boolean }> {
  const found = new Map<string, { seconds: number; isAsked: boolean }>()
  for (const child of readdirSync('/proc').filter(each => /^[0-9]+$/.test(each))) {
    const stat = statOf(child)
    if (stat?.parent !== pid) continue
    try {
      found.set(child, {
        seconds: stat.seconds,
        isAsked: !HOUSEKEEPING.test(readFileSync(`/proc/${child}/cmdline`, 'utf8')),
      })
    } catch {
      // it has ended
    }
  }
  return found
}
