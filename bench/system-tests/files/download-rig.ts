// What the tests of downloads share: the rig of files, and a server of ours that files are fetched from and that answers as a test
// says. It is on this machine, which is allowed by its host and port alone.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Jobs } from '../../../api/jobs/runner.ts'
import type { Row } from '../../../api/testing/wire.ts'
import { type FilesRig, must, openFilesRig } from './rig.ts'

export type Answer = (response: ServerResponse, request: IncomingMessage) => unknown

export type DownloadRig = {
  readonly rig: FilesRig
  /** Of the server. */
  readonly base: string
  /** Of the test at work: no other test asks for it. */
  readonly path: string
  /** Since the test began. */
  readonly connections: number
  readonly asked: readonly IncomingMessage[]
  /** Begins a test. */
  begin(): void
  /** What `path` answers, the first time, the second time and so on; the last answer stays. */
  serve(...answers: Answer[]): void
  serveAt(path: string, ...answers: Answer[]): void
  /** A file of events whose references begin with `path`. */
  fileOf(lines: number): string
  /** The body that creates a file which is fetched from there. */
  bodyOf(location: string): Row
  create(location?: string): Promise<Row>
  /** What is kept of a file beyond what is shown. */
  stored(id: string): Promise<Row | undefined>
  /** Downloads until the test ends, or `stop`. */
  start(more?: Parameters<FilesRig['startDownloads']>[0]): Promise<void>
  stop(): Promise<void>
  close(): Promise<void>
}

/** An answer of 200 with its length and all of it. */
export const whole =
  (text: string | Buffer): Answer =>
  response =>
    response.writeHead(200, { 'content-length': Buffer.byteLength(text) }).end(text)

export async function openDownloadRig(): Promise<DownloadRig> {
  const rig = await openFilesRig()
  const meter = await rig.meter()
  const working = await rig.startJobs()
  const of = { path: '', connections: 0, asked: [] as IncomingMessage[] }
  const answers = new Map<string, Answer[]>()
  const server = createServer((request, response) => {
    of.asked.push(request)
    const list = answers.get(request.url?.split('?')[0] ?? '') ?? []
    const answer = list.length > 1 ? list.shift() : list[0]
    if (answer) answer(response, request)
    else response.writeHead(404).end()
  })
  server.on('connection', () => {
    of.connections += 1
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  rig.allow(`127.0.0.1:${port}`)
  const base = `http://127.0.0.1:${port}`
  let downloads: Jobs | null = null
  const stop = async (): Promise<void> => {
    await downloads?.close()
    downloads = null
  }
  const serveAt = (path: string, ...list: Answer[]): void => void answers.set(path, list)
  const bodyOf = (location: string): Row => ({
    reference: rig.tenant.seed.unique('file'),
    file_name: 'usage.csv',
    type: 'METER_DATA',
    processing_type: 'DEFAULT',
    meter_data: { meter_id: meter.id },
    download_settings: { external_location: location },
  })
  return {
    rig,
    base,
    get path() {
      return of.path
    },
    get connections() {
      return of.connections
    },
    get asked() {
      return of.asked
    },
    begin: () => Object.assign(of, { path: `/${rig.tenant.seed.unique('d')}.csv`, connections: 0, asked: [] }),
    serve: (...list) => serveAt(of.path, ...list),
    serveAt,
    fileOf: lines => meter.header + Array.from({ length: lines }, (_, at) => `${of.path}-${at},acme,,,1,,\n`).join(''),
    bodyOf,
    create: (location = `${base}${of.path}`) => must(rig.tenant, 'POST', '/v1/files', bodyOf(location)),
    stored: async id => {
      const [file] = await rig.api.sql(
        `select status, download_query, download_attempts, content_bytes, worked_until,
           (select count(*)::int from file_chunks c where c.file_id = f.id) as chunks from files f where id = $1`,
        [id],
      )
      return file
    },
    start: async more => {
      downloads = await rig.startDownloads(more)
    },
    stop,
    close: async () => {
      await stop()
      await working.close()
      server.closeAllConnections()
      server.close()
      await rig.close()
    },
  }
}
