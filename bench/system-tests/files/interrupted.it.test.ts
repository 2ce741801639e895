// Files that are broken off: by a gateway that asks for patience or is away, by a worker that stops, and by two at once.
import type { Dispatcher } from 'undici'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { takeFile } from '../../../api/modules/ingestion/files/process/lease.ts'
import { workOnFile } from '../../../api/modules/ingestion/files/process/work-on-file.ts'
import { type FilesRig, type MeterParts, must, openFilesRig } from './rig.ts'

vi.setConfig({ testTimeout: 180_000 })

let rig: FilesRig
let meter: MeterParts
beforeAll(async () => {
  rig = await openFilesRig()
  meter = await rig.meter()
})
afterAll(() => rig?.close())

const fileOf = (prefix: string, lines: number) =>
  meter.header + Array.from({ length: lines }, (_, at) => `${prefix}-${at},acme,,,1,,\n`).join('')
const upload = (text: string) => rig.upload(text, { meter_data: { meter_id: meter.id } })
const unique = () => rig.tenant.seed.unique('i')
const take = (workerId: string, stop = new AbortController()) =>
  takeFile(rig.api.database, rig.tenant.tenant, { workerId, stop: stop.signal, stage: 'process' })

test('a gateway that is away or asks for patience delays a file and loses no line of it', async () => {
  const u = unique()
  let calls = 0
  const { gateway } = rig.deps.files
  const moody = {
    request: async (options: Dispatcher.RequestOptions) => {
      calls += 1
      if (calls % 4 === 0) throw new Error('connect ECONNREFUSED')
      const answer = await gateway.request(options)
      // Accepted, but the worker never hears of it.
      if (calls % 7 === 0) throw new Error('other side closed')
      return answer
    },
  } as Dispatcher
  const jobs = await rig.startJobs({ gateway: moody })
  const { id } = await upload(fileOf(u, 1_200))
  expect((await rig.finished(id))['lines']).toEqual({ imported: 0, done: 1_200, skipped: 0, error: 0 })
  await jobs.close()
  expect(Object.keys(await rig.counted(u))).toHaveLength(1_200)
})

test.each([
  // Blocks are saved twenty at a time, and looked up ten at a time.
  ['files.after-import', 21_000, 2],
  ['files.after-check', 21_000, 3],
  ['files.after-send', 11_000, 3],
  ['files.after-block', 11_000, 3],
])(
  'broken off at %s, again and again, a file goes on: each line counts once and is no repeat of itself',
  async (point, lines, breaksMax) => {
    const u = unique()
    const { id } = await upload(fileOf(u, lines))
    let breaks = 0
    const failpoint = async (name: string) => {
      if (name !== point || breaks >= breaksMax) return
      breaks += 1
      throw new Error('broken off')
    }
    for (let attempt = 0; ; attempt += 1) {
      const lease = await take(`worker-${attempt}`)
      if (lease === null) break
      await workOnFile({ ...rig.deps.files, failpoint }, lease).catch(() => undefined)
      await lease.release()
    }
    expect(breaks).toBe(breaksMax)
    const file = await must(rig.tenant, 'GET', `/v1/files/${id}`)
    expect(file).toMatchObject({
      status: 'DONE',
      number_of_lines: lines,
      lines: { imported: 0, done: lines, skipped: 0, error: 0 },
    })
    expect(Object.keys(await rig.counted(u))).toHaveLength(lines)
  },
)

test('a worker that comes back after another took its file changes nothing any more', async () => {
  const u = unique()
  const { id } = await upload(fileOf(u, 3_000))
  const first = await take('first')
  if (first === null) throw new Error('there is a file')
  expect(await take('second')).toBe(null)
  let reached: () => void = () => undefined
  const sent = new Promise<void>(resolve => {
    reached = resolve
  })
  let goOn: () => void = () => undefined
  const paused = new Promise<void>(resolve => {
    goOn = resolve
  })
  const sleeping = workOnFile(
    {
      ...rig.deps.files,
      failpoint: async name => {
        if (name !== 'files.after-send') return
        reached()
        await paused
      },
    },
    first,
  ).catch(error => String(error))
  await sent
  await rig.api.sql("update files set worked_until = now() - interval '1 second' where id = $1", [id])
  const second = await take('second')
  if (second === null) throw new Error('the lease has ended')
  expect(await workOnFile(rig.deps.files, second)).toBe('DONE')
  await second.release()
  goOn()
  // It hears of it at its next change, or while it waits.
  expect(await sleeping).toMatch(/another worker|aborted/)
  await first.release()
  expect((await must(rig.tenant, 'GET', `/v1/files/${id}`))['lines']).toEqual({
    imported: 0,
    done: 3_000,
    skipped: 0,
    error: 0,
  })
  expect(Object.keys(await rig.counted(u))).toHaveLength(3_000)
})

test('a worker that stops gives its file back at once; several workers share many files', async () => {
  const u = unique()
  let reached: () => void = () => undefined
  const begun = new Promise<void>(resolve => {
    reached = resolve
  })
  const stopping = await rig.startJobs({
    failpoint: async name => (name === 'files.after-block' ? reached() : undefined),
  })
  const files = [await upload(fileOf(`${u}-0`, 20_000))]
  await begun
  await stopping.close()
  const [left] = await rig.api.sql('select status, worked_until from files where id = $1', [files[0]?.['id']])
  expect(left).toEqual({ status: 'PROCESSING', worked_until: null })
  for (let each = 1; each < 6; each += 1) files.push(await upload(fileOf(`${u}-${each}`, 500)))
  const workers = [await rig.startJobs(), await rig.startJobs()]
  for (const file of files) expect((await rig.finished(file['id']))['status']).toBe('DONE')
  for (const worker of workers) await worker.close()
  expect(Object.keys(await rig.counted(u))).toHaveLength(22_500)
})

test('a file that fails again and again holds up no other', async () => {
  const u = unique()
  const poisoned = await upload(fileOf(`${u}-bad`, 1))
  const sound = await upload(fileOf(`${u}-good`, 1))
  const first = await take('worker')
  expect(first?.fileId).toBe(poisoned['id'])
  await first?.release()
  const second = await take('worker')
  expect(second?.fileId).toBe(sound['id'])
  await second?.release()
})
