// The one place where a failure becomes an answer: the error envelope, its status and its headers.
import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify'
import { isUnavailable } from '../../shared/database/driver-errors.ts'
import { AppError } from '../../shared/errors.ts'
import { ANSWER_HEADERS } from './manners.ts'
import type { Methods } from './methods.ts'

/** Turns anything thrown into the AppError that is sent. Bugs become a bare 500; their detail goes to the log only. */
export function toAppError(error: unknown): AppError {
  if (error instanceof AppError) return error
  const status = statusOf(error)
  if (status === 413) return new AppError('PAYLOAD_TOO_LARGE', 'The body is larger than this address accepts.')
  if (status === 415) return new AppError('UNSUPPORTED_MEDIA_TYPE', 'Send the body as application/json.')
  if (error instanceof Error && 'code' in error && error.code === 'FST_ERR_BAD_URL')
    return new AppError(
      'BAD_REQUEST',
      'The path is not a valid URL. Percent-encode what is no letter, digit, dot or dash.',
    )
  if (status === 414)
    return new AppError('INVALID_FIELD', 'A part of the path is longer than 255 characters.', { status: 414 })
  if (isAway(error)) {
    return new AppError('SERVICE_UNAVAILABLE', 'Something this call needs is not available right now; send it again.', {
      retryAfterSeconds: AWAY_RETRY_AFTER_S,
      cause: error,
    })
  }
  if (status === 503) return new AppError('SERVICE_UNAVAILABLE', 'Not ready; send it again.', { retryAfterSeconds: 1 })
  if (status !== null && status >= 400 && status < 500) {
    return new AppError('BAD_REQUEST', error instanceof Error ? error.message : 'The request cannot be read.')
  }
  return new AppError(
    'INTERNAL_ERROR',
    'Something went wrong on our side. Quote the X-REQUEST-ID when you report it.',
    { cause: error },
  )
}

const AWAY_RETRY_AFTER_S = 2
const BROKER_AWAY: ReadonlySet<string> = new Set([
  'TimeoutError',
  'NoRespondersError',
  'RequestError',
  'ClosedConnectionError',
  'DrainingConnectionError',
])

/** Whether a server the api stands on did not answer: PostgreSQL, ClickHouse, NATS. Its own refusals are bugs of ours. */
const isAway = (error: unknown): boolean =>
  isUnavailable(error) || (error instanceof Error && BROKER_AWAY.has(error.name))

const statusOf = (error: unknown): number | null =>
  error instanceof Error && 'statusCode' in error && typeof error.statusCode === 'number' ? error.statusCode : null

/** A call that takes a file names the type of files. */
const isOtherThanFile = (error: Error, { routeOptions }: FastifyRequest): boolean =>
  'code' in error && error.code === 'FST_ERR_CTP_INVALID_MEDIA_TYPE' && routeOptions.config?.streamed === true

/** Seconds to wait where the refusal itself does not say. */
const RETRY_AFTER: Readonly<Record<string, number>> = {
  IDEMPOTENCY_KEY_IN_USE: 1,
  RATE_LIMIT_EXCEEDED: 1,
  SERVICE_UNAVAILABLE: 1,
}

/** Fastify's error handler. */
export function handleError(
  error: FastifyError | AppError | Error,
  request: FastifyRequest,
  reply: FastifyReply,
): void {
  const refusal = isOtherThanFile(error, request)
    ? new AppError('UNSUPPORTED_MEDIA_TYPE', 'Send the body as text/csv.')
    : toAppError(error)
  // A person acts on what is away by its own alert, not once for each call.
  if (refusal.status >= 500)
    request.log[refusal.code === 'SERVICE_UNAVAILABLE' ? 'warn' : 'error'](
      { err: error, context: refusal.details.context },
      'the request failed',
    )
  const { retryAfterSeconds = RETRY_AFTER[refusal.code], challenge } = refusal.details
  if (challenge !== undefined) reply.header('www-authenticate', challenge)
  if (retryAfterSeconds !== undefined) reply.header('retry-after', String(retryAfterSeconds))
  // A failed unit of work leaves nothing behind, so the same key may be tried again (semantics 9.5).
  if (refusal.status >= 500 && request.headers['idempotency-key'] !== undefined)
    reply.header('idempotency-retryable', 'true')
  send(reply, refusal)
}

/** The Link header: the section of the documentation that explains the code. */
const helpLink = ({ code }: AppError): string => `</docs/errors#${code.toLowerCase()}>; rel="help"`

function send(reply: FastifyReply, refusal: AppError): void {
  void reply.header('link', helpLink(refusal)).status(refusal.status).send(refusal.toBody())
}

/** The answer to what Fastify refuses before there is a route: a path that cannot be read, or a part of it that is too long. */
export function handleFrameworkError(error: FastifyError, request: FastifyRequest, reply: FastifyReply): void {
  const refusal = toAppError(error)
  void reply
    .headers({ ...ANSWER_HEADERS, 'x-request-id': request.id, link: helpLink(refusal) })
    .status(refusal.status)
    // As bytes, so that nothing adds a charset to the type.
    .header('content-type', 'application/json')
    .send(Buffer.from(JSON.stringify(refusal.toBody())))
}

/** The answer to a path that does not exist, to a method that its path does not have, and to OPTIONS. */
export const notFoundHandler =
  (methods: Methods) =>
  (request: FastifyRequest, reply: FastifyReply): void => {
    const path = request.url.split('?')[0] ?? ''
    const allowed = methods.at(path)
    const refusal =
      allowed.length === 0
        ? new AppError('RESOURCE_NOT_FOUND', `There is nothing at ${request.method} ${path}.`)
        : new AppError(
            'INVALID_OPERATION',
            `${path} does not take ${request.method}; it takes ${allowed.join(', ')}.`,
            {
              status: 405,
            },
          )
    if (allowed.length > 0) reply.header('allow', allowed.join(', '))
    if (allowed.length > 0 && request.method === 'OPTIONS') void reply.status(204).send()
    else send(reply, refusal)
  }
