// Where a client without a token learns who gives tokens for this api (RFC 9728; security 1.2, item 4).
import type { FastifyInstance } from 'fastify'
import { PROTECTED_RESOURCE_PATH } from '../../access/token-access.ts'

/** Declares the metadata, also under the path clients make for the MCP endpoint. */
export function protectedResource(
  app: FastifyInstance,
  { baseUrl, identityUrl }: { baseUrl: string; identityUrl: string },
): void {
  const metadata = {
    resource: baseUrl,
    authorization_servers: [identityUrl],
    // Clients ask for everything that is listed, so that listing more would make every agent a writer.
    scopes_supported: ['service:read'],
    bearer_methods_supported: ['header'],
  }
  for (const url of [PROTECTED_RESOURCE_PATH, `${PROTECTED_RESOURCE_PATH}/mcp`]) {
    app.get(url, { config: { permission: 'public' }, schema: { hide: true } }, async (_request, reply) =>
      reply.headers({ 'access-control-allow-origin': '*', 'cache-control': 'public, max-age=300' }).send(metadata),
    )
  }
}
