// Files whose server fails in every way one can: with another attempt where that may help, and an ERROR that says what to do.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { createOutboundRequest, type OutboundRequest } from '../../../shared/outbound/outbound-request.ts'
import { type Answer, type DownloadRig, openDownloadRig, whole } from './download-rig.ts'
import { DOWNLOAD_BYTES_MAX } from './rig.ts'

vi.setConfig({ testTimeout: 180_000 })

let d: DownloadRig
beforeAll(async () => {
  d = await openDownloadRig()
})
afterAll(() => d?.close())
beforeEach(() => d.begin())
afterEach(() => d.stop())

/** Waits half a second for the first answer, and patiently for those after it. */
function impatientOnce(): OutboundRequest {
  const { policy, request } = d.rig.download
  const impatient = createOutboundRequest(policy, { connectMs: 60_000, headMs: 500, silenceMs: 500 })
  let isFirst = true
  return (...asked) => {
    const of = isFirst ? impatient : request
    isFirst = false
    return of(...asked)
  }
}

describe('the other side fails, and another attempt is made', () => {
  test.each<[string, Answer, RegExp]>([
    ['500', response => response.writeHead(500).end('oh'), /answered 500\./],
    ['429', response => response.writeHead(429).end(), /answered 429\./],
    [
      'a connection that is cut half way',
      (response, request) => {
        response.writeHead(200, { 'content-length': Buffer.byteLength(d.fileOf(9_000)) })
        response.write(d.fileOf(9_000).slice(0, 200_000), () => request.socket.destroy())
      },
      /before the content was whole/,
    ],
    [
      'chunks that end without an end',
      (response, request) => response.write(d.fileOf(20), () => request.socket.end()),
      /before the content was whole/,
    ],
    [
      'content shorter than its length',
      (response, request) => {
        response.writeHead(200, { 'content-length': '100000' })
        response.write(d.fileOf(20), () => request.socket.end())
      },
      /before the content was whole/,
    ],
    ['silence', () => undefined, /did not answer in time/],
    [
      'silence in the middle',
      response => response.writeHead(200, { 'content-length': '100000' }).write('reference,'),
      /fell silent/,
    ],
    ['no HTTP', (_response, request) => request.socket.end('hello\r\n\r\n'), /is not HTTP/],
  ])('%s, then it works: nothing of the first attempt is in the file', async (name, failing, message) => {
    d.serve(failing, whole(d.fileOf(30)))
    await d.start(name.startsWith('silence') ? { request: impatientOnce() } : {})
    const { id } = await d.create()
    expect(await d.rig.finished(id)).toMatchObject({
      status: 'DONE',
      message: null,
      lines: { imported: 0, done: 30, skipped: 0, error: 0 },
    })
    expect(await d.stored(id)).toMatchObject({ download_attempts: 1, chunks: 1 })
    expect(Object.keys(await d.rig.counted(d.path))).toHaveLength(30)
    const [failed] = await d.rig.api.sql(
      "select data from outbox where object_id = $1 and data ->> 'message' is not null",
      [id],
    )
    expect(failed?.['data']).toMatchObject({ status: 'DOWNLOADING', content_bytes: 0 })
    expect(failed?.['data'].message).toMatch(message)
    expect(failed?.['data'].message).toMatch(/That was attempt 1 of 3; the next is made after 20\d\d-\S+Z\.$/)
  })

  test('a server that is away is asked as often as there are attempts, and then it is an ERROR that says so', async () => {
    d.serve(response => response.writeHead(503).end())
    await d.start()
    const { id } = await d.create(`${d.base}${d.path}?k=1`)
    const file = await d.rig.finished(id)
    expect(file['status']).toBe('ERROR')
    expect(file['message']).toBe(
      'The server answered 503. It was tried 3 times; create another file when the server can be reached.',
    )
    expect(d.asked).toHaveLength(3)
    expect(await d.stored(id)).toMatchObject({ download_query: null, download_attempts: 3, chunks: 0 })
  })

  test('a port nobody listens on', async () => {
    const { port } = await new Promise<AddressInfo>(resolve => {
      const brief = createServer().listen(0, '127.0.0.1', () => {
        const address = brief.address() as AddressInfo
        brief.close(() => resolve(address))
      })
    })
    d.rig.allow(`127.0.0.1:${port}`)
    await d.start()
    const file = await d.rig.finished((await d.create(`http://127.0.0.1:${port}/a`))['id'])
    expect(file).toMatchObject({ status: 'ERROR', message: expect.stringContaining('refused the connection') })
  })

  test('an attempt ends at its time, however well the content comes', async () => {
    d.serve((response, request) => {
      const more = setInterval(() => response.write('x'.repeat(100)), 100)
      request.socket.on('close', () => clearInterval(more))
    })
    await d.start({ deadlineMs: 1_200, waitsMs: [] })
    const file = await d.rig.finished((await d.create())['id'])
    expect(file['message']).toContain('not through after 1.2 seconds')
  })
})

describe('what another attempt would not mend is an ERROR at once', () => {
  test.each<[string, Answer, RegExp]>([
    ['404', response => response.writeHead(404).end(), /answered 404; check that the address is right/],
    ['401', response => response.writeHead(401).end(), /answered 401; .*needs no sign-in/],
    [
      'a redirect to another place',
      response => response.writeHead(302, { location: `${d.base}/elsewhere` }).end(),
      /answered 302, a redirect, which is not followed/,
    ],
    ['a part of the content', response => response.writeHead(206).end('a'), /answered 206/],
    [
      'too much by its length',
      response => response.writeHead(200, { 'content-length': DOWNLOAD_BYTES_MAX + 1 }).write('a'),
      /at most 4194304 bytes/,
    ],
    [
      'too much on the way',
      response => response.end(Buffer.alloc(DOWNLOAD_BYTES_MAX + 300_000, 'a')),
      /at most 4194304 bytes/,
    ],
    [
      'compressed content',
      response => response.writeHead(200, { 'content-encoding': 'gzip', 'content-length': 1 }).end('a'),
      /compressed/,
    ],
    [
      'content whose end is not marked',
      (_response, request) => request.socket.end('HTTP/1.1 200 OK\r\n\r\nreference\n'),
      /did not say how long/,
    ],
  ])('%s', async (_name, answer, message) => {
    d.serve(answer)
    d.serveAt('/elsewhere', whole(d.fileOf(1)))
    await d.start()
    const { id } = await d.create()
    const file = await d.rig.finished(id)
    expect(file).toMatchObject({ status: 'ERROR', message: expect.stringMatching(message) })
    expect(file['message']).toMatch(/Then create another file\.$/)
    expect(d.asked).toHaveLength(1)
    expect(await d.stored(id)).toMatchObject({ content_bytes: '0', chunks: 0, download_query: null })
  })

  test('more than the room of the platform', async () => {
    d.serve(whole(d.fileOf(100)))
    await d.start({ limits: { fileBytesMax: DOWNLOAD_BYTES_MAX, storageBytesMax: 1_024 } })
    const file = await d.rig.finished((await d.create())['id'])
    expect(file).toMatchObject({ status: 'ERROR', message: expect.stringContaining('would take more than 1024 bytes') })
  })

  test('an address that was allowed when the file was created and is no more: no connection arrives', async () => {
    d.serve(whole(d.fileOf(1)))
    const { id } = await d.create()
    await d.start({ policy: { ports: { 'https:': [443], 'http:': [] }, hosts: new Set() } })
    const file = await d.rig.finished(id)
    expect(file).toMatchObject({ status: 'ERROR', message: expect.stringContaining('does not allow http') })
    expect(d.connections).toBe(0)
  })
})
