// What the authorization server says of itself (RFC 8414; contract: authorization server metadata).
import type { FastifyInstance } from 'fastify'
import { SCOPES } from '../checks/scope.ts'
import type { IdentityDeps } from '../deps.ts'
import { allowAnyOrigin, preflight } from '../http/cross-origin.ts'

/** The metadata document. Clients compare the issuer byte for byte. */
const metadataOf = ({ identityUrl: issuer, clientDocuments }: IdentityDeps) => ({
  issuer,
  authorization_endpoint: `${issuer}/v1/oauth2/authorize`,
  token_endpoint: `${issuer}/v1/oauth2/token`,
  registration_endpoint: `${issuer}/v1/oauth2/register`,
  revocation_endpoint: `${issuer}/v1/oauth2/revoke`,
  jwks_uri: `${issuer}/.well-known/jwks.json`,
  scopes_supported: SCOPES,
  response_types_supported: ['code'],
  response_modes_supported: ['query'],
  grant_types_supported: ['authorization_code', 'refresh_token'],
  token_endpoint_auth_methods_supported: ['none'],
  revocation_endpoint_auth_methods_supported: ['none'],
  code_challenge_methods_supported: ['S256'],
  authorization_response_iss_parameter_supported: true,
  client_id_metadata_document_supported: clientDocuments !== null,
})

const PATH = '/.well-known/oauth-authorization-server'

export function metadataRoutes(app: FastifyInstance, deps: IdentityDeps): void {
  const { pathname } = new URL(deps.identityUrl)
  // An issuer with a path is also looked for with its path inserted behind the well-known one (RFC 8414 section 3).
  const paths = pathname === '/' ? [PATH] : [PATH, `${PATH}${pathname.replace(/\/$/, '')}`]
  for (const path of paths) {
    preflight(app, path, 'GET')
    app.get(path, async (_request, reply) =>
      allowAnyOrigin(reply).header('cache-control', 'public, max-age=300').send(metadataOf(deps)),
    )
  }
}
