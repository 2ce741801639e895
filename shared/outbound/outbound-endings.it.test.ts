// Servers of strangers that answer, end and fall silent in every way: an error of the one request at most, and no socket stays.
import { once } from 'node:events'
import { createServer as createTlsServer } from 'node:https'
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'
import { buffer, text } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import type { TLSSocket } from 'node:tls'
import { afterAll, expect, test } from 'vitest'
import { CERTIFICATE, KEY } from '../testing/certificate.ts'
import type { OutboundPolicy } from './judge-url.ts'
import { createOutboundRequest, type OutboundAnswer, type OutboundTimes } from './outbound-request.ts'

const servers: Server[] = []
const open = new Set<Socket>()
afterAll(() => {
  for (const socket of open) socket.destroy()
  for (const server of servers) server.close()
})

async function listen(server: Server): Promise<number> {
  servers.push(server)
  server.on('connection', (socket: Socket) => {
    open.add(socket.on('error', () => undefined).once('close', () => open.delete(socket)))
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  return (server.address() as AddressInfo).port
}

const TIMES: OutboundTimes = { connectMs: 5_000, headMs: 5_000, silenceMs: 5_000 }
const SHORT: OutboundTimes = { connectMs: 200, headMs: 200, silenceMs: 200 }
const allowed = (hostAndPort: string): OutboundPolicy => ({
  ports: { 'https:': [], 'http:': [] },
  hosts: new Set([hostAndPort]),
})

type Rig = {
  readonly answer: Promise<OutboundAnswer>
  readonly abort: AbortController
  readonly socket: Promise<Socket>
}
/** Asks a server of bare sockets that does this with a request. */
async function asked(
  onRequest: (socket: Socket) => void,
  times = TIMES,
  headers: Record<string, string> = {},
): Promise<Rig> {
  const server = createServer(socket => void socket.once('data', () => onRequest(socket)))
  const socket = once(server, 'connection').then(([each]) => each as Socket)
  const port = await listen(server)
  const abort = new AbortController()
  const request = createOutboundRequest(allowed(`127.0.0.1:${port}`), times)
  const url = new URL(`http://127.0.0.1:${port}/a?b=1`)
  const answer = request({ url, method: 'POST', headers, body: 'x', signal: abort.signal })
  answer.catch(() => undefined)
  return { answer, abort, socket }
}
/** Resolved when the server's side is closed, too. */
const gone = async (socket: Socket): Promise<void> => {
  socket.resume()
  if (!socket.closed) await new Promise(resolve => socket.once('close', resolve))
}

const OK = 'HTTP/1.1 200 OK\r\n'

// With undici 7.30 (its issue 5360) such an end ended the process: at 128, 192 and 1024 KiB, as the pieces happened to come.
test.each([64, 100, 128, 192, 256, 512, 1_024])(
  'a server that ends after %d KiB while the reader is slow: the content is whole, with its length and in chunks',
  async kib => {
    const content = Buffer.alloc(kib * 1_024, 'a')
    const heads = [`Content-Length: ${content.length}\r\n\r\n`, 'Transfer-Encoding: chunked\r\n\r\n', '\r\n']
    for (const head of heads) {
      const { answer, socket } = await asked(peer => {
        peer.write(`${OK}Connection: close\r\n${head}`)
        const isChunked = head.startsWith('Transfer')
        if (isChunked) peer.write(`${content.length.toString(16)}\r\n`)
        peer.write(content)
        peer.end(isChunked ? '\r\n0\r\n\r\n' : '')
      })
      let bytes = 0
      for await (const piece of (await answer).body) {
        bytes += (piece as Buffer).length
        // The end of the connection arrives meanwhile.
        await sleep(5)
      }
      expect(bytes).toBe(content.length)
      await gone(await socket)
    }
  },
)

test.each<[string, string | ((socket: Socket) => void), RegExp]>([
  ['nothing', socket => socket.end(), /ECONNRESET/],
  ['a reset', socket => socket.resetAndDestroy(), /ECONNRESET/],
  ['half a head', `${OK}Content-Le`, /ECONNRESET/],
  ['no HTTP', 'hello\r\n\r\n', /HPE_/],
  ['another protocol', 'HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: h2c\r\n\r\n', /ECONNRESET/],
  ['two lengths', `${OK}Content-Length: 1\r\nContent-Length: 2\r\n\r\nab`, /HPE_/],
  ['a length and chunks', `${OK}Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\na`, /HPE_/],
  ['a head of more than 16 KiB', `${OK}X: ${'x'.repeat(17_000)}\r\n\r\n`, /HPE_HEADER_OVERFLOW/],
])('%s in place of a head is an error with its code, and the connection is gone', async (_name, what, code) => {
  const { answer, socket } = await asked(peer => (typeof what === 'string' ? void peer.end(what) : what(peer)))
  await expect(answer).rejects.toMatchObject({ code: expect.stringMatching(code) })
  await gone(await socket)
})

test.each<[string, string, RegExp]>([
  ['less than its length', `${OK}Content-Length: 9\r\n\r\nabc`, /ECONNRESET/],
  ['chunks without an end', `${OK}Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n`, /ECONNRESET/],
  ['chunks of no size', `${OK}Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\nzz\r\n`, /HPE_/],
])('a body of %s is an error to its reader', async (_name, sent, code) => {
  const { answer, socket } = await asked(peer => void peer.end(sent))
  await expect(answer.then(({ body }) => text(body))).rejects.toMatchObject({ code: expect.stringMatching(code) })
  await gone(await socket)
})

test('a body that nobody reads, whole, broken off or endless, is no error of anything, and its socket does not stay', async () => {
  const endings: ((socket: Socket) => void)[] = [
    socket => socket.write(`${OK}Content-Length: 3\r\n\r\nabc`),
    socket => socket.write(`${OK}Content-Length: 9\r\n\r\nabc`),
    socket => socket.write(`${OK}\r\n${'a'.repeat(1_048_576)}`),
    socket => socket.end(`${OK}Content-Length: 9\r\n\r\nabc`),
    socket => socket.write(`${OK}\r\nabc`, () => socket.resetAndDestroy()),
  ]
  for (const ending of endings) {
    const { answer, socket } = await asked(ending, { ...TIMES, silenceMs: 50 })
    expect((await answer).statusCode).toBe(200)
    await gone(await socket)
  }
})

test('what comes after a whole body is not read, and does not spoil it', async () => {
  const { answer, socket } = await asked(peer => peer.write(`${OK}Content-Length: 3\r\n\r\nabc${OK}\r\nmore`))
  expect(await text((await answer).body)).toBe('abc')
  await gone(await socket)
})

test('a head that does not come, or comes without end, and a body that stops, end in their times', async () => {
  const silent = await asked(() => undefined, SHORT)
  await expect(silent.answer).rejects.toMatchObject({ code: 'OUTBOUND_HEAD_TIMEOUT' })
  const endless = await asked(peer => {
    const timer = setInterval(() => peer.write('HTTP/1.1 102 Processing\r\n\r\n'), 10)
    peer.once('close', () => clearInterval(timer))
  }, SHORT)
  await expect(endless.answer).rejects.toMatchObject({ code: 'OUTBOUND_HEAD_TIMEOUT' })
  const stopped = await asked(peer => peer.write(`${OK}Content-Length: 9\r\n\r\nabc`), SHORT)
  await expect(stopped.answer.then(({ body }) => buffer(body))).rejects.toMatchObject({
    code: 'OUTBOUND_SILENCE_TIMEOUT',
  })
  const unread = await asked(peer => peer.write(`${OK}\r\n${'a'.repeat(1_048_576)}`), SHORT)
  const { body } = await unread.answer
  await new Promise(resolve => body.once('close', resolve))
  await expect(text(body)).rejects.toMatchObject({ code: 'OUTBOUND_UNREAD' })
  for (const { socket } of [silent, endless, stopped, unread]) await gone(await socket)
})

test('a name that is not resolved, and TLS that does not begin, end in the time of the connection', async () => {
  const signal = new AbortController().signal
  const get = { method: 'GET', headers: {}, signal } as const
  const named = createOutboundRequest(allowed('a.test:80'), SHORT, { resolve: () => new Promise(() => undefined) })
  await expect(named({ ...get, url: new URL('http://a.test/') })).rejects.toMatchObject({
    code: 'OUTBOUND_CONNECT_TIMEOUT',
  })
  const port = await listen(createServer())
  const request = createOutboundRequest(allowed(`127.0.0.1:${port}`), SHORT)
  await expect(request({ ...get, url: new URL(`https://127.0.0.1:${port}/`) })).rejects.toMatchObject({
    code: 'OUTBOUND_CONNECT_TIMEOUT',
  })
})

test('an abort ends the request before its connection, before its head and in its body, with its reason', async () => {
  const reason = new Error('enough')
  const waiting = await asked(() => undefined)
  const reading = await asked(peer => peer.write(`${OK}Content-Length: 9\r\n\r\nabc`))
  const { body } = await reading.answer
  const read = text(body)
  await waiting.socket
  for (const { abort } of [waiting, reading]) abort.abort(reason)
  await expect(waiting.answer).rejects.toBe(reason)
  await expect(read).rejects.toBe(reason)
  for (const { socket } of [waiting, reading]) await gone(await socket)
  const never = createOutboundRequest(allowed('a.test:80'), TIMES, { resolve: () => new Promise(() => undefined) })
  const abort = new AbortController()
  const unconnected = never({ url: new URL('http://a.test/'), method: 'GET', headers: {}, signal: abort.signal })
  abort.abort(reason)
  await expect(unconnected).rejects.toBe(reason)
  await expect(
    never({ url: new URL('http://a.test/'), method: 'GET', headers: {}, signal: abort.signal }),
  ).rejects.toBe(reason)
})

test('a header that cannot be sent is an error, and the connection is gone', async () => {
  const { answer, socket } = await asked(() => undefined, TIMES, { 'x-a': 'a\r\nb: c' })
  await expect(answer).rejects.toMatchObject({ code: 'ERR_INVALID_CHAR' })
  await gone(await socket)
})

test('over TLS the server is asked for by its name, must prove it, and an address has no name to ask for', async () => {
  const names: (string | false | null)[] = []
  const server = createTlsServer({ cert: CERTIFICATE, key: KEY }, (request, response) => {
    names.push((request.socket as TLSSocket & { servername: string | false | null }).servername)
    response.end(request.headers.host)
  })
  const port = await listen(server)
  const networksOf = (host: string) => allowed(`${host}:${port}`)
  const get = async (host: string, ca?: string) => {
    const resolve = async () => [{ address: '127.0.0.1', family: 4 }]
    const request = createOutboundRequest(networksOf(host.replace(/\.$/, '')), TIMES, {
      resolve,
      ...(ca === undefined ? {} : { ca }),
    })
    const signal = new AbortController().signal
    const url = new URL(`https://${host}:${port}/`)
    return await text((await request({ url, method: 'GET', headers: {}, signal })).body)
  }
  expect(await get('app.test', CERTIFICATE)).toBe(`app.test:${port}`)
  expect(await get('app.test.', CERTIFICATE)).toBe(`app.test.:${port}`)
  await expect(get('app.test')).rejects.toMatchObject({ code: 'DEPTH_ZERO_SELF_SIGNED_CERT' })
  await expect(get('other.example', CERTIFICATE)).rejects.toMatchObject({ code: 'ERR_TLS_CERT_ALTNAME_INVALID' })
  await expect(get('127.0.0.1', CERTIFICATE)).rejects.toMatchObject({ code: 'ERR_TLS_CERT_ALTNAME_INVALID' })
  expect(names).toEqual(['app.test', 'app.test'])
})
