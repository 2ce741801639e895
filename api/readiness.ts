// Whether what the api stands on is there: its database, the usage store, and the processes it answers for.
import type { Dispatcher } from 'undici'
import { type Database, databaseFault } from '../shared/database/database.ts'
import { type ClickHouseClient, clickHouseFault } from '../shared/usage/clickhouse.ts'

/** So that the whole is answered within 3 s. */
const TIMEOUT_MS = 2_500

/** Why the process behind `peer` is not ready, by its own /health/ready; null when it is. */
export async function peerFault(name: string, peer: Dispatcher): Promise<string | null> {
  try {
    const answer = await peer.request({
      method: 'GET',
      path: '/health/ready',
      signal: AbortSignal.timeout(TIMEOUT_MS),
    })
    await answer.body.dump()
    return answer.statusCode === 200
      ? null
      : `the ${name} is not ready (its own /health/ready on METRICS_PORT says why)`
  } catch (error) {
    return `the ${name} does not answer: ${error instanceof Error ? error.message : String(error)}`
  }
}

/** All of it at once: null when everything is there, otherwise every fault. */
export async function readiness(parts: {
  readonly database: Database
  readonly client: ClickHouseClient
  readonly peers: Readonly<Record<string, Dispatcher>>
}): Promise<string | null> {
  const faults = await Promise.all([
    databaseFault(parts.database),
    clickHouseFault(parts.client),
    ...Object.entries(parts.peers).map(([name, peer]) => peerFault(name, peer)),
  ])
  const found = faults.filter(fault => fault !== null)
  return found.length === 0 ? null : found.join('; ')
}
