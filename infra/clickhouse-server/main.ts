// The embedded ClickHouse: started as a child by infra/services/clickhouse.ts when CLICKHOUSE_URL is unset.
import { createLogger } from '../../shared/process/logger.ts'
import { openEngine } from './engine.ts'
import { createClickHouseServer } from './server.ts'

function required(name: string): string {
  const value = process.env[name]
  if (!value) throw new Error(`${name} is not set; this process is started by the embedded start, not by hand`)
  return value
}

const log = createLogger('clickhouse', process.env['LOG_LEVEL'] ?? 'info')
const engine = openEngine(required('CLICKHOUSE_DATA'))
const server = createClickHouseServer({ engine, password: required('CLICKHOUSE_PASSWORD'), log })

// A keep-alive connection outlives any pause of a client, so the client never meets a socket closed under its request.
server.keepAliveTimeout = 120_000
server.requestTimeout = 0

let stopping = false
async function stop(): Promise<void> {
  if (stopping) return
  stopping = true
  const closed = new Promise<void>(resolve => server.close(() => resolve()))
  server.closeIdleConnections()
  await closed
  await engine.close()
  log.info({}, 'stopped')
  process.exit(0)
}
process.on('SIGTERM', () => void stop())
process.on('SIGINT', () => void stop())

const port = Number(required('PORT'))
server.listen(port, '127.0.0.1', () => log.info({ port, version: engine.version }, 'embedded ClickHouse listens'))
