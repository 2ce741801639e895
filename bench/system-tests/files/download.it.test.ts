// Files that are fetched from an address: what is asked for, what is shown of it, and that every line counts once.
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest'
import { downloadFile } from '../../../api/modules/ingestion/files/download/download-file.ts'
import { takeFile } from '../../../api/modules/ingestion/files/process/lease.ts'
import { createOutboundRequest } from '../../../shared/outbound/outbound-request.ts'
import { type DownloadRig, openDownloadRig, whole } from './download-rig.ts'

vi.setConfig({ testTimeout: 180_000 })

let d: DownloadRig
beforeAll(async () => {
  d = await openDownloadRig()
})
afterAll(() => d?.close())
beforeEach(() => d.begin())
afterEach(() => d.stop())

test('a file is downloaded and its lines count, once each; what it was says so in order', async () => {
  d.serve(whole(d.fileOf(3_000)))
  await d.start()
  const created = await d.create()
  expect(created).toMatchObject({
    status: 'TO_BE_DOWNLOADED',
    download_settings: { external_location: d.base + d.path },
  })
  const file = await d.rig.finished(created['id'])
  expect(file).toMatchObject({
    status: 'DONE',
    message: null,
    number_of_lines: 3_000,
    content_bytes: Buffer.byteLength(d.fileOf(3_000)),
    lines: { imported: 0, done: 3_000, skipped: 0, error: 0 },
  })
  expect(Object.keys(await d.rig.counted(d.path))).toHaveLength(3_000)
  const events = await d.rig.api.sql(
    "select data ->> 'status' as status from outbox where object_id = $1 order by seq",
    [created['id']],
  )
  expect(events.map(event => event['status'])).toEqual([
    'TO_BE_DOWNLOADED',
    'DOWNLOADING',
    'DOWNLOADED',
    'IMPORTING',
    'IMPORTED',
    'TO_BE_PROCESSED',
    'PROCESSING',
    'DONE',
  ])
})

test('what follows the ? is sent to the server and shown to nobody, and is gone when it has served', async () => {
  const secret = `s3cret-${d.path.slice(1, -4)}`
  d.serve(response => response.writeHead(503).end(), whole(d.fileOf(3)))
  await d.start()
  const created = await d.create(`${d.base}${d.path}?signature=${secret}&a=%2F#part`)
  expect(created['download_settings']).toEqual({ external_location: `${d.base}${d.path}` })
  const done = await d.rig.finished(created['id'])
  expect(done['status']).toBe('DONE')
  expect(d.asked.map(request => request.url)).toEqual(new Array(2).fill(`${d.path}?signature=${secret}&a=%2F`))
  const traces = await d.rig.api.sql('select o::text from outbox o where object_id = $1', [created['id']])
  const jobs = await d.rig.api.sql('select j::text from graphile_worker._private_jobs j')
  expect(JSON.stringify([created, done, traces, jobs])).not.toContain(secret)
  const [kept] = await d.rig.api.sql('select count(*)::int as files from files f where f::text like $1', [
    `%${secret}%`,
  ])
  expect(kept).toEqual({ files: 0 })
})

test('no credential and nothing of ours is sent', async () => {
  d.serve(whole(d.fileOf(1)))
  await d.start()
  await d.rig.finished((await d.create())['id'])
  expect(d.asked[0]?.headers).toEqual({
    host: new URL(d.base).host,
    connection: 'close',
    accept: 'text/csv, */*;q=0.5',
    'accept-encoding': 'identity',
    'user-agent': 'Millrace',
  })
})

test('one that comes slowly, in chunks and without a length, comes', async () => {
  const text = d.fileOf(40)
  d.serve(async response => {
    for (let at = 0; at < text.length; at += 400) {
      response.write(text.slice(at, at + 400))
      await sleep(10)
    }
    response.end()
  })
  await d.start()
  expect((await d.rig.finished((await d.create())['id']))['lines'].done).toBe(40)
})

test.each(['http://localhost.:1/', 'https://169.254.169.254/latest', 'http://2130706433/', 'https://[::ffff:7f00:1]/'])(
  '%s is refused on save, by name and without the address',
  async location => {
    const { status, body } = await d.rig.tenant.call('POST', '/v1/files', d.bodyOf(location))
    expect([status, body['code'], body['field']]).toEqual([400, 'INVALID_FIELD', 'download_settings.external_location'])
    expect(body['message']).toMatch(/^The address .*\.$/)
    expect(d.connections).toBe(0)
  },
)

test('a name that leads to this machine is found out at the attempt: no connection arrives', async () => {
  d.serve(whole(d.fileOf(1)))
  const { port } = new URL(d.base)
  d.rig.allow(`files.test:${port}`)
  const { id } = await d.create(`http://files.test:${port}${d.path}`)
  const policy = { ports: { 'https:': [], 'http:': [Number(port)] }, hosts: new Set<string>() }
  const times = { connectMs: 60_000, headMs: 60_000, silenceMs: 60_000 }
  const resolve = async () => [{ address: '127.0.0.1', family: 4 }]
  const request = createOutboundRequest(policy, times, { resolve })
  await d.start({ policy, request })
  const file = await d.rig.finished(id)
  expect(file).toMatchObject({
    status: 'ERROR',
    message: expect.stringContaining('does not lead to the public internet'),
  })
  expect(file['message']).not.toContain('127.0.0.1')
  expect(d.connections).toBe(0)
})

test('broken off after any step by a fault of ours, a file goes on, no attempt counts, and each line counts once', async () => {
  // References nearly as long as they may be: more than a megabyte in few lines.
  const lines = 4_300
  d.serve(whole(d.fileOf(lines).replaceAll(',acme', `${'x'.repeat(230)},acme`)))
  const { id } = await d.create()
  // Its beginning, its first megabyte, the rest of it; then the file is DOWNLOADED, broken off or not.
  for (let breakAt = 1; ; breakAt += 1) {
    const lease = await takeFile(d.rig.api.database, d.rig.tenant.tenant, {
      workerId: `worker-${breakAt}`,
      stop: new AbortController().signal,
      stage: 'download',
    })
    if (lease === null) {
      expect(breakAt).toBe(5)
      break
    }
    let step = 0
    const failpoint = async (): Promise<void> => {
      step += 1
      if (step === breakAt) throw new Error('broken off')
    }
    await expect(downloadFile({ ...d.rig.download, failpoint }, lease)).rejects.toThrow('broken off')
    await lease.release()
  }
  expect(d.asked).toHaveLength(3)
  expect(await d.rig.finished(id)).toMatchObject({ status: 'DONE', lines: { done: lines } })
  expect((await d.stored(id))?.['download_attempts']).toBe(0)
  expect(Object.keys(await d.rig.counted(d.path))).toHaveLength(lines)
})

test('a worker that stops in the middle of a download gives it back at once, and another goes on', async () => {
  const text = d.fileOf(9_000)
  d.serve(
    // The first never ends by itself.
    response => response.writeHead(200, { 'content-length': Buffer.byteLength(text) + 1 }).write(text),
    whole(text),
  )
  await d.start()
  const { id } = await d.create()
  await expect.poll(() => d.asked.length).toBe(1)
  await d.stop()
  const [left] = await d.rig.api.sql('select status, worked_until, download_attempts from files where id = $1', [id])
  expect(left).toEqual({ status: 'DOWNLOADING', worked_until: null, download_attempts: 0 })
  await d.start()
  expect((await d.rig.finished(id))['lines'].done).toBe(9_000)
})

test('a file that waits for its next attempt holds up no other, neither a download nor an upload', async () => {
  d.serve(response => response.writeHead(503).end())
  await d.start({ waitsMs: [3_600_000] })
  const { id } = await d.create()
  await expect.poll(async () => (await d.stored(id))?.['download_attempts']).toBe(1)
  const second = `${d.path}-second`
  d.serveAt(second, whole(d.fileOf(2)))
  expect((await d.rig.finished((await d.create(`${d.base}${second}`))['id']))['status']).toBe('DONE')
  const uploaded = await d.rig.upload(d.fileOf(3), { meter_data: d.bodyOf('')['meter_data'] })
  expect((await d.rig.finished(uploaded['id']))['lines']).toEqual({ imported: 0, done: 1, skipped: 2, error: 0 })
  expect(await d.stored(id)).toMatchObject({ status: 'DOWNLOADING', download_attempts: 1 })
})

test('content and download_settings at once are refused, and a file to be downloaded takes no upload', async () => {
  const both = await d.rig.tenant.call('POST', '/v1/files', {
    ...d.bodyOf(`${d.base}${d.path}`),
    content: Buffer.from('reference\n').toString('base64'),
  })
  expect([both.status, both.body['code'], both.body['field']]).toEqual([400, 'INVALID_FIELD', 'download_settings'])
  const none = await d.rig.tenant.call('POST', '/v1/files', { ...d.bodyOf(d.base), download_settings: {} })
  expect([none.status, none.body['field']]).toEqual([400, 'download_settings.external_location'])
  const { id } = await d.create()
  const put = await d.rig.tenant.call('PUT', `/v1/files/${id}/content`, Buffer.from('reference\n'), {
    'content-type': 'text/csv',
  })
  expect([put.status, put.body['code'], put.body['field']]).toEqual([400, 'INVALID_OPERATION', 'status'])
  const patch = await d.rig.tenant.call('PATCH', `/v1/files/${id}`, {
    download_settings: { external_location: `${d.base}/other` },
  })
  expect([patch.status, patch.body['field']]).toEqual([400, 'download_settings'])
})
