// What every answer of the identity host says to browsers (security section 3).
import type { FastifyInstance, FastifyReply } from 'fastify'

/** The policy of a page; `formTargets` are the origins besides our own that its form may lead to through a redirect. */
const contentPolicy = (formTargets: readonly string[] = []): string =>
  [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' data:",
    "connect-src 'self'",
    "font-src 'self'",
    "base-uri 'none'",
    `form-action ${["'self'", ...formTargets].join(' ')}`,
    "frame-ancestors 'none'",
  ].join('; ')

/** Sets the headers on every answer; a page with its own policy sets it itself, through `allowFormTargets`. */
export function securityHeaders(app: FastifyInstance): void {
  app.addHook('onRequest', async (_request, reply) => {
    reply.headers({
      'content-security-policy': contentPolicy(),
      'x-frame-options': 'DENY',
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
      'cross-origin-opener-policy': 'same-origin',
      'strict-transport-security': 'max-age=31536000',
      'cache-control': 'no-store',
    })
  })
}

/** Lets the form of this page end in a redirect to `origins`; Chromium stops it otherwise. */
export const allowFormTargets = (reply: FastifyReply, origins: readonly string[]): void => {
  reply.header('content-security-policy', contentPolicy(origins))
}
