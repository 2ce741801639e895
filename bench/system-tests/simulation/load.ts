// Loads the product's modules with the simulated world in the place of the clock, the disk and the broker's client.
import { vi } from 'vitest'
import type { SimulatedConnection } from './broker.ts'
import { running, sleep } from './stand-ins.ts'

type Simulation = typeof import('./simulate.ts')

/** The simulation; to be loaded before anything else of the product is. */
export async function loadSimulation(): Promise<Simulation> {
  vi.doMock('node:timers/promises', () => ({ setTimeout: sleep }))
  vi.doMock('@nats-io/transport-node', async original => ({
    ...(await original<object>()),
    connect: async () => running().connection(),
  }))
  vi.doMock('@nats-io/jetstream', async original => ({
    ...(await original<object>()),
    jetstream: (connection: SimulatedConnection) => connection.js,
    jetstreamManager: async (connection: SimulatedConnection) => connection.jsm,
  }))
  vi.doMock('../../../aggregator/index/folder.ts', () => ({
    claimIndexFolder: (directory: string) => running().folder(directory),
  }))
  vi.doMock('../../../aggregator/index/first-seen-index.ts', () => ({
    openFirstSeenIndex: (path: string) => running().index(path),
  }))
  vi.doMock('../../../aggregator/index/resume.ts', async original => {
    const real = await original<typeof import('../../../aggregator/index/resume.ts')>()
    const planResume: typeof real.planResume = (index, stored, stream) => {
      const plan = real.planResume(index, stored, stream)
      return running().sabotage.plan?.(plan, stored) ?? plan
    }
    return { ...real, planResume }
  })
  vi.doMock('../../../aggregator/sinks/usage-sink.ts', async original => {
    const real = await original<typeof import('../../../aggregator/sinks/usage-sink.ts')>()
    const createUsageSink: typeof real.createUsageSink = client => {
      const sink = real.createUsageSink(client)
      return running().sabotage.sink?.(sink) ?? sink
    }
    return { ...real, createUsageSink }
  })
  return await import('./simulate.ts')
}
