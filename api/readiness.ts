// Whether what the api stands on is there: its database, the usage store, and the processes it answers for.
import type { Dispatcher } from 'undici'
import { type Database, databaseFault } from '../shared/database/database.ts'
import type { ClickHouseClient } from '../shared/usage/clickhouse.ts'

const TIMEOUT_MS = 3_000

/** Why ClickHouse does not answer; null when it does. */
export async function clickHouseFault(client: ClickHouseClient): Promise<string | null> {
  const answer = await client.ping()
  return answer.success ? null : `ClickHouse does not answer: ${answer.error.message}`
}

/** Why the process behind `peer` is not ready, by its own /health/ready; null when it is. */
export async function peerFault(name: string, peer: Dispatcher): Promise<string | null> {
  try {
    const answer = await peer.request({
      method: 'GET',
      path: '/health/ready',
      headersTimeout: TIMEOUT_MS,
      bodyTimeout: TIMEOUT_MS,
    })
    const body = await answer.body.text()
    return answer.statusCode === 200 ? null : `the ${name} is not ready: ${body.slice(0, 300)}`
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
