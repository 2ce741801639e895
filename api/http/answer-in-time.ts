// Every call is answered. What is not done in time is refused, and never cut off by the end of its connection.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { AppError } from '../../shared/errors.ts'
import { handleError } from './errors.ts'

/** Before the server gives up a connection on which nothing moves (30 s), and after a statement is given up (20 s). */
export const ANSWER_MS = 25_000
const RETRY_AFTER_S = 5
/** How often it is looked for those whose client has gone. */
const LOOK_MS = 1_000

type Waiting = { readonly request: FastifyRequest; readonly reply: FastifyReply; readonly until: number }

/** Counts from the moment the body is there. What the call has begun is not undone by the refusal. */
export function answerInTime(app: FastifyInstance, answerMs: number): void {
  // In the order in which they came, which is the order of their ends: one timer is enough for all of them.
  const waiting = new Set<Waiting>()
  const known = new WeakMap<FastifyRequest, Waiting>()
  const refused = new WeakSet<FastifyRequest>()
  let isWatching = false

  const look = (): void => {
    isWatching = false
    const now = performance.now()
    for (const own of waiting) {
      const { request, reply, until } = own
      // An answer whose client has gone is never finished.
      if (until > now && !reply.raw.destroyed) continue
      waiting.delete(own)
      if (reply.sent || reply.raw.destroyed) continue
      refused.add(request)
      handleError(tooLate(request), request, reply)
    }
    watch(now)
  }
  const watch = (now: number): void => {
    const [first] = waiting
    if (!first || isWatching) return
    isWatching = true
    setTimeout(look, Math.min(LOOK_MS, Math.max(0, Math.ceil(first.until - now)))).unref()
  }
  // What a call that was refused comes to has no answer to be sent any more.
  app.addHook('onRoute', route => {
    const { handler } = route
    route.handler = function (request, reply) {
      const answer: unknown = handler.call(this, request, reply)
      if (!(answer instanceof Promise)) return answer
      return answer.then(
        (payload: unknown) => (refused.has(request) ? reply : payload),
        (error: unknown) => {
          if (!refused.has(request)) throw error
          // One that was refused for a reason of its own did nothing; a fault is ours to know of.
          if (!(error instanceof AppError)) request.log.error({ err: error }, 'a call that took too long failed')
          return reply
        },
      )
    }
  })
  app.addHook('preHandler', (request, reply, done) => {
    if (!request.routeOptions.config?.streamed) {
      const now = performance.now()
      const own = { request, reply, until: now + answerMs }
      waiting.add(own)
      known.set(request, own)
      watch(now)
    }
    done()
  })
  app.addHook('onResponse', (request, _reply, done) => {
    const own = known.get(request)
    if (own) waiting.delete(own)
    done()
  })
}

function tooLate({ method, routeOptions }: FastifyRequest): AppError {
  const reads = method === 'GET' || method === 'HEAD' || routeOptions.config?.permission?.endsWith('.VIEW') === true
  const sendsEvents = routeOptions.config?.limitedByEvents === true
  const message = reads
    ? 'The answer takes too long. Narrow the request, or send it again later.'
    : sendsEvents
      ? 'The call takes too long, and whether its events are stored is not known yet. Send it again unchanged: each counts once.'
      : 'The call takes too long, and whether it takes effect is not known yet. Read the resource, or send the call again with the same Idempotency-Key.'
  return new AppError('SERVICE_UNAVAILABLE', message, { retryAfterSeconds: RETRY_AFTER_S })
}
