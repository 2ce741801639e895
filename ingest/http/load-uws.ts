// Finds a uWebSockets.js that this machine can load. Its authors do not publish to npm, so it comes in packages that carry
// the binaries; native code is loaded when this function is called, never by an import.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { forOlderGlibc } from './older-glibc.ts'

export type UwsRequest = {
  getQuery(): string | undefined
  forEach(visit: (name: string, value: string) => void): void
}

export type UwsResponse = {
  writeStatus(status: string | Uint8Array): UwsResponse
  writeHeader(name: string, value: string): UwsResponse
  end(body: string | Uint8Array, closeConnection?: boolean): UwsResponse
  /** Sends what the client takes now. `done`: all `totalBytes` are sent or accepted for it. */
  tryEnd(part: Uint8Array, totalBytes: number): [ok: boolean, done: boolean]
  onWritable(handler: (sentBytes: number) => boolean): UwsResponse
  cork(write: () => void): UwsResponse
  onAborted(handler: () => void): UwsResponse
  onData(handler: (chunk: ArrayBuffer, isLast: boolean) => void): UwsResponse
  close(): UwsResponse
}

export type UwsHandler = (res: UwsResponse, req: UwsRequest) => void
export type UwsApp = {
  get(pattern: string, handler: UwsHandler): UwsApp
  post(pattern: string, handler: UwsHandler): UwsApp
  any(pattern: string, handler: UwsHandler): UwsApp
  /** Called for every connection that comes (1) and goes (-1); since 20.41. */
  filter(report: (res: UwsResponse, change: number) => void): UwsApp
  /** How long a new connection may take to send a head that can be read; not in every build, and counted in steps of 4 s. */
  setIdleTimeout?(seconds: number): void
  /** How long an answered connection may wait for its next request; likewise. */
  setResponseTimeout?(seconds: number): void
  listen(host: string, port: number, options: number, done: (socket: object | false) => void): UwsApp
}

export type Uws = {
  App(): UwsApp
  /** Without this option a second server on the port is not refused but given half of the connections. */
  readonly LIBUS_LISTEN_EXCLUSIVE_PORT: number
  us_listen_socket_close(socket: object): void
  us_socket_local_port(socket: object): number
  _cfg?(option: string): void
}

const binary = `uws_${process.platform}_${process.arch}_${process.versions.modules}.node`
const CURRENT = '@btc-vision/uwebsockets.js'

/** The current build as a copy that an older glibc takes; the copy is gone from the disk when it is loaded. */
function loadForOlderGlibc(require: NodeJS.Require): unknown {
  const original = join(dirname(require.resolve(CURRENT)), binary)
  const folder = mkdtempSync(join(tmpdir(), 'millrace-uws-'))
  try {
    const copy = join(folder, binary)
    writeFileSync(copy, forOlderGlibc(readFileSync(original)), { mode: 0o500 })
    return require(copy)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

type Candidate = {
  readonly name: string
  readonly note: string
  /** What is loaded, if it is not the module of that name. */
  readonly load?: (require: NodeJS.Require) => unknown
}
const CANDIDATES: readonly Candidate[] = [
  { name: 'uWebSockets.js', note: "the authors' own release" },
  { name: CURRENT, note: 'Node 20 to 25, glibc 2.38' },
  { name: `${CURRENT} for an older glibc`, note: 'Node 20 to 25, glibc 2.36', load: loadForOlderGlibc },
]

/** The first uWebSockets.js that loads. Throws one Error that says which were tried, why each failed, and what to do. */
export function loadUws(candidates: readonly Candidate[] = CANDIDATES): { uws: Uws; name: string } {
  const require = createRequire(import.meta.url)
  const faults: string[] = []
  for (const { name, note, load } of candidates) {
    try {
      const uws = (load ? load(require) : require(name)) as Uws
      // Builds before 20.41 leave requests with ordinary header names unanswered for 10 s, which stops a proxy in front.
      if (!('filter' in uws.App()))
        throw new Error('it is older than 20.41, which leaves some requests without an answer')
      uws._cfg?.('silent') // no `uWebSockets: 20` header on every answer
      return { uws, name }
    } catch (error) {
      faults.push(`${name} (${note}): ${reason(error)}`)
    }
  }
  throw new Error(
    `uWebSockets.js does not load on Node ${process.version}, ${process.platform} ${process.arch}, glibc ${glibcVersion()}.\n  ` +
      `${faults.join('\n  ')}\n` +
      'Use Node 20, 22 or 24 on a system with glibc 2.36 or newer (Debian 12, Ubuntu 24.04), or install the ' +
      "authors' release: npm install uNetworking/uWebSockets.js#v20.57.0",
  )
}

// The loaders wrap the linker's message in advice of their own; the line that names the cause is the last.
function reason(error: unknown): string {
  const lines = (error instanceof Error ? error.message : String(error)).split('\n').filter(line => line.trim() !== '')
  const cause = lines.find(line => line.includes('GLIBC') || line.includes('Cannot find'))
  return (cause ?? lines[0] ?? 'unknown').slice(0, 300)
}

function glibcVersion(): string {
  const report = process.report.getReport() as { header?: { glibcVersionRuntime?: string } }
  return report.header?.glibcVersionRuntime ?? 'none'
}
