// A connection of the gateway to NATS that is kept for as long as it runs, and whether the broker is there now.
import { connect, type NatsConnection } from '@nats-io/transport-node'
import { brokerAddress } from '../../shared/log/address.ts'
import type { Logger } from '../../shared/logger.ts'

export type BrokerConnection = {
  readonly connection: NatsConnection
  connected(): boolean
}

const CONNECT_TIMEOUT_MS = 10_000
const RECONNECT_WAIT_MS = 250
/** A broker that is stopped rather than gone is noticed within two of these; meanwhile publishes time out one by one. */
const PING_INTERVAL_MS = 5_000

/** Connects, and from then on comes back by itself. `onChange` hears of each loss and each return. */
export async function connectBroker(options: {
  url: string
  logger: Logger
  onChange?: (connected: boolean) => void
}): Promise<BrokerConnection> {
  const connection = await connect({
    ...brokerAddress(options.url),
    name: 'millrace-gateway',
    timeout: CONNECT_TIMEOUT_MS,
    maxReconnectAttempts: -1,
    reconnectTimeWait: RECONNECT_WAIT_MS,
    pingInterval: PING_INTERVAL_MS,
    maxPingOut: 2,
    noAsyncTraces: true,
  })
  let connected = true
  void watch(connection, options.logger, state => {
    connected = state
    options.onChange?.(state)
  })
  return { connection, connected: () => connected }
}

async function watch(connection: NatsConnection, logger: Logger, set: (connected: boolean) => void): Promise<void> {
  for await (const status of connection.status()) {
    if (status.type === 'disconnect') {
      set(false)
      logger.warn({ server: status.server }, 'NATS is disconnected; requests are refused until it is back')
    } else if (status.type === 'reconnect') {
      set(true)
      logger.info({ server: status.server }, 'NATS is connected again')
    }
  }
}
