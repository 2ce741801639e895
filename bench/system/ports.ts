// Ports of a system under test. They lie below every range systems take the ports of outgoing connections from, so a
// process that was killed finds its own still free when it is started again.
import { createServer } from 'node:net'
import { assertPortFree } from '../../infra/services/child.ts'
import { PORTS } from '../../infra/start/settings.ts'

const FIRST = 25_000
const BLOCK = Object.keys(PORTS).length
const BLOCKS = 100
/** One for each block: who listens on it has the block. */
const FIRST_GUARD = FIRST - BLOCKS

type PortName = keyof typeof PORTS

/** A port for each name, that no other test file uses while this process lives. */
export async function claimPorts(): Promise<(name: PortName) => number> {
  const base = await claimBlock()
  return name => base + PORTS[name]
}

/**
 * The first of as many free ports in a row as a start takes. No other process gets the same ones while this process lives, even before
 * anything listens on them.
 */
export async function claimBlock(): Promise<number> {
  for (let attempt = 0; attempt < BLOCKS; attempt += 1) {
    const block = (process.pid * 7 + attempt) % BLOCKS
    if (!(await holds(FIRST_GUARD + block))) continue
    const base = FIRST + block * BLOCK
    const all = Array.from({ length: BLOCK }, (_, offset) => assertPortFree(base + offset, 'a test'))
    const results = await Promise.allSettled(all)
    if (results.every(result => result.status === 'fulfilled')) return base
  }
  throw new Error(`no ${BLOCK} free ports from ${FIRST} to ${FIRST + BLOCK * BLOCKS - 1}`)
}

/** Listens on this port until the process ends. Returns false if another process listens on it already. */
function holds(port: number): Promise<boolean> {
  return new Promise(resolve => {
    const guard = createServer()
    guard.once('error', () => resolve(false))
    guard.listen({ port, host: '127.0.0.1', exclusive: true }, () => {
      guard.unref()
      resolve(true)
    })
  })
}
