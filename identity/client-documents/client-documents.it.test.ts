// Clients whose id is the address of a document: read once, kept within bounds, refused by name, and never a way into the
// network of the installation.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createOutboundRequest } from '../../shared/outbound/outbound-request.ts'
import { createRateLimit, createRateLimits } from '../http/rate-limits.ts'
import { openBrowser } from '../testing/browser.ts'
import { type Answer, type DocumentServer, json, startDocumentServer } from '../testing/document-server.ts'
import { type IdentityRig, startIdentity } from '../testing/identity-rig.ts'
import { mailsOf } from '../testing/mails.ts'
import { clientOf, consentPage, postForm, REDIRECT_URI } from '../testing/oauth-client.ts'
import { upkeep } from '../upkeep.ts'

let rig: IdentityRig
let server: DocumentServer
const many = createRateLimit(1_000_000, 60)
const limits = { ...createRateLimits(), authorize: many, token: many, tokenRefused: many, documentRead: many }
beforeAll(async () => {
  server = await startDocumentServer()
  rig = await startIdentity({ limits, clientDocuments: server.access })
})
afterAll(async () => {
  await rig?.close()
  await server?.close()
})

let documents = 0
/** A document of its own at a path of its own, and the client that names it. */
function publish(change: Readonly<Record<string, unknown>> = {}, headers: Readonly<Record<string, string>> = {}) {
  documents += 1
  const path = `/clients/${documents}.json`
  const clientId = server.urlOf(path)
  const document = { client_id: clientId, client_name: 'My agent', redirect_uris: [REDIRECT_URI], ...change }
  server.serve(path, json(document, headers))
  return { path, clientId, document, client: clientOf(rig, clientId) }
}
const choice = () => `${rig.platforms[0].id}:LIVE`
const host = () => new URL(server.urlOf('/')).host
const readingsOf = (path: string) => server.requested.filter(each => each === path).length
const authorize = (clientId: string, more: Record<string, string> = {}) =>
  clientOf(rig, clientId).authorize(openBrowser(rig.app), more)
const storedOf = (clientId: string) => rig.sql('select * from oauth_clients where id = $1', [clientId])

test('a client of a document goes the whole way: consent names its host, tokens name its address, one reading is enough', async () => {
  const { client, clientId, path } = publish()
  const browser = openBrowser(rig.app)
  const page = await consentPage(rig, browser, await client.authorize(browser))
  for (const text of [
    'My agent',
    'name not verified',
    `<strong class="host">${host()}</strong>`,
    REDIRECT_URI.slice(0, 22),
  ])
    expect(page.body).toContain(text)
  const code = await client.code([choice()])
  const tokens = (await client.redeem(code)).json()
  expect(JSON.parse(Buffer.from(tokens.access_token.split('.')[1], 'base64url').toString()).client_id).toBe(clientId)
  const refreshed = (await client.refresh(tokens.refresh_token)).json()
  expect(refreshed.token_type).toBe('Bearer')
  expect(readingsOf(path)).toBe(1)
  const apps = await openBrowser(rig.app)
  await apps.get('/sign-in')
  await apps.submit('/sign-in', rig.user)
  const list = (await apps.get('/connected-apps')).body
  expect(list).toContain(`My agent of <span class="host">${host()}</span>`)
  expect(list).toContain('Name not verified, address verified')
  const revoked = await postForm(rig, '/v1/oauth2/revoke', { client_id: clientId, token: refreshed.refresh_token })
  expect(revoked.statusCode).toBe(200)
  expect((await client.refresh(refreshed.refresh_token)).json().error).toBe('invalid_grant')
})

test('the metadata says whether it is taken; where it is not, such a client is unknown and nothing is read', async () => {
  const path = '/.well-known/oauth-authorization-server'
  expect((await rig.app.inject(path)).json().client_id_metadata_document_supported).toBe(true)
  const without = await rig.anotherHost({ clientDocuments: null })
  try {
    expect((await without.inject(path)).json().client_id_metadata_document_supported).toBe(false)
    const { client, clientId, path: document } = publish()
    const refused = await without.inject(client.authorizePath())
    expect([refused.statusCode, refused.body.includes('This link does not work')]).toEqual([400, true])
    const token = await without.inject({
      method: 'POST',
      url: '/v1/oauth2/token',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      payload: new URLSearchParams({ client_id: clientId, grant_type: 'refresh_token', refresh_token: 'x' }).toString(),
    })
    expect([token.statusCode, token.json().error]).toEqual([401, 'invalid_client'])
    expect(readingsOf(document)).toBe(0)
  } finally {
    await without.close()
  }
})

test.each([
  ['another client_id', { client_id: 'https://app.test/other' }, 'client_id must be the address'],
  ['a secret', { client_secret: 'x' }, 'client_secret must not be there'],
  ['keys to prove itself by', { token_endpoint_auth_method: 'private_key_jwt' }, 'must be none'],
  ['no address that may be used', { redirect_uris: ['http://app.test/'] }, 'holds no address'],
  ['our own name', { client_name: 'Millrace Support' }, 'must not look like the name of this product'],
])('a document with %s is a page that says so, and is not kept', async (_name, change, reason) => {
  const { client, clientId } = publish(change)
  const answer = await client.authorize(openBrowser(rig.app))
  expect([answer.statusCode, answer.headers.location]).toEqual([400, undefined])
  expect(answer.body).toContain(reason)
  expect(await storedOf(clientId)).toEqual([])
})

test.each<[string, Answer, number, string]>([
  ['404', response => response.writeHead(404).end(), 400, 'answers 404'],
  ['a redirect', response => response.writeHead(302, { location: '/clients/good.json' }).end(), 400, 'answers 302'],
  ['201', response => response.writeHead(201, { 'content-type': 'application/json' }).end('{}'), 400, 'answers 201'],
  ['304 to nothing', response => response.writeHead(304).end(), 400, 'answers 304'],
  ['HTML', response => response.writeHead(200, { 'content-type': 'text/html' }).end('{}'), 400, 'Content-Type'],
  ['no type', response => response.writeHead(200).end('{}'), 400, 'Content-Type'],
  [
    'JSON in name alone',
    response => response.writeHead(200, { 'content-type': 'application/json' }).end('{'),
    400,
    'not JSON',
  ],
  ['33 KB', json({ padding: 'x'.repeat(32_768) }), 400, 'larger than 32768 bytes'],
  ['it compressed', json({}, { 'content-encoding': 'gzip' }), 400, 'without Content-Encoding'],
  [
    'bytes that are no text',
    response => response.writeHead(200, { 'content-type': 'application/json' }).end(Buffer.from([0xff])),
    400,
    'not UTF-8',
  ],
  ['500', response => response.writeHead(500).end(), 503, 'cannot be read right now'],
  ['429', response => response.writeHead(429).end(), 503, 'cannot be read right now'],
  ['nothing, and hangs up', response => response.destroy(), 503, 'cannot be read right now'],
  [
    'half of it, and hangs up',
    response =>
      response
        .writeHead(200, { 'content-type': 'application/json', 'content-length': '100' })
        .write('{', () => response.destroy()),
    503,
    'cannot be read right now',
  ],
])(
  'a server that answers %s: a page and never a redirect, and the next time it is asked again',
  async (_name, serve, status, text) => {
    const { client, clientId, path, document } = publish()
    server.serve(path, serve)
    const answer = await client.authorize(openBrowser(rig.app))
    expect([answer.statusCode, answer.headers.location, answer.headers['retry-after']]).toEqual([
      status,
      undefined,
      status === 503 ? '5' : undefined,
    ])
    expect(answer.body).toContain(text)
    expect(answer.headers['content-type']).toContain('text/html')
    expect(await storedOf(clientId)).toEqual([])
    server.serve(path, json(document))
    expect((await client.authorize(openBrowser(rig.app))).statusCode).toBe(303)
  },
)

test('a server that says nothing, or a byte now and then, is given up after three seconds', async () => {
  const [silent, slow] = [publish(), publish()]
  server.serve(silent.path, () => undefined)
  server.serve(slow.path, response => {
    response.writeHead(200, { 'content-type': 'application/json' })
    const timer = setInterval(() => response.write(' '), 100)
    response.on('close', () => clearInterval(timer))
  })
  const answers = await Promise.all([silent, slow].map(({ client }) => client.authorize(openBrowser(rig.app))))
  expect(answers.map(({ statusCode }) => statusCode)).toEqual([503, 503])
})

test('nothing of ours is sent, and a type of its own JSON is taken', async () => {
  const { path, client, document } = publish()
  let headers: NodeJS.Dict<string | string[]> = {}
  server.serve(path, (response, given) => {
    headers = given
    response
      .writeHead(200, { 'content-type': 'application/vnd.client+json; charset=utf-8' })
      .end(JSON.stringify(document))
  })
  expect((await client.authorize(openBrowser(rig.app))).statusCode).toBe(303)
  expect(headers).toEqual({
    host: host(),
    connection: 'close',
    accept: 'application/json',
    'accept-encoding': 'identity',
    'user-agent': 'Millrace',
  })
})

test.each([
  'https://127.0.0.1/client',
  'https://localhost/client',
  'https://a.localhost/client',
  'https://169.254.169.254/latest/meta-data',
  'https://[::1]/client',
  'https://[::ffff:7f00:1]/client',
  'https://2130706433/client',
  'https://app.test:22/client',
  'https://user@app.test/client',
  'https://app.test/a/../client',
  'https://app.test/client#x',
  'https://APP.test/client',
  'http://app.test/client',
  'https://app.test',
  'file:///etc/passwd',
])('%s is no client, and nobody is asked', async clientId => {
  const before = server.connections()
  const answer = await authorize(clientId)
  expect([400, 503]).toContain(answer.statusCode)
  expect(answer.headers.location).toBeUndefined()
  expect(server.connections()).toBe(before)
})

test('a name that leads into a network, then or a moment later, is not connected to, and the page tells nobody', async () => {
  const inside = createServer((_request, response) => response.end('{}'))
  let connections = 0
  inside.on('connection', () => {
    connections += 1
  })
  await new Promise<void>(resolve => inside.listen(0, '127.0.0.1', resolve))
  const { port } = inside.address() as AddressInfo
  const policy = { ports: { 'https:': [port], 'http:': [] }, hosts: new Set<string>() }
  const times = { connectMs: 2_000, headMs: 2_000, silenceMs: 2_000 }
  const addresses = ['127.0.0.1', '10.0.0.5', '169.254.169.254', '::1', 'fd00:ec2::254']
  const pages: string[] = []
  for (const address of addresses) {
    const family = address.includes(':') ? 6 : 4
    // The second answer to the same question leads elsewhere, as a rebinding server does it.
    const resolve = async () => [
      { address: '93.184.215.14', family: 4 },
      { address, family },
    ]
    const request = createOutboundRequest(policy, times, { resolve })
    const hostOfIts = await rig.anotherHost({ clientDocuments: { request, policy } })
    const answer = await hostOfIts.inject(clientOf(rig, `https://inside.test:${port}/client`).authorizePath())
    expect(answer.statusCode).toBe(503)
    pages.push(answer.body)
    await hostOfIts.close()
  }
  const resolve = () => Promise.reject(Object.assign(new Error(), { code: 'ENOTFOUND' }))
  const nowhere = createOutboundRequest(policy, times, { resolve })
  const unresolved = await rig.anotherHost({ clientDocuments: { request: nowhere, policy } })
  pages.push((await unresolved.inject(clientOf(rig, `https://inside.test:${port}/client`).authorizePath())).body)
  await unresolved.close()
  expect(connections).toBe(0)
  expect(new Set(pages).size).toBe(1)
  inside.close()
})

test('a certificate that nobody vouches for is no proof of a host', async () => {
  const { port } = new URL(server.urlOf('/'))
  const policy = { ports: { 'https:': [], 'http:': [] }, hosts: new Set([`app.test:${port}`]) }
  const times = { connectMs: 2_000, headMs: 2_000, silenceMs: 2_000 }
  const resolve = async () => [{ address: '127.0.0.1', family: 4 }]
  const request = createOutboundRequest(policy, times, { resolve })
  const strict = await rig.anotherHost({ clientDocuments: { request, policy } })
  const { client, path } = publish()
  expect((await strict.inject(client.authorizePath())).statusCode).toBe(503)
  expect(readingsOf(path)).toBe(0)
  await strict.close()
})

test('a document is kept as long as its server says, and then asked for by its version', async () => {
  const { path, client, document } = publish({}, { 'cache-control': 'max-age=600', etag: '"v1"' })
  const open = async () => (await client.authorize(openBrowser(rig.app))).statusCode
  expect([await open(), await open(), readingsOf(path)]).toEqual([303, 303, 1])
  await rig.advance(601)
  let asked: string | string[] | undefined
  server.serve(path, (response, headers) => {
    asked = headers['if-none-match']
    response.writeHead(304, { 'cache-control': 'max-age=600' }).end()
  })
  expect([await open(), asked, await open(), readingsOf(path)]).toEqual([303, '"v1"', 303, 2])
  await rig.advance(601)
  server.serve(path, json({ ...document, client_name: 'Renamed agent' }))
  const browser = openBrowser(rig.app)
  expect((await consentPage(rig, browser, await client.authorize(browser))).body).toContain('Renamed agent')
})

test('however many ask at once, a document is read once', async () => {
  const { path, client } = publish()
  const answers = await Promise.all(Array.from({ length: 20 }, () => client.authorize(openBrowser(rig.app))))
  expect(answers.map(answer => answer.statusCode)).toEqual(new Array(20).fill(303))
  expect(readingsOf(path)).toBe(1)
})

test('a document that takes its address back, between request, consent and token, ends what was begun', async () => {
  const other = ['https://app.test/elsewhere']
  const viewed = publish()
  const browser = openBrowser(rig.app)
  const page = await consentPage(rig, browser, await viewed.client.authorize(browser))
  expect(page.statusCode).toBe(200)
  const redeeming = publish()
  const code = await redeeming.client.code([choice()])
  await rig.advance(3_601)
  for (const { path, document } of [viewed, redeeming]) server.serve(path, json({ ...document, redirect_uris: other }))
  // Somebody else's request is what makes us read it again.
  expect((await authorize(viewed.clientId, { redirect_uri: other[0] ?? '' })).statusCode).toBe(303)
  await rig.sql(`update oauth_requests set expires_at = identity_now() + interval '1 minute'`)
  const approved = await browser.submit('/consent', { decision: 'approve' }, { platforms: [choice()] })
  expect(approved.statusCode).toBe(403)
  await rig.sql(`update oauth_codes set expires_at = identity_now() + interval '1 minute'`)
  expect((await redeeming.client.redeem(code)).json().error).toBe('invalid_grant')
})

test('a document that is gone at the token: 401; one that cannot be read holds for a day, and then 503 until it can', async () => {
  const { path, client, document } = publish()
  const { refresh_token: first } = (await client.redeem(await client.code([choice()]))).json()
  await rig.advance(3_601)
  server.serve(path, response => response.writeHead(410).end())
  const gone = await client.refresh(first)
  expect([gone.statusCode, gone.json()]).toEqual([
    401,
    { error: 'invalid_client', error_description: expect.stringContaining('answers 410') },
  ])
  server.serve(path, response => response.writeHead(500).end())
  const { refresh_token: second } = (await client.refresh(first)).json()
  expect(second).toEqual(expect.any(String))
  expect((await client.authorize(openBrowser(rig.app))).statusCode).toBe(503)
  await rig.advance(86_400)
  const away = await client.refresh(second)
  expect([away.statusCode, away.headers['retry-after'], away.json().error]).toEqual([
    503,
    '5',
    'temporarily_unavailable',
  ])
  server.serve(path, json(document))
  expect((await client.refresh(second)).statusCode).toBe(200)
})

test('a client that begins to prove itself by keys is refused from then on', async () => {
  const { path, client, document } = publish()
  const { refresh_token } = (await client.redeem(await client.code([choice()]))).json()
  await rig.advance(3_601)
  server.serve(path, json({ ...document, token_endpoint_auth_method: 'private_key_jwt' }))
  expect((await client.refresh(refresh_token)).json().error).toBe('invalid_client')
})

test('the name is its own choice and the host is not: both are shown, with what each is worth', async () => {
  const pageOf = async (change: Record<string, unknown>, more: Record<string, string> = {}) => {
    const { client } = publish(change)
    const browser = openBrowser(rig.app)
    return (await consentPage(rig, browser, await client.authorize(browser, more))).body
  }
  const known = await pageOf({ client_name: 'Claude' })
  expect(known).toContain(`<strong>Claude</strong> (name not verified) of <strong class="host">${host()}</strong>`)
  expect(known).toContain('Anyone can choose that name')
  expect(known).toContain('runs on this computer')
  expect(await pageOf({ client_name: 'Cl\u0430ude' })).toContain('is written to look like Claude')
  const markup = await pageOf({
    client_name: '<img src=x>',
    logo_uri: 'https://evil.test/x.png',
    client_uri: 'https://evil.test/',
  })
  expect(markup).toContain('&lt;img src=x&gt;')
  expect(markup).not.toContain('evil.test')
  const target = 'https://elsewhere.test/callback'
  const elsewhere = await pageOf({ redirect_uris: [target] }, { redirect_uri: target })
  expect(elsewhere).toContain('sends you on to another address than its own: <code>elsewhere.test</code>')
  expect(elsewhere).not.toContain('runs on this computer')
  const unlisted = await authorize(publish().clientId, { redirect_uri: target })
  expect([unlisted.statusCode, unlisted.headers.location]).toEqual([400, undefined])
})

test('a host in other letters is shown in its technical form, with a caution', async () => {
  const clientId = server.urlOf('/idn.json', 'xn--bcher-kva.test')
  server.serve('/idn.json', json({ client_id: clientId, client_name: 'Agent', redirect_uris: [REDIRECT_URI] }))
  const browser = openBrowser(rig.app)
  const page = await consentPage(rig, browser, await clientOf(rig, clientId).authorize(browser))
  expect(page.body).toContain('<strong class="host">xn--bcher-kva.test')
  expect(page.body).toContain('letters that are not Latin')
})

test('readings are counted by the address of the caller, and those at the same time are few', async () => {
  const bounded = await rig.anotherHost({ limits: { ...limits, documentRead: createRateLimits().documentRead } })
  const statuses: number[] = []
  for (let each = 0; each < 31; each += 1) {
    const { client, path } = publish()
    server.serve(path, response => response.writeHead(404).end())
    statuses.push((await bounded.inject(client.authorizePath())).statusCode)
  }
  expect(statuses).toEqual([...new Array(30).fill(400), 503])
  await bounded.close()
  const waiting: (() => void)[] = []
  const slow = Array.from({ length: 10 }, () => {
    const one = publish()
    server.serve(one.path, response => void waiting.push(() => response.writeHead(404).end()))
    return one
  })
  const answers = slow.map(({ client }) => client.authorize(openBrowser(rig.app)))
  await expect.poll(() => waiting.length).toBe(10)
  const eleventh = await publish().client.authorize(openBrowser(rig.app))
  expect([eleventh.statusCode, eleventh.headers['retry-after']]).toEqual([503, '5'])
  for (const release of waiting) release()
  expect((await Promise.all(answers)).map(answer => answer.statusCode)).toEqual(new Array(10).fill(400))
})

test('a stolen refresh token of such a client: the mail names its host', async () => {
  const { client } = publish()
  const { refresh_token: stolen } = (await client.redeem(await client.code([choice()]))).json()
  await client.refresh(stolen)
  await rig.advance(61)
  expect((await client.refresh(stolen)).json().error).toBe('invalid_grant')
  const letters = await mailsOf(rig)
  expect(letters.at(-1)?.text).toContain('“My agent (app. test')
})

// The last: it moves the clock by days.
test('documents without a grant are forgotten after a day; those with one stay', async () => {
  const [unused, used] = [publish(), publish()]
  await unused.client.authorize(openBrowser(rig.app))
  await used.client.redeem(await used.client.code([choice()]))
  await rig.advance(86_300)
  await upkeep(rig.database, rig.keystore)
  expect([await storedOf(unused.clientId), await storedOf(used.clientId)]).toMatchObject([[{}], [{}]])
  await rig.advance(200)
  await upkeep(rig.database, rig.keystore)
  expect([await storedOf(unused.clientId), await storedOf(used.clientId)]).toMatchObject([[], [{}]])
})
