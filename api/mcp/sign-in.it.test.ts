// The whole way of an agent nobody here wrote: the official client is given {base_url}/mcp and nothing else, finds the identity
// host, registers, sends its user through sign-in and consent, reads, and asks for more when it is told that it needs more.

import type { OAuthClientProvider } from '@modelcontextprotocol/sdk/client/auth.js'
import { auth, UnauthorizedError } from '@modelcontextprotocol/sdk/client/auth.js'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import type { FastifyInstance } from 'fastify'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openBrowser } from '../../identity/testing/browser.ts'
import { type IdentityRig, startIdentity } from '../../identity/testing/identity-rig.ts'
import { consentPage, REDIRECT_URI } from '../../identity/testing/oauth-client.ts'
import { freePort } from '../../infra/services/child.ts'
import { createLiveKeys } from '../../shared/access/live-keys.ts'
import { outboundPolicy } from '../../shared/outbound/judge-url.ts'
import { silentLogger } from '../../shared/process/logger.ts'
import { openTestDatabase } from '../../shared/testing/database-logins.ts'
import { systemClock } from '../../shared/time.ts'
import { createPermissionCache } from '../access/permission-cache.ts'
import { openTokenAccess } from '../access/token-access.ts'
import { buildApp } from '../app.ts'
import { NO_USAGE } from '../modules/billing/testing/no-usage.ts'
import { NO_EVENTS } from '../modules/ingestion/events/testing/no-events.ts'
import { webhookDeps } from '../testing/ground.ts'

let identity: IdentityRig
let baseUrl: string
let stop: () => Promise<void>

beforeAll(async () => {
  const [identityPort, apiPort] = [await freePort(), await freePort()]
  const identityUrl = `http://127.0.0.1:${identityPort}`
  baseUrl = `http://127.0.0.1:${apiPort}`
  identity = await startIdentity({ identityUrl, baseUrl })
  await identity.app.listen({ host: '127.0.0.1', port: identityPort })
  const { api, close } = await startOn(identity.databaseUrl, { identityUrl, baseUrl })
  await api.listen({ host: '127.0.0.1', port: apiPort })
  stop = close
})
afterAll(async () => {
  await stop?.()
  await identity?.close()
})

async function startOn(
  url: string,
  addresses: { identityUrl: string; baseUrl: string },
): Promise<{ api: FastifyInstance; close: () => Promise<void> }> {
  const shared = { url, clock: systemClock, logger: silentLogger, poolMax: 5 }
  const database = await openTestDatabase({ ...shared, role: 'millrace_app' })
  const keyDatabase = await openTestDatabase({ ...shared, role: 'millrace_gateway' })
  const keys = createLiveKeys({ database: keyDatabase, logger: silentLogger })
  const tokens = await openTokenAccess({ database: keyDatabase, logger: silentLogger, ...addresses, nowMs: Date.now })
  const permissionCache = createPermissionCache({
    database: keyDatabase,
    logger: silentLogger,
    nowMs: () => performance.now(),
  })
  const files = { fileBytesMax: 1_048_576, storageBytesMax: 1_048_576 }
  const given = {
    database,
    keys,
    tokens,
    permissionCache,
    addresses,
    usage: NO_USAGE,
    events: NO_EVENTS,
    files,
    ...webhookDeps(outboundPolicy({ OUTBOUND_HTTP: 'refuse', OUTBOUND_HOSTS: [], OUTBOUND_NETWORKS: [] })),
    logger: silentLogger,
  }
  const api = await buildApp(given)
  const close = async () => {
    await api.close()
    await Promise.all([keys.close(), tokens.close(), permissionCache.close()])
    await Promise.all([keyDatabase.close(), database.close()])
  }
  return { api, close }
}

type Host = { readonly provider: OAuthClientProvider; readonly asked: URL[]; readonly fetch: typeof fetch }

/** What a program around the SDK does: keeps what it is given, and asks its user anew when a scope is missing. */
function newHost(): Host {
  const kept: Record<string, unknown> = {}
  const asked: URL[] = []
  const provider = {
    redirectUrl: REDIRECT_URI,
    clientMetadata: { client_name: 'An agent', redirect_uris: [REDIRECT_URI] },
    clientInformation: () => kept['client'],
    saveClientInformation: (client: unknown) => void Object.assign(kept, { client }),
    tokens: () => kept['tokens'],
    saveTokens: (tokens: unknown) => void Object.assign(kept, { tokens }),
    saveCodeVerifier: (verifier: string) => void Object.assign(kept, { verifier }),
    codeVerifier: () => kept['verifier'],
    redirectToAuthorization: (url: URL) => void asked.push(url),
  } as OAuthClientProvider
  const watched: typeof fetch = async (...request) => {
    const answer = await fetch(...request)
    // A refresh never gives more scope, so that a host sets its refresh token aside when it is told to ask for more.
    if (answer.headers.get('www-authenticate')?.includes('insufficient_scope')) {
      kept['tokens'] = { ...(kept['tokens'] as object), refresh_token: undefined }
    }
    return answer
  }
  return { provider, asked, fetch: watched }
}

const transportOf = (host: Host) =>
  new StreamableHTTPClientTransport(new URL(`${baseUrl}/mcp`), { authProvider: host.provider, fetch: host.fetch })

async function connect(host: Host): Promise<Client> {
  const client = new Client({ name: 'an-agent', version: '1' })
  await client.connect(transportOf(host) as Parameters<Client['connect']>[0])
  return client
}

/** The user in the browser: signs in, picks LIVE of their platform, approves. */
async function approve(host: Host): Promise<void> {
  const url = host.asked.at(-1)
  if (!url) throw new Error('nobody was asked')
  const browser = openBrowser(identity.app)
  await consentPage(identity, browser, await browser.get(`${url.pathname}${url.search}`))
  const platforms = [`${identity.platforms[0].id}:LIVE`]
  const answer = await browser.submit('/consent', { decision: 'approve' }, { platforms })
  const code = new URL(String(answer.headers.location)).searchParams.get('code')
  if (code === null) throw new Error(`no code: ${answer.statusCode} ${answer.body}`)
  await transportOf(host).finishAuth(code)
}

test('from the address alone to reading, and from a refused write to writing', async () => {
  const host = newHost()
  await expect(connect(host)).rejects.toThrow(UnauthorizedError)
  expect(Object.fromEntries(host.asked[0]?.searchParams ?? [])).toMatchObject({
    scope: 'service:read',
    resource: baseUrl,
  })
  await approve(host)

  const reader = await connect(host)
  const call = async (client: Client, name: string, given: object) =>
    (await client.callTool({ name, arguments: { ...given } })).structuredContent as Record<string, unknown>
  expect(await call(reader, 'customers_list', {})).toMatchObject({ status: 200, data: { data: [] } })
  const body = { type: 'ORGANIZATION', reference: 'acme', organization: { legal_name: 'Acme' } }
  await expect(call(reader, 'customers_create', { body })).rejects.toThrow(UnauthorizedError)
  expect(host.asked).toHaveLength(2)
  expect(host.asked[1]?.searchParams.get('scope')).toBe('service:read service:write')
  await reader.close()

  await approve(host)
  const writer = await connect(host)
  expect(await call(writer, 'customers_create', { body })).toMatchObject({ status: 201, data: { reference: 'acme' } })
  const trail = await identity.sql(
    `select u.username from outbox o join users u on u.id = o.actor_id where o.type like 'CUSTOMER%'`,
  )
  expect(trail).toEqual([{ username: identity.user.email }])
  await writer.close()
})

test('a client that answers the challenge by a refresh alone is told what it lacks', async () => {
  const host = { ...newHost(), fetch }
  await expect(connect(host)).rejects.toThrow(UnauthorizedError)
  await approve(host)
  const client = await connect(host)
  const answer = await client.callTool({ name: 'customers_create', arguments: { body: { type: 'INDIVIDUAL' } } })
  expect(answer).toMatchObject({ isError: true, structuredContent: { status: 403 } })
  expect(JSON.stringify(answer.content)).toContain('service:write')
  expect(host.asked).toHaveLength(1)
  await client.close()
})

test.each(['/mcp', '/mcp?groups=customers'])(
  'a client that asks at the path of %s, without a challenge, finds the same',
  async address => {
    const host = newHost()
    expect(await auth(host.provider, { serverUrl: `${baseUrl}${address}` })).toBe('REDIRECT')
    expect(host.asked[0]?.searchParams.get('resource')).toBe(baseUrl)
    const metadata = await fetch(`${baseUrl}/.well-known/oauth-protected-resource/mcp`)
    expect(await metadata.json()).toMatchObject({ resource: baseUrl, scopes_supported: ['service:read'] })
  },
)
