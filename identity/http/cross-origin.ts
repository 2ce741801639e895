// The endpoints that applications in browsers call from anywhere: readable by every origin, and never with cookies.
import type { FastifyInstance, FastifyReply } from 'fastify'

const ALLOWED = 'content-type, authorization, mcp-protocol-version'

/** Lets every origin read this answer. */
export const allowAnyOrigin = (reply: FastifyReply): FastifyReply =>
  reply.headers({ 'access-control-allow-origin': '*', 'cross-origin-resource-policy': 'cross-origin' })

/** Answers the browsers' question before a call to `path`. */
export function preflight(app: FastifyInstance, path: string, method: 'GET' | 'POST'): void {
  app.options(path, async (_request, reply) =>
    allowAnyOrigin(reply)
      .headers({
        'access-control-allow-methods': `${method}, OPTIONS`,
        'access-control-allow-headers': ALLOWED,
        'access-control-max-age': '600',
      })
      .status(204)
      .send(),
  )
}
