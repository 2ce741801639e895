// What comes in through the door uninvited: broken framing, silence, floods. Each test is named after its row in the table of
// attacks (A) or of faults (F) it stands for. In all of them nothing may reach the log and nobody else may be kept waiting.

import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { Readable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'
import { Pool } from 'undici'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { type GatewayRig, startGatewayRig } from './testing/gateway-rig.ts'
import { hostileBody, withBytesRemoved } from './testing/hostile-bodies.ts'
import { randomOf } from './testing/random.ts'

const SINGLE = '/v1/events/ingest'
const event = (reference: string) => ({
  reference,
  customer_reference: 'acme',
  meter_reference: 'requests',
  meter_values: [{ reference: 'requests_tokens', number: '1' }],
})
/** Silence ends a connection after 8 to 32 s: see HEAD_SECONDS_MAX. */
const SILENCE_MS = 60_000

let rig: GatewayRig
let port: number
beforeAll(async () => {
  rig = await startGatewayRig()
  await rig.addMeter('LIVE', 'requests')
  port = rig.gateway.port
})
afterAll(() => rig?.stop())

const key = () => rig.platform.environments.LIVE.api_key
const head = (headers: string, path = SINGLE) =>
  `POST ${path} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nX-API-KEY: ${key()}\r\n${headers}\r\n`
const body = () => JSON.stringify(event('never-stored'))
const good = () => `${head(`Content-Length: ${body().length}\r\n`)}${body()}`
const countAnswers = (text: string): number => text.match(/HTTP\/1\.1 /g)?.length ?? 0

/** A socket and what came back on it so far. */
function open(): { socket: Socket; received: () => string; isClosed: () => boolean } {
  let received = ''
  let closed = false
  const socket = connect({ host: '127.0.0.1', port })
  socket.on('data', data => {
    received += data.toString('latin1')
  })
  socket.on('error', () => undefined) // a reset is one of the ways it may end
  socket.on('close', () => {
    closed = true
  })
  return { socket, received: () => received, isClosed: () => closed }
}
async function untilClosed(all: readonly { isClosed: () => boolean }[], withinMs: number): Promise<void> {
  const deadline = performance.now() + withinMs
  while (!all.every(each => each.isClosed())) {
    if (performance.now() > deadline) throw new Error(`${all.filter(each => !each.isClosed()).length} are still open`)
    await sleep(20)
  }
}
const expectNothingStored = async () => expect(await rig.logged()).toEqual([])

describe('A16: where a request ends is never in doubt', () => {
  const doubtful: [string, string][] = [
    ['two different Content-Length', 'Content-Length: 2\r\nContent-Length: 40\r\n'],
    ['an empty Content-Length', 'Content-Length: \r\n'],
    ['Transfer-Encoding that is not chunked', 'Transfer-Encoding: xchunked\r\n'],
    ['Transfer-Encoding: gzip, chunked', 'Transfer-Encoding: gzip, chunked\r\n'],
    ['Transfer-Encoding twice', 'Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n'],
  ]
  for (const path of [SINGLE, '/v1/nothing']) {
    test.each(doubtful)(`%s, at ${path}: 400, once, and closed`, async (_name, headers) => {
      const alone = await rig.raw(head(headers, path))
      expect(alone.text).toMatch(/^HTTP\/1\.1 400 /)
      expect(alone.text).toContain('"code":"BAD_REQUEST"')
      expect([countAnswers(alone.text), alone.closed]).toEqual([1, true])
      // With a whole request behind it, hidden from whoever reads the length the other way.
      const { text, closed } = await rig.raw(`${head(headers, path)}2\r\n{}\r\n0\r\n\r\n${good()}`)
      expect([text.includes('201 '), closed]).toEqual([false, true])
      await expectNothingStored()
    })
  }
  test.each([
    ['Content-Length and Transfer-Encoding', 'Content-Length: 2\r\nTransfer-Encoding: chunked\r\n'],
    ['Content-Length +2', 'Content-Length: +2\r\n'],
    ['Content-Length -1', 'Content-Length: -1\r\n'],
    ['Content-Length 2abc', 'Content-Length: 2abc\r\n'],
    ['Content-Length 0x2', 'Content-Length: 0x2\r\n'],
    ['Content-Length of 26 digits', `Content-Length: ${'9'.repeat(26)}\r\n`],
  ])('%s: closed, and what follows is not taken for a request', async (_name, headers) => {
    const { text, closed } = await rig.raw(`${head(headers)}0\r\n\r\n${good()}`)
    expect([text.includes('201 '), closed]).toEqual([false, true])
    await expectNothingStored()
  })
  test.each(['zz\r\n{}\r\n0\r\n\r\n', `${'f'.repeat(16)}\r\n{}\r\n0\r\n\r\n`])(
    'a chunk of length %j: closed',
    async chunks => {
      const { text, closed } = await rig.raw(head('Transfer-Encoding: chunked\r\n') + chunks)
      expect([text.includes('201 '), closed]).toEqual([false, true])
    },
  )
})

test('with INGEST_CHUNKED=refuse a body without its length is 411 and ends the connection; one with it is taken', async () => {
  const strict = await rig.addGateway({ INGEST_CHUNKED: 'refuse' })
  const pool = new Pool(strict.url)
  const headers = { 'x-api-key': key(), 'content-type': 'application/json' }
  const chunked = await pool.request({ method: 'POST', path: SINGLE, headers, body: Readable.from([body()]) })
  expect([chunked.statusCode, chunked.headers['connection']]).toEqual([411, 'close'])
  expect(await chunked.body.json()).toMatchObject({ code: 'BAD_REQUEST' })
  const whole = await pool.request({ method: 'POST', path: SINGLE, headers, body: 'no JSON' })
  expect(whole.statusCode).toBe(400)
  await whole.body.dump()
  await pool.close()
  await strict.stop()
  await expectNothingStored()
})

describe('A17, F23: too much', () => {
  test('a body of 10 MB: 413 and closed before it is sent', async () => {
    const { text, closed } = await rig.raw(head('Content-Length: 10485760\r\n'))
    expect([text.slice(0, 13), closed]).toEqual(['HTTP/1.1 413 ', true])
  })
  test('chunks without an end: cut off at the limit', async () => {
    const endless = open()
    endless.socket.write(head('Transfer-Encoding: chunked\r\n'))
    const chunk = Buffer.from(`4000\r\n${' '.repeat(0x4000)}\r\n`)
    let sent = 0
    while (!endless.isClosed() && sent < 64 * 1024 * 1024) {
      if (!endless.socket.destroyed) endless.socket.write(chunk)
      sent += chunk.length
      await sleep(1)
    }
    await untilClosed([endless], SILENCE_MS)
    expect(endless.received() === '' || endless.received().startsWith('HTTP/1.1 413 ')).toBe(true)
  })
  test('F25: a gzip bomb: 415 unread', async () => {
    const bomb = gzipSync(Buffer.alloc(20 * 1024 * 1024))
    const reply = await rig.post(SINGLE, bomb, { 'Content-Encoding': 'gzip' })
    expect(reply).toMatchObject({ status: 415, body: { code: 'UNSUPPORTED_MEDIA_TYPE' } })
  })
  test('answers that are never read do not gather: the connection is closed', async () => {
    const deaf = open()
    deaf.socket.pause()
    const request = head('Content-Length: 2\r\n').replace(key(), 'wrong')
    const requests = `${request}{}`.repeat(200)
    const before = process.memoryUsage().rss
    for (let turn = 0; turn < 4_000 && !deaf.isClosed(); turn += 1) {
      if (deaf.socket.destroyed || !deaf.socket.write(requests)) await sleep(5)
    }
    deaf.socket.resume()
    await untilClosed([deaf], SILENCE_MS)
    expect(process.memoryUsage().rss - before).toBeLessThan(128 * 1024 * 1024)
  })
})

describe('F22, A17: slow and silent', () => {
  test('thousands of silent, dripping and stalled connections, and 60 headers, are closed and keep nobody else waiting', async () => {
    const many = Array.from({ length: 60 }, (_, index) => `X-H${index}: y\r\n`).join('')
    const tooMany = open()
    tooMany.socket.write(`${head(`${many}Content-Length: ${body().length}\r\n`)}${body()}`)
    const dripping = head('Content-Length: 200\r\n')
    const kinds = [
      (socket: Socket) => socket, // says nothing
      (socket: Socket) => socket.write(dripping.slice(0, 60)), // half a head
      (socket: Socket) => socket.write(`${dripping}{"a`), // half a body
      (socket: Socket) => socket.write(head('Transfer-Encoding: chunked\r\n').concat('ff\r\n{"a')),
      // What uWebSockets can never read and does not answer.
      (socket: Socket) => socket.write(`${head('X-A: a\rb\r\nContent-Length: 2\r\n')}{}`),
      (socket: Socket) => socket.write('HELLO\r\n\r\n'),
      (socket: Socket) => socket.write(`\r\n${good()}`),
    ]
    const flood: ReturnType<typeof open>[] = []
    while (flood.length < 2_000) {
      // In waves that fit the queue of the listening socket, or it is the kernel that is tested.
      const wave = Array.from({ length: 100 }, open)
      await Promise.all(wave.map(({ socket }) => once(socket, 'connect')))
      for (const [index, { socket }] of wave.entries()) kinds[index % kinds.length]?.(socket)
      flood.push(...wave)
    }
    const drips = Array.from({ length: 20 }, open)
    const drip = setInterval(() => {
      for (const { socket } of drips) if (!socket.destroyed) socket.write('x')
    }, 500)
    try {
      for (const { socket } of drips) socket.write('POST / HTTP/1.1\r\nX-Slow: ')
      // The others are served all the while: as often as a machine that is busy with other tests can before the first is closed.
      let served = 0
      while (served < 100 && !flood.some(each => each.isClosed())) {
        const reply = await fetch(`${rig.url}/health/ready`)
        expect(reply.status).toBe(200)
        served += 1
      }
      expect(served).toBeGreaterThan(0)
      expect((await rig.post(SINGLE, { ...event('x'), reference: '' })).status).toBe(400)
      const answered = open()
      answered.socket.write('GET /health/live HTTP/1.1\r\nHost: x\r\n\r\n')
      await vi.waitFor(() => expect(answered.received()).toMatch(/^HTTP\/1\.1 200/), SILENCE_MS)
      // A first request is waited for less long than a next one: a connection that is opened now is closed before the one above.
      const silent = open()
      let isOutlived = false
      silent.socket.on('close', () => {
        isOutlived = !answered.isClosed()
      })
      await untilClosed([...flood, ...drips, tooMany, silent], 2 * SILENCE_MS)
      expect(isOutlived).toBe(true)
      answered.socket.destroy()
      expect(tooMany.received()).toMatch(/^HTTP\/1\.1 400 .*Send at most 50 headers/s)
    } finally {
      clearInterval(drip)
      for (const { socket } of [...flood, ...drips]) socket.destroy()
    }
    await expectNothingStored()
  })
})

test('a length that is hidden behind a header without a name: closed, and the body is not taken for a request', async () => {
  for (const hiding of [': x\r\n', ':\r\n']) {
    for (const length of [`Content-Length: ${good().length}\r\n`, 'Transfer-Encoding: chunked\r\n']) {
      const { text } = await rig.raw(`${head(`${hiding}${length}`)}${good()}`)
      expect(text).not.toMatch(/HTTP\/1\.1 2/)
      expect(countAnswers(text)).toBeLessThan(2)
      const alone = await rig.raw(head(`${hiding}${length}`))
      expect(alone.text).toMatch(/^HTTP\/1\.1 411 .*no header without a name/s)
    }
  }
  await expectNothingStored()
})

describe('A14, A15: who sends', () => {
  const withHeaders = async (headers: string) => (await rig.raw(`${head(`${headers}Content-Length: 2\r\n`)}{}`)).text
  test('X-API-KEY beside Authorization, twice, or twice the same: 400', async () => {
    for (const headers of ['Authorization: Bearer x\r\n', 'X-API-KEY: other\r\n', `X-API-KEY: ${key()}\r\n`]) {
      expect(await withHeaders(headers)).toMatch(/^HTTP\/1\.1 400 /)
    }
  })
})

describe('F24: over real sockets', () => {
  test('three thousand hostile bodies are 201 or 4xx, and the gateway is well after', async () => {
    const random = randomOf(20_260_131)
    const pool = new Pool(rig.url, { connections: 16 })
    const headers = { 'x-api-key': key(), 'content-type': 'application/json' }
    const statuses = new Set<number>()
    for (let sent = 0; sent < 3_000; sent += 100) {
      const bodies = Array.from({ length: 100 }, () => hostileBody(random))
      const answers = bodies.map(async each => {
        const path = each.length % 2 === 0 ? SINGLE : '/v1/events/ingest-list'
        const { statusCode, body: answer } = await pool.request({ method: 'POST', path, headers, body: each })
        JSON.parse(await answer.text())
        statuses.add(statusCode)
      })
      await Promise.all(answers)
    }
    await pool.close()
    expect([...statuses].filter(status => status !== 201 && (status < 400 || status > 499))).toEqual([])
    expect((await fetch(`${rig.url}/health/ready`)).status).toBe(200)
  })

  test('whole requests with bytes removed from head and body: never a 5xx, and the gateway is well after', async () => {
    const random = randomOf(7)
    const request = Buffer.from(good())
    const sockets = Array.from({ length: 300 }, () => {
      const each = open()
      each.socket.end(withBytesRemoved(random, withBytesRemoved(random, request)))
      return each
    })
    await untilClosed(sockets, 2 * SILENCE_MS)
    // 505 is what uWebSockets.js says of a version of HTTP that is none.
    for (const { received } of sockets) expect(received()).not.toMatch(/HTTP\/1\.1 5(?!05)/)
    expect((await fetch(`${rig.url}/health/ready`)).status).toBe(200)
  })
})
