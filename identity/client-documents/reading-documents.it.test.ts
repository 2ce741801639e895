// How the document of a client is read: once, within bounds, refused by name, and never a way into the network of the installation.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createOutboundRequest } from '../../shared/outbound/outbound-request.ts'
import { createRateLimits } from '../http/rate-limits.ts'
import { openBrowser } from '../testing/browser.ts'
import { type DocumentClients, startDocumentClients } from '../testing/document-clients.ts'
import { type Answer, type DocumentServer, json } from '../testing/document-server.ts'
import type { IdentityRig } from '../testing/identity-rig.ts'
import { clientOf, consentPage } from '../testing/oauth-client.ts'

let clients: DocumentClients
let rig: IdentityRig
let server: DocumentServer
beforeAll(async () => {
  clients = await startDocumentClients()
  ;({ rig, server } = clients)
})
afterAll(() => clients?.close())

test.each([
  ['another client_id', { client_id: 'https://app.test/other' }, 'client_id must be the address'],
  ['a secret', { client_secret: 'x' }, 'client_secret must not be there'],
  ['keys to prove itself by', { token_endpoint_auth_method: 'private_key_jwt' }, 'must be none'],
  ['no address that may be used', { redirect_uris: ['http://app.test/'] }, 'holds no address'],
  ['our own name', { client_name: 'Millrace Support' }, 'must not look like the name of this product'],
])('a document with %s is a page that says so, and is not kept', async (_name, change, reason) => {
  const { client, clientId } = clients.publish(change)
  const answer = await client.authorize(openBrowser(rig.app))
  expect([answer.statusCode, answer.headers.location]).toEqual([400, undefined])
  expect(answer.body).toContain(reason)
  expect(await clients.storedOf(clientId)).toEqual([])
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
    const { client, clientId, path, document } = clients.publish()
    server.serve(path, serve)
    const answer = await client.authorize(openBrowser(rig.app))
    expect([answer.statusCode, answer.headers.location, answer.headers['retry-after']]).toEqual([
      status,
      undefined,
      status === 503 ? '5' : undefined,
    ])
    expect(answer.body).toContain(text)
    expect(answer.headers['content-type']).toContain('text/html')
    expect(await clients.storedOf(clientId)).toEqual([])
    server.serve(path, json(document))
    expect((await client.authorize(openBrowser(rig.app))).statusCode).toBe(303)
  },
)

test('a server that says nothing, or a byte now and then, is given up after three seconds', async () => {
  const [silent, slow] = [clients.publish(), clients.publish()]
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
  const { path, client, document } = clients.publish()
  let headers: NodeJS.Dict<string | string[]> = {}
  server.serve(path, (response, given) => {
    headers = given
    response
      .writeHead(200, { 'content-type': 'application/vnd.client+json; charset=utf-8' })
      .end(JSON.stringify(document))
  })
  expect((await client.authorize(openBrowser(rig.app))).statusCode).toBe(303)
  expect(headers).toEqual({
    host: clients.host(),
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
  const answer = await clients.authorize(clientId)
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
  const { client, path } = clients.publish()
  expect((await strict.inject(client.authorizePath())).statusCode).toBe(503)
  expect(clients.readingsOf(path)).toBe(0)
  await strict.close()
})

test('a document is kept as long as its server says, and then asked for by its version', async () => {
  const { path, client, document } = clients.publish({}, { 'cache-control': 'max-age=600', etag: '"v1"' })
  const open = async () => (await client.authorize(openBrowser(rig.app))).statusCode
  expect([await open(), await open(), clients.readingsOf(path)]).toEqual([303, 303, 1])
  await rig.advance(601)
  let asked: string | string[] | undefined
  server.serve(path, (response, headers) => {
    asked = headers['if-none-match']
    response.writeHead(304, { 'cache-control': 'max-age=600' }).end()
  })
  expect([await open(), asked, await open(), clients.readingsOf(path)]).toEqual([303, '"v1"', 303, 2])
  await rig.advance(601)
  server.serve(path, json({ ...document, client_name: 'Renamed agent' }))
  const browser = openBrowser(rig.app)
  expect((await consentPage(rig, browser, await client.authorize(browser))).body).toContain('Renamed agent')
})

test('however many ask at once, a document is read once', async () => {
  const { path, client } = clients.publish()
  const answers = await Promise.all(Array.from({ length: 20 }, () => client.authorize(openBrowser(rig.app))))
  expect(answers.map(answer => answer.statusCode)).toEqual(new Array(20).fill(303))
  expect(clients.readingsOf(path)).toBe(1)
})

test('readings are counted by the address of the caller, and those at the same time are few', async () => {
  const bounded = await rig.anotherHost({
    limits: { ...clients.limits, documentRead: createRateLimits().documentRead },
  })
  const statuses: number[] = []
  for (let each = 0; each < 31; each += 1) {
    const { client, path } = clients.publish()
    server.serve(path, response => response.writeHead(404).end())
    statuses.push((await bounded.inject(client.authorizePath())).statusCode)
  }
  expect(statuses).toEqual([...new Array(30).fill(400), 503])
  await bounded.close()
  const waiting: (() => void)[] = []
  const slow = Array.from({ length: 10 }, () => {
    const one = clients.publish()
    server.serve(one.path, response => void waiting.push(() => response.writeHead(404).end()))
    return one
  })
  const answers = slow.map(({ client }) => client.authorize(openBrowser(rig.app)))
  await expect.poll(() => waiting.length).toBe(10)
  const eleventh = await clients.publish().client.authorize(openBrowser(rig.app))
  expect([eleventh.statusCode, eleventh.headers['retry-after']]).toEqual([503, '5'])
  for (const release of waiting) release()
  expect((await Promise.all(answers)).map(answer => answer.statusCode)).toEqual(new Array(10).fill(400))
})
