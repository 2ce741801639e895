// The public keys that verify our tokens (contract: GET /.well-known/jwks.json).
import type { FastifyInstance } from 'fastify'
import { allowAnyOrigin, preflight } from '../http/cross-origin.ts'
import type { OAuthDeps } from './oauth-deps.ts'

const PATH = '/.well-known/jwks.json'

export function jwksRoute(app: FastifyInstance, { keystore }: OAuthDeps): void {
  preflight(app, PATH, 'GET')
  app.get(PATH, async (_request, reply) => {
    const keys = await keystore.publicKeys()
    return await allowAnyOrigin(reply).header('cache-control', 'public, max-age=300').send({ keys })
  })
}
