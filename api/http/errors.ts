// The one place where a failure becomes an answer: the error envelope, its status and its headers.
import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify'
import { AppError } from '../../shared/errors.ts'

/** Turns anything thrown into the AppError that is sent. Bugs become a bare 500; their detail goes to the log only. */
export function toAppError(error: unknown): AppError {
  if (error instanceof AppError) return error
  const status = statusOf(error)
  if (status === 413) return new AppError('PAYLOAD_TOO_LARGE', 'The body is larger than this address accepts.')
  if (status === 415) return new AppError('UNSUPPORTED_MEDIA_TYPE', 'Send the body as application/json.')
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

const statusOf = (error: unknown): number | null =>
  error instanceof Error && 'statusCode' in error && typeof error.statusCode === 'number' ? error.statusCode : null

/** Fastify's error handler. */
export function handleError(
  error: FastifyError | AppError | Error,
  request: FastifyRequest,
  reply: FastifyReply,
): void {
  const refusal = toAppError(error)
  if (refusal.status >= 500) request.log.error({ err: error, context: refusal.details.context }, 'the request failed')
  const { retryAfterSeconds, challenge } = refusal.details
  if (challenge !== undefined) reply.header('www-authenticate', challenge)
  if (retryAfterSeconds !== undefined) reply.header('retry-after', String(retryAfterSeconds))
  // A failed unit of work leaves nothing behind, so the same key may be tried again (semantics 9.5).
  if (refusal.status >= 500 && request.headers['idempotency-key'] !== undefined)
    reply.header('idempotency-retryable', 'true')
  void reply.status(refusal.status).send(refusal.toBody())
}

/** Fastify's answer to a path or method that does not exist. */
export function handleNotFound(request: FastifyRequest, reply: FastifyReply): void {
  const refusal = new AppError(
    'RESOURCE_NOT_FOUND',
    `There is nothing at ${request.method} ${request.url.split('?')[0]}.`,
  )
  void reply.status(refusal.status).send(refusal.toBody())
}
