// What reading usage says when the store or the log of usage is away: a refusal that a caller can send again.
import { ClickHouseError } from '@clickhouse/client'
import { AppError } from '../../shared/errors.ts'
import { isTooLong } from '../../shared/usage/clickhouse.ts'

const RETRY_AFTER_S = 2

/** Whether what was read is away. Drivers give the errors of a connection a code of the system; those of NATS have names, as have its time-outs. */
export const isUnreachable = (cause: unknown): boolean =>
  cause instanceof Error &&
  !(cause instanceof AppError) &&
  !(cause instanceof ClickHouseError) &&
  ('code' in cause || NATS_ERRORS.some(name => cause.name === name))
const NATS_ERRORS = [
  'TimeoutError',
  'ConnectionError',
  'ClosedConnectionError',
  'DrainingConnectionError',
  'NoResponders',
  'RequestError',
]

/** The refusal of what usage cannot be read for in time. */
export const usageReadTimedOut = (message: string, cause: unknown): AppError =>
  new AppError('SERVICE_UNAVAILABLE', message, { retryAfterSeconds: TOO_LONG_RETRY_AFTER_S, cause })
const TOO_LONG_RETRY_AFTER_S = 5

/** The answer, or SERVICE_UNAVAILABLE with Retry-After when what was read is away or takes too long. Any other error stays what it is. */
export async function usageAnswer<T>(read: Promise<T>): Promise<T> {
  try {
    return await read
  } catch (cause) {
    throw usageRefusal(cause)
  }
}

/** What `usageAnswer` throws for this error. */
export function usageRefusal(cause: unknown): unknown {
  if (isTooLong(cause))
    return usageReadTimedOut('Reading the usage takes too long. Narrow the request, or send it again later.', cause)
  if (!isUnreachable(cause)) return cause
  return new AppError('SERVICE_UNAVAILABLE', 'Usage cannot be read right now; send it again.', {
    retryAfterSeconds: RETRY_AFTER_S,
    cause,
  })
}

/** The same for what is read some at a time. */
export async function* usageAnswers<T>(read: AsyncGenerator<T>): AsyncGenerator<T> {
  for (;;) {
    const next = await usageAnswer(read.next())
    if (next.done) return
    yield next.value
  }
}
