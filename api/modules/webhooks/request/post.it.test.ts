// One attempt to endpoints that answer late, partly, never, endlessly, with a redirect, or not in HTTP, and to
// addresses that are refused.
import { createServer as createTlsServer } from 'node:https'
import { type AddressInfo, BlockList, createServer, type Server, type Socket } from 'node:net'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import type { OutboundPolicy } from '../../../../shared/outbound/judge-url.ts'
import { createOutboundRequest } from '../../../../shared/outbound/outbound-request.ts'
import { CERTIFICATE, KEY } from '../../../../shared/testing/certificate.ts'
import { type Receiver, startReceiver, status } from '../testing/receiver.ts'
import { createPost, type PostOutcome } from './post.ts'

const networks = new BlockList()
networks.addSubnet('127.0.0.0', 8)
const STRICT: OutboundPolicy = { ports: { 'https:': [443], 'http:': [80] }, hosts: new Set() }
const LOCAL: OutboundPolicy = { ...STRICT, networks }
const TIMES = { connectMs: 10_000, headMs: 10_000, silenceMs: 10_000 }
/**
 * The time limit for endpoints that never answer, instead of ten seconds. Every other endpoint answers well within it.
 */
const SHORT_MS = 300

let receiver: Receiver
const servers: Server[] = []
beforeAll(async () => {
  receiver = await startReceiver()
})
afterEach(() => {
  receiver.received.length = 0
  receiver.answer(status(200))
})
afterAll(async () => {
  await receiver?.close()
  for (const server of servers) server.close()
})

async function post(url: string, policy = LOCAL, answerMs?: number): Promise<PostOutcome> {
  const request = createOutboundRequest(policy, TIMES)
  return await createPost({ request, policy, ...(answerMs === undefined ? {} : { answerMs }) })({
    url,
    headers: { 'X-EVENT-ID': 'evnt_1' },
    body: '{"a":1}',
  })
}
const failed = (cause: RegExp, responseCode: number | null = null) => ({
  succeeded: false,
  responseCode,
  cause: expect.stringMatching(cause),
  durationMs: expect.any(Number),
})
/** A server of raw sockets; returns its address. */
async function sockets(onConnection: (socket: Socket) => void): Promise<string> {
  const server = createServer(socket => {
    socket.on('error', () => undefined)
    onConnection(socket)
  })
  servers.push(server)
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
}

test.each([200, 201, 202, 204, 299])('%d is a success, and the endpoint has the whole request', async code => {
  receiver.answer(status(code))
  expect(await post(receiver.urlOf('/hook?a=1'))).toMatchObject({ succeeded: true, responseCode: code, cause: null })
  expect(receiver.received).toMatchObject([{ path: '/hook?a=1', body: '{"a":1}', headers: { 'x-event-id': 'evnt_1' } }])
})

test.each([301, 302, 307, 308])('%d is a failure, and is not followed', async code => {
  receiver.answer(status(code, { location: receiver.urlOf('/elsewhere') }))
  expect(await post(receiver.urlOf('/'))).toEqual(failed(/redirects are not followed/, code))
  expect(receiver.received.map(({ path }) => path)).toEqual(['/'])
})

test.each([400, 401, 404, 410, 429, 500, 503])('%d is a failure', async code => {
  receiver.answer(status(code, { 'retry-after': '1' }))
  expect(await post(receiver.urlOf('/'))).toEqual(failed(new RegExp(`answered ${code}`), code))
})

test('an answer in time counts, however long its body lasts', async () => {
  receiver.answer(response => {
    response.writeHead(200)
    const timer = setInterval(() => response.write('x'.repeat(1_000)), 1)
    response.on('close', () => clearInterval(timer))
  })
  expect(await post(receiver.urlOf('/'))).toMatchObject({ succeeded: true, responseCode: 200 })
})

test('an answer after the time is a failure', async () => {
  receiver.answer(response => void setTimeout(() => response.writeHead(200).end(), 3 * SHORT_MS))
  expect(await post(receiver.urlOf('/'), LOCAL, SHORT_MS)).toEqual(failed(/did not answer within 0.3 seconds/))
})

test('no answer, half a head, a head that never ends, and silence before TLS are failures within the one time for everything', async () => {
  const never = await sockets(() => undefined)
  const half = await sockets(socket => socket.write('HTTP/1.1 200 OK\r\nContent-Le'))
  const endless = await sockets(socket => {
    socket.write('HTTP/1.1 200 OK\r\n')
    const timer = setInterval(() => socket.write('X-Filler: x\r\n'), 10)
    socket.on('close', () => clearInterval(timer))
  })
  const noTls = (await sockets(() => undefined)).replace('http:', 'https:')
  const outcomes = await Promise.all([never, half, endless, noTls].map(url => post(url, LOCAL, SHORT_MS)))
  for (const outcome of outcomes) expect(outcome).toEqual(failed(/did not answer within|did not answer in HTTP/))
})

test('a connection that is cut, refused, or not of HTTP says so, and quotes nothing', async () => {
  const cut = await sockets(socket => socket.on('data', () => socket.destroy()))
  expect(await post(cut)).toEqual(failed(/closed the connection/))
  const gibberish = await sockets(socket => socket.write('SECRET gibberish\r\n\r\n'))
  expect(await post(gibberish)).toEqual(failed(/did not answer in HTTP|closed the connection/))
  const closed = await sockets(() => undefined)
  await new Promise(resolve => servers.pop()?.close(resolve))
  expect(await post(closed)).toEqual(failed(/refused the connection/))
})

test('an untrusted certificate, and TLS before 1.2, are failures', async () => {
  for (const [options, cause] of [
    [{}, /certificate/],
    [{ maxVersion: 'TLSv1.1', minVersion: 'TLSv1', ciphers: 'ALL:@SECLEVEL=0' }, /TLS connection of version 1.2/],
  ] as const) {
    const server = createTlsServer({ cert: CERTIFICATE, key: KEY, ...options }, (_request, response) => response.end())
    await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
    expect(await post(`https://127.0.0.1:${(server.address() as AddressInfo).port}/`)).toEqual(failed(cause))
    server.close()
  }
})

// The check of security 5: 34 hosts; only the first two may be contacted.
const PUBLIC = ['http://192.0.9.1/', 'https://[2606:4700::1]/']
const INSIDE = [
  'http://127.0.0.1/',
  'http://127.1/',
  'http://0177.0.0.1/',
  'http://0x7f000001/',
  'http://2130706433/',
  'http://0/',
  'http://0.0.0.0/',
  'http://localhost/',
  'http://LOCALHOST./',
  'http://a.localhost/',
  'http://[::]/',
  'http://[::1]/',
  'http://[::127.0.0.1]/',
  'http://[::ffff:127.0.0.1]/',
  'http://[::ffff:7f00:1]/',
  'http://[64:ff9b::7f00:1]/',
  'http://[2002:7f00:1::]/',
  'http://169.254.169.254/latest/meta-data',
  'http://[::ffff:169.254.169.254]/',
  'http://[fd00:ec2::254]/',
  'http://168.63.129.16/',
  'http://100.100.100.200/',
  'http://10.0.0.1/',
  'http://172.16.0.1/',
  'http://192.168.0.1/',
  'http://100.64.0.1/',
  'http://198.18.0.1/',
  'http://224.0.0.1/',
  'http://255.255.255.255/',
  'http://[fe80::1]/',
  'http://[fc00::1]/',
  'http://[ff02::1]/',
]

test('of 34 addresses 32 are refused without a connection, and two are asked', async () => {
  expect(PUBLIC.length + INSIDE.length).toBe(34)
  for (const url of INSIDE) expect(await post(url, STRICT), url).toEqual(failed(/^The address/))
  // Neither answers from here; the test only checks that a connection is tried.
  for (const url of PUBLIC) expect((await post(url, STRICT, 50)).cause, url).not.toMatch(/^The address/)
})
