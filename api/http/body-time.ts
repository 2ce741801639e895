// A body that is not there in time is not coming: its sender would hold a connection for nothing. The answer says so.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { AppError } from '../../shared/errors.ts'
import { atOnce } from '../../shared/http/at-once.ts'
import { handleError } from './errors.ts'

/** Refuses a call whose body is not complete after so long, and closes its connection. Streams are of any length. */
export function limitBodyTime(app: FastifyInstance, bodyMs: number): void {
  const limit = (request: FastifyRequest, reply: FastifyReply): void => {
    const { 'content-length': length, 'transfer-encoding': encoding } = request.headers
    const isEmpty = encoding === undefined && (length === undefined || length === '0')
    if (isEmpty || request.routeOptions.config?.streamed) return
    const refuse = (): void => {
      if (request.raw.complete || reply.raw.destroyed) return
      // What was refused for another reason has its answer.
      if (reply.sent) {
        request.raw.destroy()
        return
      }
      reply.raw.once('finish', () => request.raw.destroy())
      handleError(tooSlow(bodyMs), request, reply.header('connection', 'close'))
    }
    const timer = setTimeout(refuse, bodyMs)
    timer.unref()
    // Nothing came for as long as the server waits: without a listener it closes the connection.
    request.raw.once('timeout', refuse)
    reply.raw.once('close', () => clearTimeout(timer))
  }
  app.addHook('onRequest', atOnce(limit))
}

const tooSlow = (bodyMs: number): AppError =>
  new AppError(
    'BAD_REQUEST',
    `The body was not complete within ${bodyMs / 1_000} seconds, and nothing was done. Send it again on a new connection, or less at once.`,
    { status: 408 },
  )
