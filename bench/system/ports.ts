// Ports of a system under test. They lie below every range systems take the ports of outgoing connections from, so a
// process that was killed finds its own still free when it is started again.
import { assertPortFree } from '../../infra/services/child.ts'
import { PORTS } from '../../infra/start/settings.ts'

const FIRST = 25_000
const BLOCK = 12
const BLOCKS = 100

type PortName = keyof typeof PORTS

/** A port for each name, free at this moment. Test files that run side by side start at other blocks. */
export async function claimPorts(): Promise<(name: PortName) => number> {
  const base = await claimBlock()
  return name => base + PORTS[name]
}

/** The first of twelve ports in a row that are free at this moment. */
export async function claimBlock(): Promise<number> {
  for (let attempt = 0; attempt < BLOCKS; attempt += 1) {
    const base = FIRST + ((process.pid * 7 + attempt) % BLOCKS) * BLOCK
    const all = Array.from({ length: BLOCK }, (_, offset) => assertPortFree(base + offset, 'a test'))
    const results = await Promise.allSettled(all)
    if (results.every(result => result.status === 'fulfilled')) return base
  }
  throw new Error(`no ${BLOCK} free ports from ${FIRST} to ${FIRST + BLOCK * BLOCKS - 1}`)
}
