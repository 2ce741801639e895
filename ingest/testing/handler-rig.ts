// The whole way of a request, from its headers to its answer, without sockets and servers: for millions of requests.
import type { ApiKeyIdentity, LiveKeys } from '../../shared/access/live-keys.ts'
import { silentLogger } from '../../shared/process/logger.ts'
import { ingestHandler } from '../events/ingest.ts'
import type { Lines } from '../events/lines.ts'
import { Exchange } from '../http/exchange.ts'
import type { UwsRequest, UwsResponse } from '../http/load-uws.ts'
import { newCounts } from '../metrics.ts'
import { METERS, NOW } from './samples.ts'

export type Outcome = { readonly status: number; readonly body: string; readonly logged: readonly string[] }

const IDENTITY: ApiKeyIdentity = {
  platformId: 'plat_0000000000000000000001',
  environment: 'LIVE',
  keyRowId: 'akey_0000000000000000000001',
  roleType: 'ADMINISTRATOR',
  originalUserIds: null,
  expiresAt: null,
}
const BATCH_MAX = 50
const BODY_BYTES_MAX = 262_144

const keys: LiveKeys = {
  load: async () => undefined,
  peek: () => IDENTITY,
  find: async () => IDENTITY,
  close: async () => undefined,
}

/** A gateway's handlers with METERS and a log that takes everything. `send` resolves with what a body led to. */
export function createHandlerRig(): { send(form: 'single' | 'list', body: Buffer): Promise<Outcome> } {
  let logged: string[] = []
  let arriving: Buffer = Buffer.alloc(0)
  const deps = {
    keys,
    meters: {
      load: async () => undefined,
      of: () => METERS,
      refresh: async () => undefined,
      close: async () => undefined,
    },
    limits: {
      load: async () => undefined,
      of: () => ({ eventsPerSecond: 1e9, batchMax: BATCH_MAX }),
      version: () => 0,
      close: async () => undefined,
    },
    rates: { take: () => 0, measure: () => new Map<string, number>() },
    publisher: {
      offer: (lines: Lines, settled: (outcome: 'acked' | 'failed') => void) => {
        for (let line = 0; line < lines.count; line += 1) {
          logged.push(lines.output.bytes.toString('utf8', lines.startOf(line), lines.endOf(line)))
        }
        settled('acked')
        return 'taken' as const
      },
      drained: async () => undefined,
      counts: {
        sparedRecent: 0,
        sparedInFlight: 0,
        messages: 0,
        messagesFailed: 0,
        linesAcked: 0,
        bytesQueued: 0,
        bytesInFlight: 0,
      },
    },
    repeats: { begin: () => null },
    readMessage: async () => null,
    readEvent: async () => null,
    subscriptions: { check: () => undefined },
    tenantCounts: { accepted: () => undefined, refused: () => undefined },
    bodies: {
      read: (_exchange: Exchange, _length: number | null, done: (body: Buffer) => void) => done(arriving),
      close: () => undefined,
    },
    clock: { now: () => NOW },
    logger: silentLogger,
    counts: newCounts(),
    partitions: 4,
    mayBeChunked: true,
  }
  const handlers = { single: ingestHandler(deps, 'single'), list: ingestHandler(deps, 'list') }
  return {
    send: async (form, body) => {
      if (body.length > BODY_BYTES_MAX) throw new RangeError('the reader of bodies would not let this in')
      logged = []
      arriving = body
      const { response, answer } = newResponse()
      handlers[form](new Exchange(response, OBSERVER), request)
      // A meter that is not known is looked for once more, which takes a few turns.
      for (let turn = 0; turn < 10 && answer.status === 0; turn += 1) await null
      return { ...answer, logged }
    },
  }
}

const HEADERS: readonly [string, string][] = [
  ['x-api-key', 'key'],
  ['content-type', 'application/json'],
  ['transfer-encoding', 'chunked'],
]
const request: UwsRequest = {
  getQuery: () => '',
  forEach: visit => {
    for (const [name, value] of HEADERS) visit(name, value)
  },
}
const OBSERVER = { opened: () => undefined, ended: () => undefined, refused: () => undefined, closing: () => false }

function newResponse(): { response: UwsResponse; answer: { status: number; body: string } } {
  const answer = { status: 0, body: '' }
  const take = (body: string | Uint8Array): void => {
    answer.body = typeof body === 'string' ? body : Buffer.from(body).toString('utf8')
  }
  const response: UwsResponse = {
    writeStatus: status => {
      answer.status = Number(Buffer.from(status).toString('latin1', 0, 3))
      return response
    },
    writeHeader: () => response,
    end: body => {
      take(body)
      return response
    },
    tryEnd: body => {
      take(body)
      return [true, true]
    },
    onWritable: () => response,
    cork: write => {
      write()
      return response
    },
    onAborted: () => response,
    onData: () => response,
    close: () => response,
  }
  return { response, answer }
}
