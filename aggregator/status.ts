// Whether this aggregator keeps up, in words: the /health/ready answer.
import type { NatsConnection } from '@nats-io/transport-node'
import type { ClickHouseClient } from '../shared/usage/clickhouse.ts'
import type { Partitions } from './partitions.ts'

export type Health = {
  /** A round was stored. */
  stored(): void
  /** A round has not been stored for this long, in spite of trying. */
  failing(seconds: number): void
  ready(): Promise<string | null>
}

/** A round that waits longer for ClickHouse than this is worth saying; a single refused insert is not. */
const FAILING_S = 10
/** A prober does not wait for a ClickHouse that hangs. */
const PING_MS = 3_000

/** Knows nothing bad at first. */
export function createHealth(
  { nats, client }: { readonly nats: NatsConnection; readonly client: ClickHouseClient },
  partitions: Partitions,
): Health {
  let failingS = 0
  return {
    stored() {
      failingS = 0
    },
    failing(seconds) {
      failingS = seconds
    },
    async ready() {
      if (nats.isClosed()) return 'the connection to NATS is closed'
      const resuming = partitions.resuming()
      if (resuming.length > 0) return `partitions ${resuming.join(', ')} are being taken up`
      if (failingS >= FAILING_S) return `ClickHouse has not taken a round for ${Math.round(failingS)} s`
      const ping = client.ping().then(answer => (answer.success ? null : answer.error.message))
      const late = new Promise<string>(resolve => setTimeout(resolve, PING_MS, 'no answer').unref())
      const fault = await Promise.race([ping, late])
      return fault === null ? null : `ClickHouse: ${fault}`
    },
  }
}
