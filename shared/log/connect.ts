// A broker that may be starting, or choosing who leads it, beside this process.
import { JetStreamApiError } from '@nats-io/jetstream'
import { connect, errors, type NatsConnection, type NodeConnectionOptions } from '@nats-io/transport-node'
import { isUnavailable } from '../database/driver-errors.ts'
import type { Logger } from '../process/logger.ts'
import { untilAnswers } from '../process/until-answers.ts'
import { brokerAddress } from './address.ts'

type BrokerOptions = Omit<NodeConnectionOptions, 'servers' | 'user' | 'pass'> & {
  readonly url: string
  readonly logger: Logger
}

/** Connects; waits half a minute for a broker that does not answer. Throws at once when it refuses who calls. */
export const connectToBroker = ({ url, logger, ...options }: BrokerOptions): Promise<NatsConnection> =>
  untilBrokerAnswers(() => connect({ ...brokerAddress(url), ...options }), logger)

/** Asks again, for half a minute, while nobody is there to answer: a cluster that lost a server takes some seconds to choose who leads. */
export const untilBrokerAnswers = <T>(ask: () => Promise<T>, logger: Logger, stop?: AbortSignal): Promise<T> =>
  untilAnswers(ask, { server: 'NATS', isAway: isNobodyThere, logger, stop })

const SERVICE_UNAVAILABLE = 503

const isNobodyThere = (error: unknown): boolean =>
  isUnavailable(error) ||
  error instanceof errors.TimeoutError ||
  error instanceof errors.NoRespondersError ||
  error instanceof errors.RequestError ||
  (error instanceof Error && error.name === 'JetStreamNotEnabled') ||
  (error instanceof JetStreamApiError && error.status === SERVICE_UNAVAILABLE)
