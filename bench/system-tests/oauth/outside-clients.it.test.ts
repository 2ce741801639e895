// Clients that nobody here wrote, against the product as it ships: three libraries find the server from nothing but an
// address, register, send a person through sign-in and consent, and use, refresh and revoke what they get.
import { auth, extractWWWAuthenticateParams } from '@modelcontextprotocol/sdk/client/auth.js'
import * as oauth from 'oauth4webapi'
import * as openid from 'openid-client'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createUser } from '../../../shared/access/create-platform.ts'
import { hasChromium } from '../../../shared/testing/chromium.ts'
import { type System, startSystem } from '../../system/start-system.ts'
import { approve, openBrowser, type Person } from './browser.ts'
import { approveInChromium } from './chromium-browser.ts'
import { MemoryClient } from './mcp-client.ts'

const SETUP_MS = 300_000
let system: System
let identityUrl: string
let person: Person
let platforms: readonly string[]
beforeAll(async () => {
  system = await startSystem({ processes: ['identity', 'ingest', 'api'] })
  identityUrl = system.urlOf('identity')
  const [one, two] = system.platforms
  person = await createUser(system.databaseUrl, 'ada@example.com', [one.id, two.id])
  platforms = [`${one.id}:LIVE`]
}, SETUP_MS)
afterAll(() => system?.stop())

/** By the forms of the pages alone. */
const visit = (url: URL): Promise<URL> => approve(openBrowser(identityUrl), url.href, person, platforms)
/** In a real browser where there is one: once is enough to show that these addresses lead through it. */
const visitInBrowser = (url: URL): Promise<URL> =>
  hasChromium() ? approveInChromium(identityUrl, url.href, person, platforms) : visit(url)

const bearer = (token: string | undefined, path = '/v1/customers', init: RequestInit = {}): Promise<Response> =>
  fetch(`${system.baseUrl}${path}`, {
    ...init,
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
  })

const aCustomer = (name: string) => ({
  method: 'POST',
  body: JSON.stringify({ type: 'ORGANIZATION', organization: { legal_name: name } }),
})

test('the official MCP client: from a 401 to tokens, refreshed, widened to write, and begun anew when its grant is gone', async () => {
  const client = new MemoryClient('An agent', visitInBrowser)
  const refused = await fetch(`${system.baseUrl}/v1/customers`)
  const { resourceMetadataUrl, scope } = extractWWWAuthenticateParams(refused)
  expect([refused.status, scope]).toEqual([401, 'service:read'])
  if (!resourceMetadataUrl) throw new Error('the challenge names no metadata')
  const begin = (more: { scope?: string } = {}) =>
    auth(client, { serverUrl: system.baseUrl, resourceMetadataUrl, ...more })
  const finish = async (more: { scope?: string } = {}) => {
    const answer = client.answer?.searchParams
    expect([answer?.get('state'), answer?.get('iss')]).toEqual([client.state(), identityUrl])
    const authorizationCode = answer?.get('code') ?? ''
    return await auth(client, { serverUrl: system.baseUrl, resourceMetadataUrl, authorizationCode, ...more })
  }

  expect(await begin()).toBe('REDIRECT')
  expect(client.registration).toMatchObject({ client_name: 'An agent', token_endpoint_auth_method: 'none' })
  expect(client.registration).not.toHaveProperty('client_secret')
  expect(await finish()).toBe('AUTHORIZED')
  // It asks for every scope the resource lists, which is why the resource lists only the one to read.
  expect(client.tokens()?.scope).toBe('service:read')
  expect((await bearer(client.tokens()?.access_token)).status).toBe(200)

  const first = client.tokens()
  expect(await begin()).toBe('AUTHORIZED') // it has a refresh token, and uses it
  expect(client.tokens()?.refresh_token).not.toBe(first?.refresh_token)
  expect((await bearer(client.tokens()?.access_token)).status).toBe(200)

  const lacking = await bearer(client.tokens()?.access_token, '/v1/customers', aCustomer('Refused'))
  const stepUp = extractWWWAuthenticateParams(lacking)
  expect([lacking.status, stepUp.error, stepUp.scope]).toEqual([
    403,
    'insufficient_scope',
    'service:read service:write',
  ])
  client.kept = undefined
  expect(await begin({ scope: stepUp.scope ?? '' })).toBe('REDIRECT')
  expect(await finish({ scope: stepUp.scope ?? '' })).toBe('AUTHORIZED')
  expect(client.tokens()?.scope).toBe('service:read service:write')
  expect((await bearer(client.tokens()?.access_token, '/v1/customers', aCustomer('Written'))).status).toBe(201)

  // The user ends it: the client learns so from its refresh, forgets its tokens and asks its user again.
  await fetch(`${identityUrl}/v1/oauth2/revoke`, {
    method: 'POST',
    body: new URLSearchParams({
      client_id: client.registration?.client_id ?? '',
      token: client.tokens()?.refresh_token ?? '',
    }),
  })
  expect(await begin()).toBe('REDIRECT')
  expect(client.forgotten).toContain('tokens')
  expect(await finish()).toBe('AUTHORIZED')
})

test('the official MCP client registers anew when the server has forgotten it', async () => {
  const client = new MemoryClient('Forgotten', visit)
  client.registration = { client_id: 'clnt_forgottenlongago' }
  client.kept = { access_token: 'gone', token_type: 'Bearer', refresh_token: 'gone', issuer: identityUrl } as const
  expect(await auth(client, { serverUrl: system.baseUrl })).toBe('REDIRECT')
  expect(client.forgotten).toContain('all')
  expect(client.registration?.client_id).toMatch(/^clnt_(?!forgotten)/)
})

test('openid-client: discovery, registration, a narrowed scope, refresh and revocation', async () => {
  const options = { algorithm: 'oauth2' as const, execute: [openid.allowInsecureRequests] }
  const redirectUri = 'http://localhost:40123/callback'
  const metadata = { client_name: 'openid-client', redirect_uris: [redirectUri], token_endpoint_auth_method: 'none' }
  const config = await openid.dynamicClientRegistration(new URL(identityUrl), metadata, openid.None(), options)
  expect(config.serverMetadata().issuer).toBe(identityUrl)
  const pkceCodeVerifier = openid.randomPKCECodeVerifier()
  const expectedState = openid.randomState()
  const url = openid.buildAuthorizationUrl(config, {
    redirect_uri: redirectUri,
    scope: 'foo bar',
    state: expectedState,
    prompt: 'consent',
    code_challenge: await openid.calculatePKCECodeChallenge(pkceCodeVerifier),
    code_challenge_method: 'S256',
  })
  const tokens = await openid.authorizationCodeGrant(config, await visit(url), { pkceCodeVerifier, expectedState })
  expect([tokens.scope, tokens.token_type, tokens.expires_in]).toEqual(['service:read', 'bearer', 600])
  const customers = new URL(`${system.baseUrl}/v1/customers`)
  expect((await openid.fetchProtectedResource(config, tokens.access_token, customers, 'GET')).status).toBe(200)
  const next = await openid.refreshTokenGrant(config, tokens.refresh_token ?? '')
  expect(next.refresh_token).not.toBe(tokens.refresh_token)
  await openid.tokenRevocation(config, next.refresh_token ?? '')
  await expect(openid.refreshTokenGrant(config, next.refresh_token ?? '')).rejects.toMatchObject({
    error: 'invalid_grant',
  })
})

test('oauth4webapi: both metadata documents, a strict answer, and an access token as RFC 9068 has it', async () => {
  const insecure = { [oauth.allowInsecureRequests]: true }
  const resource = new URL(system.baseUrl)
  const found = await oauth.processResourceDiscoveryResponse(
    resource,
    await oauth.resourceDiscoveryRequest(resource, insecure),
  )
  expect(found.authorization_servers).toEqual([identityUrl])
  const issuer = new URL(found.authorization_servers?.[0] ?? '')
  const server = await oauth.processDiscoveryResponse(
    issuer,
    await oauth.discoveryRequest(issuer, { ...insecure, algorithm: 'oauth2' }),
  )
  const redirectUri = 'http://[::1]:40124/callback'
  const client = await oauth.processDynamicClientRegistrationResponse(
    await oauth.dynamicClientRegistrationRequest(server, { redirect_uris: [redirectUri] }, insecure),
  )
  const verifier = oauth.generateRandomCodeVerifier()
  const state = oauth.generateRandomState()
  const url = new URL(server.authorization_endpoint ?? '')
  url.search = new URLSearchParams({
    client_id: client.client_id,
    redirect_uri: redirectUri,
    response_type: 'code',
    scope: 'service:read service:write',
    resource: system.baseUrl,
    state,
    code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
    code_challenge_method: 'S256',
  }).toString()
  // It insists on the issuer in the answer, since the metadata promises it.
  const answer = oauth.validateAuthResponse(server, client, await visit(url), state)
  const tokens = await oauth.processAuthorizationCodeResponse(
    server,
    client,
    await oauth.authorizationCodeGrantRequest(server, client, oauth.None(), answer, redirectUri, verifier, insecure),
  )
  const request = new Request(`${system.baseUrl}/v1/customers`, {
    headers: { authorization: `Bearer ${tokens.access_token}` },
  })
  const claims = await oauth.validateJwtAccessToken(server, request, system.baseUrl, insecure)
  expect(claims).toMatchObject({
    iss: identityUrl,
    client_id: client.client_id,
    scope: 'service:read service:write',
    platforms: [{ id: system.platforms[0].id, environment: 'LIVE' }],
  })
  const refreshed = await oauth.processRefreshTokenResponse(
    server,
    client,
    await oauth.refreshTokenGrantRequest(server, client, oauth.None(), tokens.refresh_token ?? '', insecure),
  )
  expect(refreshed.refresh_token).not.toBe(tokens.refresh_token)
  expect((await fetch(request)).status).toBe(200)
})
