// Every call is answered. What is not done in time is refused, and never cut off by the end of its connection.
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { AppError } from '../../shared/errors.ts'
import { handleError } from './errors.ts'

/** Before the server gives up a connection on which nothing moves (30 s), and after a statement is given up (20 s). */
export const ANSWER_MS = 25_000
const RETRY_AFTER_S = 5

/** Counts from the moment the body is there. What the call has begun is not undone by the refusal. */
export function answerInTime(app: FastifyInstance, answerMs: number): void {
  app.addHook('preHandler', (request, reply, done) => {
    if (request.routeOptions.config?.streamed) return done()
    const timer = setTimeout(() => {
      if (!reply.sent) handleError(tooLate(request), request, reply)
    }, answerMs)
    timer.unref()
    reply.raw.once('close', () => clearTimeout(timer))
    done()
  })
}

function tooLate({ method, routeOptions }: FastifyRequest): AppError {
  const reads = method === 'GET' || method === 'HEAD' || routeOptions.config?.permission?.endsWith('.VIEW') === true
  const message = reads
    ? 'The answer takes too long. Narrow the request, or send it again later.'
    : 'The call takes too long, and whether it takes effect is not known yet. Read the resource, or send the call again with the same Idempotency-Key.'
  return new AppError('SERVICE_UNAVAILABLE', message, { retryAfterSeconds: RETRY_AFTER_S })
}
