// What is measured beside a run so that its figures can be compared with those of another day: what a fixed piece of work costs meanwhile,
// and what the worker allocates.
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import { nodeArgs } from '../../infra/services/project.ts'

const WRITTEN_MS = 2_500

/** Starts the yardstick. The function it returns ends it, and gives the milliseconds of processor time that a piece took since. */
async function startYardstick(): Promise<() => Promise<number | null>> {
  const args = nodeArgs('bench/billing-run/yardstick')
  const child = fork(args.at(-1) ?? '', { execArgv: args.slice(0, -1) })
  await once(child, 'message')
  return async () => {
    const answer = once(child, 'message')
    child.send('end')
    const [ms] = (await answer) as [number | null]
    if (child.exitCode === null) await once(child, 'exit')
    return ms
  }
}

type Garbage = { readonly bytes: number; readonly collections: number }

/** Counts what a process allocates that gets these settings. */
export function countGarbage() {
  const folder = mkdtempSync(join(tmpdir(), 'millrace-garbage-'))
  const file = join(folder, 'sums.json')
  const args = nodeArgs('bench/billing-run/garbage')
  const module = pathToFileURL(args.at(-1) ?? '').href
  return {
    settings: { GARBAGE_FILE: file, NODE_OPTIONS: [...args.slice(0, -1), '--import', module].join(' ') },
    /** So far, in bytes of its heap. */
    read: async (): Promise<Garbage> => {
      await sleep(WRITTEN_MS) // it is written from time to time
      return JSON.parse(readFileSync(file, 'utf8')) as Garbage
    },
    end: () => rmSync(folder, { recursive: true, force: true }),
  }
}

const MINUTE_MS = 60_000
/** Seconds into a minute between which a run begins: what runs every minute is over, and is not due soon. */
const BEGINS_MS = [5_000, 30_000] as const

/** Until a run may begin; 0 where it may now. */
function untilQuiet(now: number): number {
  const [from, to] = BEGINS_MS
  const into = now % MINUTE_MS
  if (into < from) return from - into
  return into <= to ? 0 : MINUTE_MS - into + from
}

export type Beside = Garbage & {
  /** How often the jobs of every minute ran meanwhile. */
  readonly minutes: number
  /** Milliseconds of processor time that a piece of the yardstick took; null where the run was too short for one. */
  readonly pieceMs: number | null
}

/**
 * Runs `act` with the yardstick beside it, just after a full minute: before the next one, no job counts invoices again or makes their
 * receipts.
 */
export async function measureBeside<T>(
  garbage: ReturnType<typeof countGarbage>,
  act: () => Promise<T>,
): Promise<{ readonly result: T; readonly beside: Beside }> {
  await sleep(untilQuiet(Date.now()))
  const end = await startYardstick()
  const before = await garbage.read()
  const minuteOf = (): number => Math.floor(Date.now() / MINUTE_MS)
  const began = minuteOf()
  const result = await act()
  const minutes = minuteOf() - began
  const pieceMs = await end()
  const { bytes, collections } = await garbage.read()
  return {
    result,
    beside: { pieceMs, minutes, bytes: bytes - before.bytes, collections: collections - before.collections },
  }
}
