// The gateway's end of the usage log: connects to NATS, makes sure of the streams, publishes a message and awaits its ack.
import { jetstreamManager } from '@nats-io/jetstream'
import type { NatsConnection } from '@nats-io/transport-node'
import { streamName, streamSubject } from '../../shared/contracts/streams.ts'
import type { Failpoints } from '../../shared/failpoint.ts'
import { connectToBroker, untilBrokerAnswers } from '../../shared/log/connect.ts'
import { ensureStreams } from '../../shared/log/streams.ts'
import type { Logger } from '../../shared/process/logger.ts'
import type { Message } from '../events/message.ts'
import type { Later } from '../later.ts'
import { createAckedPublish } from './acked-publish.ts'

export type UsageLog = {
  /**
   * Resolves with the message's sequence when the broker has acknowledged it. Rejects when it refused it, or is silent for ACK_TIMEOUT_MS:
   * then nobody knows whether it holds the message, and the sender must send again; the log counts it once all the same.
   */
  publish(partition: number, message: Message): Promise<number>
  /** The body of a message; null when the log does not hold it any more. Throws when the broker does not answer. */
  read(partition: number, seq: number): Promise<string | null>
  /** Why nothing can be published now, or null. */
  fault(): string | null
  /** The connection itself, for what gateways tell each other. */
  readonly connection: NatsConnection
  close(): Promise<void>
}

const ACK_TIMEOUT_MS = 2_000
const CONNECT_TIMEOUT_MS = 10_000
const RECONNECT_WAIT_MS = 250
/** A broker that is stopped rather than gone is noticed within two of these; meanwhile publishes time out one by one. */
const PING_INTERVAL_MS = 5_000

/** Connects and makes the streams. Throws when the broker cannot be reached or its streams are of other partitions. */
export async function openUsageLog(options: {
  url: string
  partitions: number
  replicas: number
  failpoint: Failpoints
  logger: Logger
  later: Later
}): Promise<UsageLog> {
  const { partitions, replicas, failpoint, logger } = options
  const connection = await connectToBroker({
    url: options.url,
    logger,
    name: 'millrace-gateway',
    timeout: CONNECT_TIMEOUT_MS,
    maxReconnectAttempts: -1,
    reconnectTimeWait: RECONNECT_WAIT_MS,
    pingInterval: PING_INTERVAL_MS,
    maxPingOut: 2,
    noAsyncTraces: true,
  })
  let connected = true
  void watch(connection, logger, state => {
    connected = state
  })
  try {
    await untilBrokerAnswers(
      async () => ensureStreams(await jetstreamManager(connection), { partitions, replicas }),
      logger,
    )
  } catch (error) {
    await connection.close()
    throw error
  }
  const publish = createAckedPublish({ connection, timeoutMs: ACK_TIMEOUT_MS, later: options.later })
  return {
    connection,
    publish: async (partition, message) => {
      // While disconnected the client would keep what it is given, without a bound, and send it after we said 503.
      if (!connected) throw new Error('NATS is not connected')
      await failpoint('gateway.before-publish')
      const acked = publish(streamSubject(partition), streamName(partition), message)
      acked.catch(() => undefined) // it may be refused while a failpoint delays; it is awaited below all the same
      await failpoint('gateway.after-publish')
      const seq = await acked
      await failpoint('gateway.after-ack')
      return seq
    },
    read: async (partition, seq) => {
      if (!connected) throw new Error('NATS is not connected')
      const jsm = await jetstreamManager(connection, { timeout: ACK_TIMEOUT_MS, checkAPI: false })
      return (await jsm.streams.getMessage(streamName(partition), { seq }))?.string() ?? null
    },
    fault: () => (connected ? null : 'NATS is not connected'),
    close: () => connection.close(),
  }
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
