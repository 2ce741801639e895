// An api that takes bearer tokens, and people who have some: signed by the test itself, since the identity host is another
// process. Everything else is as it runs: grants and memberships are rows, and are followed.
import { createLocalJWKSet, exportJWK, generateKeyPair, SignJWT } from 'jose'
import { createUser } from '../../shared/access/create-platform.ts'
import { silentLogger } from '../../shared/process/logger.ts'
import { openTestDatabase } from '../../shared/testing/database-logins.ts'
import { systemClock } from '../../shared/time.ts'
import { createLiveGrants, type LiveGrants } from '../access/live-grants.ts'
import { createTokenVerifier } from '../access/verify-access-token.ts'
import type { AppDeps } from '../app.ts'
import { type ApiHarness, startApi } from './harness.ts'

export const ISSUER = 'http://identity.example'
export const AUDIENCE = 'http://api.example'

/** What a test makes different about a token. */
export type TokenChange = {
  readonly claims?: Record<string, unknown>
  readonly header?: Record<string, unknown>
  readonly key?: CryptoKey | Uint8Array
  readonly seconds?: number
}

/** An administrator of platform A, and a grant of theirs that reaches its LIVE environment with both scopes. */
export type Person = {
  readonly userId: string
  readonly grantId: string
  token(change?: TokenChange): Promise<string>
}

export type TokenRig = {
  readonly api: ApiHarness
  readonly keys: { readonly privateKey: CryptoKey; readonly publicKey: CryptoKey }
  person(): Promise<Person>
  close(): Promise<void>
}

/** Counted over all files of this process, which share a database. */
let people = 0

/** Starts the api with the signing key `k1` as the one it trusts. */
export async function startTokenApi(more: Partial<AppDeps> = {}): Promise<TokenRig> {
  const keys = await generateKeyPair('ES256', { extractable: true })
  const local = createLocalJWKSet({
    keys: [{ ...(await exportJWK(keys.publicKey)), kid: 'k1', alg: 'ES256', use: 'sig' }],
  })
  // The database comes with the api, which wants to know what is revoked.
  const holder: { grants?: LiveGrants } = {}
  const tokens = {
    verify: createTokenVerifier({ keys: local, issuer: ISSUER, audience: AUDIENCE, nowMs: Date.now }),
    isRevoked: (id: string) => holder.grants?.isRevoked(id) ?? true,
    metadataUrl: `${AUDIENCE}/.well-known/oauth-protected-resource`,
    close: async () => undefined,
  }
  const api = await startApi({ tokens, addresses: { baseUrl: AUDIENCE, identityUrl: ISSUER }, ...more })
  const shared = { url: api.databaseUrl, clock: systemClock, logger: silentLogger }
  const system = await openTestDatabase({ ...shared, role: 'millrace_gateway', poolMax: 3 })
  const grants = createLiveGrants({ database: system, logger: silentLogger })
  await grants.load()
  holder.grants = grants
  return {
    api,
    keys,
    person: () => {
      people += 1
      return newPerson(api, keys.privateKey, people)
    },
    close: async () => {
      await grants.close()
      await system.close()
      await api.close()
    },
  }
}

async function newPerson(api: ApiHarness, privateKey: CryptoKey, number: number): Promise<Person> {
  const { platformId } = api.tenants.aLive.tenant
  const email = `person-${number}@example.com`
  await createUser(api.databaseUrl, email, [platformId])
  const userId: string = (await api.sql('select id from users where username = $1', [email]))[0]?.['id']
  const [grantId, clientId] = [`gran_${number}`, `clnt_${number}`]
  await api.sql(`insert into oauth_clients (id, name, redirect_uris) values ($1, 'x', '{https://x.example/}')`, [
    clientId,
  ])
  await api.sql(
    `insert into oauth_grants (id, client_id, user_id, scopes, resource, expires_at)
     values ($1, $2, $3, '{service:read}', $4, now() + interval '1 day')`,
    [grantId, clientId, userId, AUDIENCE],
  )
  let issued = 0
  const token = ({ claims = {}, header = {}, key = privateKey, seconds = 600 }: TokenChange = {}): Promise<string> => {
    const now = Math.floor(Date.now() / 1_000)
    issued += 1
    return new SignJWT({
      iss: ISSUER,
      aud: AUDIENCE,
      sub: userId,
      jti: `${number}-${issued}`,
      iat: now,
      exp: now + seconds,
      client_id: clientId,
      scope: 'service:read service:write',
      gid: grantId,
      platforms: [{ id: platformId, environment: 'LIVE' }],
      ...claims,
    })
      .setProtectedHeader({ alg: 'ES256', typ: 'at+jwt', kid: 'k1', ...header })
      .sign(key)
  }
  return { userId, grantId, token }
}
