// How an HTTP server stops: what is in progress is answered, what comes after is refused, and no connection outlives its answer.
import type { FastifyInstance } from 'fastify'
import { AppError } from '../errors.ts'
import { atOnce } from './at-once.ts'

/** How often connections are looked for that have become idle. */
const CLOSE_IDLE_MS = 50

/**
 * Refuses requests that come while `app` stops, on connections that are still open: they are for another process to answer. A
 * connection is closed as soon as its request is answered; left to itself, one that the client keeps open would hold up the stop for
 * more than a minute.
 */
export function stopInOrder(app: FastifyInstance): void {
  let closing: NodeJS.Timeout | null = null
  app.addHook('preClose', async () => {
    closing = setInterval(() => app.server.closeIdleConnections(), CLOSE_IDLE_MS)
    app.server.once('close', () => clearInterval(closing ?? undefined))
  })
  const refuseWhileStopping = (): void => {
    if (closing !== null)
      throw new AppError('SERVICE_UNAVAILABLE', 'This process is stopping; send it again on a new connection.', {
        retryAfterSeconds: 1,
      })
  }
  app.addHook('onRequest', atOnce(refuseWhileStopping))
}
