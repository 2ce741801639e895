// `npm run build`, then `node dist/bench/large-file/main.js [lines]`: one large file through the product as it ships, with the memory and the processor time
// each process needed. The file is made while it is sent, so that nothing here holds it either.

import { readFileSync } from 'node:fs'
import { Readable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { freePort } from '../../infra/services/child.ts'
import { testLogins } from '../../shared/testing/database-logins.ts'
import { METER_REFERENCE, PROPERTY_REFERENCE, VALUE_REFERENCES } from '../load/events.ts'
import { DATABASE } from '../measure/readable.ts'
import { type Running, startModule } from '../processes.ts'
import { peakMemoryMiB } from '../report.ts'
import { type Setup, setUp } from '../setup.ts'

const LINES = Number(process.argv[2] ?? 1_000_000)
const RATE = '100000000'
const TICKS_A_SECOND = 100

type File = {
  id: string
  status: string
  number_of_lines: number
  lines: Record<string, number>
  content_bytes: number
}

/** User and system time of a process so far, in seconds. */
function cpuSeconds(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? []
  return (Number(fields[11]) + Number(fields[12])) / TICKS_A_SECOND
}

function* csv(lines: number): Generator<Buffer> {
  const values = VALUE_REFERENCES.map(reference => `meter_values.${reference}.number`)
  const header = ['reference', 'customer_reference', 'timestamp', `meter_properties.${PROPERTY_REFERENCE}`, ...values]
  yield Buffer.from(`${header.join(',')}\n`)
  for (let at = 0; at < lines; ) {
    let text = ''
    for (const end = Math.min(at + 1_000, lines); at < end; at += 1) {
      text += `file-${String(at).padStart(12, '0')},customer-${at % 997},2026-01-16T18:17:${String(at % 60).padStart(2, '0')}Z,code-1,${at % 5_000},10\n`
    }
    yield Buffer.from(text)
  }
}

async function startAll(
  setup: Setup,
): Promise<Record<'gateway' | 'aggregator' | 'worker' | 'api', Running> & { identity: Running }> {
  const clickhouseUrl = await setup.startClickHouse()
  const aggregator = await setup.startAggregator(clickhouseUrl, DATABASE)
  const shared = {
    HOST: '127.0.0.1',
    METRICS_PORT: '0',
    LOG_LEVEL: 'info',
    NATS_URL: setup.natsUrl,
    CLICKHOUSE_URL: clickhouseUrl,
    CLICKHOUSE_DATABASE: DATABASE,
    INGEST_RATE_LIVE: RATE,
    FILE_RATE_PERCENT: '100',
  }
  const { millrace_app, millrace_gateway, millrace_identity, millrace_worker } = testLogins(setup.databaseUrl)
  const start = async (module: string, env: Record<string, string>): Promise<Running> => {
    const port = await freePort()
    return await startModule(module, { ...shared, ...env, PORT: String(port) }, { healthPort: port })
  }
  const gateway = await start('ingest/main', { DATABASE_URL: millrace_gateway })
  const identity = await start('identity/main', { DATABASE_URL: millrace_identity })
  const INGEST_URL = `http://127.0.0.1:${gateway.port}`
  const worker = await start('api/worker', {
    DATABASE_URL: millrace_worker,
    APP_DATABASE_URL: millrace_app,
    INGEST_URL,
  })
  const api = await start('api/main', {
    DATABASE_URL: millrace_app,
    KEYS_DATABASE_URL: millrace_gateway,
    INGEST_URL,
    IDENTITY_URL: `http://127.0.0.1:${identity.port}`,
  })
  return { gateway, aggregator, worker, api, identity }
}

async function measure(setup: Setup): Promise<void> {
  const { identity, ...all } = await startAll(setup)
  const headers = { 'x-api-key': setup.apiKey }
  const call = async (method: string, path: string, init: RequestInit = {}): Promise<File> => {
    const response = await fetch(`http://127.0.0.1:${all.api.port}${path}`, { method, ...init })
    const body = await response.json()
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${JSON.stringify(body)}`)
    return body as File
  }
  try {
    const meter = await call('GET', `/v1/meters/${METER_REFERENCE}`, { headers })
    const { id } = await call('POST', '/v1/files', {
      headers: { ...headers, 'content-type': 'application/json' },
      body: JSON.stringify({
        reference: 'measured',
        file_name: 'usage.csv',
        type: 'METER_DATA',
        processing_type: 'DEFAULT',
        meter_data: { meter_id: meter.id },
      }),
    })
    const marks: [string, number][] = [['start', performance.now()]]
    const body = Readable.toWeb(Readable.from(csv(LINES))) as ReadableStream
    await call('PUT', `/v1/files/${id}/content`, {
      headers: { ...headers, 'content-type': 'text/csv' },
      body,
      duplex: 'half',
    } as RequestInit)
    marks.push(['uploaded', performance.now()])
    let file: File
    do {
      await sleep(250)
      file = await call('GET', `/v1/files/${id}`, { headers })
      if (file.status !== marks.at(-1)?.[0]) marks.push([file.status, performance.now()])
    } while (file.status !== 'DONE' && file.status !== 'ERROR')
    console.log(
      `${LINES} lines, ${(file.content_bytes / 1e6).toFixed(1)} MB: ${file.status} ${JSON.stringify(file.lines)}`,
    )
    for (const [index, [name, at]] of marks.entries()) {
      const before = marks[index - 1]
      if (before) console.log(`  ${name.padEnd(16)} after ${((at - before[1]) / 1_000).toFixed(1)} s`)
    }
    for (const [name, { pid }] of Object.entries(all)) {
      console.log(
        `  ${name.padEnd(11)} peak ${peakMemoryMiB(pid)} MiB, ${cpuSeconds(pid).toFixed(1)} s of processor time`,
      )
    }
  } finally {
    for (const each of [...Object.values(all), identity].reverse()) await each.stop()
  }
}

const setup = await setUp()
try {
  await measure(setup)
} finally {
  await setup.stop()
}
