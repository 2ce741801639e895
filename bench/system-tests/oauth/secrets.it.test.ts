// Nothing secret in logs, errors, files or the database: the product runs as it ships, says as much in its logs as it can, and
// everything it kept or answered is then searched for every secret that was handed out or typed in.
import { hash, randomBytes } from 'node:crypto'
import { readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { generate } from 'otplib'
import pg from 'pg'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { createUser } from '../../../shared/access/create-platform.ts'
import { loggedUrl } from '../../../shared/process/logger.ts'
import { type System, startSystem } from '../../system/start-system.ts'
import { approve, type Browser, openBrowser, type Person } from './browser.ts'
import { type Finding, filesOf, type Place, type Secret, searchFor, tablesOf, usageTablesOf } from './secret-search.ts'

/** Where a secret may be, and why. */
const ALLOWED: readonly { readonly place: string; readonly kind: string; readonly reason: string }[] = [
  {
    place: 'file identity.secret',
    kind: 'identity secret',
    reason: 'the one file it is kept in, for its owner alone; an operator gives it as IDENTITY_SECRET instead',
  },
  {
    place: 'file data.secret',
    kind: 'data secret',
    reason: 'the one file it is kept in, for its owner alone; an operator gives it as DATA_SECRET instead',
  },
  {
    place: 'refusal of a page',
    kind: 'form token',
    reason: 'a page that asks again carries the token of its form, which is worth nothing without the cookie beside it',
  },
  {
    place: 'file mail.mbox',
    kind: 'link by mail',
    reason: 'where mail goes when there is no mail server: it stands for the mailbox of whoever gets the link',
  },
]

const SETUP_MS = 300_000
const REDIRECT_URI = 'http://127.0.0.1:51764/callback'
let system: System
let identityUrl: string
let person: Person
const secrets = new Map<string, Secret>()
const refusals: Place[] = []

/** Remembers a secret under the words a finding names it by. */
function secret(kind: string, text: unknown): string {
  if (typeof text !== 'string' || text === '') throw new Error(`there is no ${kind}`)
  secrets.set(text, { kind, text })
  return text
}

const note = (what: string, status: number, body: string): void => {
  if (status >= 400) refusals.push({ name: `refusal of ${what}`, content: Buffer.from(body) })
}

/** A call whose refusal is kept to be searched. */
async function call(url: string, init: RequestInit = {}): Promise<{ status: number; body: Record<string, unknown> }> {
  const response = await fetch(url, init)
  const text = await response.text()
  note(`${init.method ?? 'GET'} ${loggedUrl(new URL(url).pathname)}`, response.status, text)
  return { status: response.status, body: text.startsWith('{') ? JSON.parse(text) : {} }
}

const form = (path: string, fields: Record<string, string>) =>
  call(`${identityUrl}${path}`, { method: 'POST', body: new URLSearchParams(fields) })

/** A browser whose cookies and form tokens are secrets too. */
const newBrowser = (): Browser =>
  openBrowser(identityUrl, ({ status, headers, body }) => {
    note('a page', status, body)
    for (const line of headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? []
      if (value !== '') secret(`cookie ${name.replace(/-ar-.*/, '-ar')}`, value)
    }
    const csrf = /name="csrf" value="([^"]+)"/.exec(body)?.[1]
    if (csrf !== undefined) secret('form token', csrf)
  })

beforeAll(async () => {
  system = await startSystem({
    ownClickHouse: true,
    processes: ['identity', 'ingest', 'aggregator', 'worker', 'api'],
    env: { LOG_LEVEL: 'debug' },
  })
  identityUrl = system.urlOf('identity')
  const [platform] = system.platforms
  person = await createUser(system.databaseUrl, 'ada@example.com', [platform.id])
  secret('password', person.password)
  const kept = filesOf(system.dataDir).find(({ name }) => name === 'file identity.secret')
  secret('identity secret', kept?.content.toString().trim())
  secret('data secret', readFileSync(join(system.dataDir, 'data.secret'), 'utf8').trim())
  for (const { environments } of system.platforms)
    for (const environment of ['TEST', 'LIVE'] as const) secret('API key', environments[environment].api_key)
  await signInWrongly()
  await useKeys(secret('API key', platform.environments.LIVE.api_key))
  await resetAndSecure(await createUser(system.databaseUrl, 'grace@example.com', [platform.id]))
  const tokens = await authorize(platform.id)
  await useTokens(tokens)
}, SETUP_MS)
afterAll(() => system?.stop())

async function signInWrongly(): Promise<void> {
  const browser = newBrowser()
  await browser.open(`${identityUrl}/sign-in`)
  const wrong = secret('mistyped password', `${person.password.slice(1)}${randomBytes(6).toString('hex')}`)
  for (const email of [person.email, 'nobody@example.com']) {
    await browser.open(`${identityUrl}/sign-in`)
    await browser.submit('/sign-in', [
      ['email', email],
      ['password', wrong],
    ])
  }
  // Secrets where they do not belong, as mistakes and attackers put them there.
  await call(`${identityUrl}/sign-in?password=${wrong}`)
  await form('/sign-in', { email: person.email, password: wrong })
  await form('/sign-in', { email: wrong })
  await call(`${identityUrl}/v1/oauth2/register`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: `{"client_name": ${wrong}`,
  })
}

async function useKeys(key: string): Promise<void> {
  const headers = { 'x-api-key': key, 'content-type': 'application/json' }
  const almost = secret('mistyped API key', `${key.slice(0, -8)}ZZZZZZZZ`)
  await call(`${system.baseUrl}/v1/customers`, { headers })
  await call(`${system.baseUrl}/v1/customers`, { headers: { 'x-api-key': almost } })
  for (const base of [system.baseUrl, system.ingestUrl]) {
    const url = `${base}/v1/events/ingest`
    await call(url, { method: 'POST', headers, body: '{"reference":' })
    await call(url, { method: 'POST', headers, body: '{}' })
    await call(url, { method: 'POST', headers: { ...headers, 'x-api-key': almost }, body: '{}' })
  }
  await call(`${system.baseUrl}/v1/customers?api_key=${key}`)
  await call(`${system.baseUrl}/v1/customers?x-api-key=${key}`, { headers })
  await call(`${system.baseUrl}/v1/customers`, { method: 'POST', headers, body: `{"type": "${key}` })
  await call(`${system.baseUrl}/v1/customers`, { headers: { ...headers, authorization: `Bearer ${key}` } })
  for (const type of ['STANDARD', 'PROXY']) {
    // Twice: the answer that is kept for the repeat must not hold what the first one showed.
    for (const kind of [`${type} key made through /v1`, null]) {
      const { status, body } = await call(`${system.baseUrl}/v1/api-keys`, {
        method: 'POST',
        headers: { ...headers, 'idempotency-key': `a key of type ${type}` },
        body: JSON.stringify({ type, role_type: 'ADMINISTRATOR', description: 'Searched for' }),
      })
      expect(status).toBe(201)
      if (kind !== null) secret(kind, body['api_key'])
    }
  }
  const made = await call(`${system.baseUrl}/v1/customers`, {
    method: 'POST',
    headers: { ...headers, 'idempotency-key': 'once' },
    body: JSON.stringify({ type: 'ORGANIZATION', organization: { legal_name: 'Kept' } }),
  })
  expect(made.status).toBe(201)
}

/** A password forgotten and set anew by a link, and a second factor with its recovery codes. */
async function resetAndSecure({ email, password }: Person): Promise<void> {
  secret('password', password)
  const browser = newBrowser()
  await browser.open(`${identityUrl}/forgot-password`)
  await browser.submit('/forgot-password', [['email', email]])
  const link = await vi.waitFor(() => linkInMail('/reset-password'), { timeout: 60_000, interval: 200 })
  secret('link by mail', link.searchParams.get('token'))
  const fresh = secret('password', randomBytes(18).toString('base64url'))
  await browser.open(link.href)
  await browser.submit('/reset-password', [
    ['new_password', fresh],
    ['repeated', fresh],
  ])
  await browser.open(link.href) // used by now
  await browser.open(`${identityUrl}/sign-in`)
  await browser.submit('/sign-in', [
    ['email', email],
    ['password', fresh],
  ])
  await browser.open(`${identityUrl}/second-factor`)
  await browser.submit('/second-factor/authenticator', [])
  const { body } = await browser.open(`${identityUrl}/second-factor/authenticator`)
  const shown = /<code class="key">([A-Z2-7 ]+)</.exec(body)?.[1] ?? ''
  const key = secret('authenticator key', shown.replaceAll(' ', ''))
  secret('authenticator key as it is shown', shown)
  const done = await browser.submit('/second-factor/authenticator/confirm', [['code', await generate({ secret: key })]])
  const codes = [...done.body.matchAll(/<li><code>([0-9a-z-]+)</g)].map(([, code]) => secret('recovery code', code))
  expect(codes).toHaveLength(10)
  await browser.submit('/sign-out', [])
  await browser.open(`${identityUrl}/sign-in`)
  await browser.submit('/sign-in', [
    ['email', email],
    ['password', fresh],
  ])
  expect((await browser.submit('/sign-in/second', [['recovery', codes[0] ?? '']])).status).toBe(200)
}

/** The link of a mail that has arrived in the file that stands for a mail server. */
function linkInMail(path: string): URL {
  const mail = readFileSync(join(system.dataDir, 'mail.mbox'), 'utf8')
  const link = mail.split('\n').find(line => line.startsWith(`${identityUrl}${path}?token=`))
  if (link === undefined) throw new Error('no such mail has come')
  return new URL(link.trim())
}

type Tokens = { readonly clientId: string; readonly access: string; readonly refresh: string }

async function authorize(platformId: string): Promise<Tokens> {
  const { body } = await call(`${identityUrl}/v1/oauth2/register`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ client_name: 'Searched', redirect_uris: [REDIRECT_URI] }),
  })
  const clientId = String(body['client_id'])
  const codeOf = async (): Promise<{ code: string; verifier: string }> => {
    const verifier = secret('code verifier', randomBytes(32).toString('base64url'))
    const query = new URLSearchParams({
      client_id: clientId,
      redirect_uri: REDIRECT_URI,
      response_type: 'code',
      scope: 'service:read service:write',
      code_challenge: hash('sha256', verifier, 'base64url'),
      code_challenge_method: 'S256',
    })
    const url = `${identityUrl}/v1/oauth2/authorize?${query}`
    const answer = await approve(newBrowser(), url, person, [`${platformId}:LIVE`])
    return { code: secret('authorization code', answer.searchParams.get('code')), verifier }
  }
  const redeem = ({ code, verifier }: { code: string; verifier: string }) =>
    form('/v1/oauth2/token', {
      grant_type: 'authorization_code',
      client_id: clientId,
      redirect_uri: REDIRECT_URI,
      code,
      code_verifier: verifier,
    })
  const unused = await codeOf()
  await redeem({ ...unused, verifier: secret('code verifier', randomBytes(32).toString('base64url')) })
  const replayed = await codeOf()
  keep((await redeem(replayed)).body)
  expect((await redeem(replayed)).status).toBe(400)
  return { clientId, ...keep((await redeem(await codeOf())).body) }
}

const keep = (body: Record<string, unknown>): { access: string; refresh: string } => ({
  access: secret('access token', body['access_token']),
  refresh: secret('refresh token', body['refresh_token']),
})

async function useTokens({ clientId, access, refresh }: Tokens): Promise<void> {
  const bearer = (token: string, path = '/v1/customers') =>
    call(`${system.baseUrl}${path}`, { headers: { authorization: `Bearer ${token}` } })
  expect((await bearer(access)).status).toBe(200)
  await bearer(`${access}x`)
  await bearer(access, `/v1/customers/${access}`)
  await call(`${system.baseUrl}/v1/customers?access_token=${access}`)
  await call(`${system.ingestUrl}/v1/events/ingest`, { method: 'POST', headers: { authorization: `Bearer ${access}` } })
  const next = (token: string) =>
    form('/v1/oauth2/token', { grant_type: 'refresh_token', client_id: clientId, refresh_token: token })
  const second = keep((await next(refresh)).body)
  keep((await next(refresh)).body) // a lost answer: the same successor again
  await form('/v1/oauth2/token', { grant_type: 'refresh_token', client_id: 'clnt_x', refresh_token: second.refresh })
  await call(`${identityUrl}/v1/oauth2/token?refresh_token=${second.refresh}`, { method: 'POST' })
  const third = keep((await next(second.refresh)).body)
  expect((await next(refresh)).status).toBe(400) // taken for stolen: the family ends, and the trail says so
  await form('/v1/oauth2/revoke', { client_id: clientId, token: third.refresh })
  expect((await bearer(third.access)).status).toBeGreaterThan(0)
}

async function everyPlace(): Promise<Place[]> {
  const found = [...(await tablesOf(system.databaseUrl)), ...(await usageTablesOf(system.clickhouse))]
  return [...found, ...filesOf(system.dataDir), ...refusals]
}

const isAllowed = ({ place, kind }: Finding): boolean =>
  ALLOWED.some(each => each.place === place && each.kind === kind)

test('no secret of a whole run is in a table, a file, a log or a refusal, however it is spelled', async () => {
  const kinds = new Set([...secrets.values()].map(({ kind }) => kind))
  for (const kind of [
    'password',
    'API key',
    'cookie __Host-sid',
    'cookie __Host-ar',
    'form token',
    'refresh token',
    'link by mail',
    'recovery code',
  ])
    expect(kinds).toContain(kind)
  const places = await everyPlace()
  for (const name of ['table public.oauth_grants', 'file logs/identity.log', 'file logs/api.log', 'refusal of a page'])
    expect(places.map(place => place.name)).toContain(name)
  expect(searchFor(secrets.values(), places).filter(finding => !isAllowed(finding))).toEqual([])
})

test('what is allowed is there, and the file of it is for its owner alone', async () => {
  const found = searchFor(secrets.values(), [...filesOf(system.dataDir), ...refusals])
  for (const { place, kind } of ALLOWED) expect(found).toContainEqual(expect.objectContaining({ place, kind }))
  for (const file of ['identity.secret', 'data.secret', 'mail.mbox'])
    expect(statSync(join(system.dataDir, file)).mode & 0o077).toBe(0)
})

test('the search finds a secret in a table, a usage table, a log and a refusal, in each of its spellings', async () => {
  const planted = { kind: 'planted', text: randomBytes(32).toString('base64url') }
  const raw = Buffer.from(planted.text, 'base64url')
  const client = new pg.Client({ connectionString: system.databaseUrl })
  await client.connect()
  await client.query('create table planted (note text, noted bytea, listed text[], told jsonb)')
  await client.query('insert into planted values ($1, $2, $3, $4)', [
    `so: ${Buffer.from(`x${planted.text}y`).toString('base64')}`,
    Buffer.from(planted.text),
    [raw.toString('base64')],
    { deep: [{ in: planted.text }] },
  ])
  await client.end()
  await system.clickhouse.command({ query: 'create table planted (note String) engine = MergeTree order by note' })
  await system.clickhouse.insert({ table: 'planted', values: [{ note: raw.toString('hex') }], format: 'JSONEachRow' })
  writeFileSync(join(system.dataDir, 'logs', 'planted.log'), `${JSON.stringify({ url: `/x?y=${planted.text}` })}\n`)
  const found = searchFor([planted], await everyPlace())
  const at = (place: string) => found.filter(finding => finding.place === place).map(({ spelling }) => spelling)
  expect(at('table public.planted')).toEqual(
    expect.arrayContaining(['in clear', 'base64', 'hex', 'its bytes in base64']),
  )
  expect(at('usage table planted')).toEqual(['its bytes in hex'])
  expect(at('file logs/planted.log')).toContain('in clear')
})
