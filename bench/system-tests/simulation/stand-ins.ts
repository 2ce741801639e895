// What stands in the place of the clock, the disk and the network while a seed runs; the tests hand these to the modules.
import type { System } from './system.ts'
import { sleepIn } from './world.ts'

let system: System | null = null

/** Runs with this system in the place of the world outside, its clock and its chance. */
export async function runIn(simulated: System, work: () => Promise<void>): Promise<void> {
  const { world } = simulated
  const [now, chance, depth] = [performance.now, Math.random, Error.stackTraceLimit]
  system = simulated
  performance.now = () => world.nowMs
  // Faults are thrown by the hundred, and where a fault comes from is known.
  Error.stackTraceLimit = 0
  Math.random = () => world.random.below(1_000) / 1_000
  try {
    await work()
  } finally {
    performance.now = now
    Math.random = chance
    Error.stackTraceLimit = depth
    system = null
  }
}

/** The system that runs. Throws outside of a run. */
export function running(): System {
  if (system === null) throw new Error('no simulation is running')
  return system
}

/** For node:timers/promises. */
export const sleep = (delayMs: number, _value?: unknown, options?: { signal?: AbortSignal }): Promise<void> =>
  sleepIn(running().world, delayMs, options)
