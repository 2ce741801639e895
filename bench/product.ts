// The api and the worker as they ship, on the servers of a benchmark.
import { freePort } from '../infra/services/child.ts'
import { loginOf } from '../shared/testing/database-logins.ts'
import { DATABASE } from './measure/readable.ts'
import { type Running, startModule } from './processes.ts'
import type { Setup } from './setup.ts'

type Settings = Readonly<Record<string, string>>

/** Nothing listens there: no benchmark that uses it sends anything to the gateway or the identity server. */
const NOBODY = 'http://127.0.0.1:9'

const settingsOf = async ({ natsUrl }: Setup, clickhouseUrl: string) => ({
  HOST: '127.0.0.1',
  PORT: String(await freePort()),
  METRICS_PORT: '0',
  LOG_LEVEL: 'info',
  NATS_URL: natsUrl,
  CLICKHOUSE_URL: clickhouseUrl,
  CLICKHOUSE_DATABASE: DATABASE,
  INGEST_URL: NOBODY,
  IDENTITY_URL: NOBODY,
})

/** Starts an api, with settings of `own` and the folder of another checkout that was built, if any. `port` is where it listens. */
export async function startApi(
  setup: Setup,
  clickhouseUrl: string,
  { folder, ...more }: Settings & { readonly folder?: string } = {},
): Promise<Running> {
  const settings = {
    ...(await settingsOf(setup, clickhouseUrl)),
    DATABASE_URL: loginOf(setup.databaseUrl, 'millrace_app'),
    KEYS_DATABASE_URL: loginOf(setup.databaseUrl, 'millrace_gateway'),
    ...more,
  }
  return await startModule('api/main', settings, folder === undefined ? {} : { folder })
}

/** Starts a worker, with more settings or others, and waits until it is ready. */
export async function startWorker(setup: Setup, clickhouseUrl: string, more: Settings = {}): Promise<Running> {
  const settings = {
    ...(await settingsOf(setup, clickhouseUrl)),
    DATABASE_URL: loginOf(setup.databaseUrl, 'millrace_worker'),
    APP_DATABASE_URL: loginOf(setup.databaseUrl, 'millrace_app'),
    ...more,
  }
  return await startModule('api/worker', settings, { healthPort: Number(settings.PORT) })
}

/** As many workers as BENCH_WORKERS says, one by default; the first with these settings. */
export async function startWorkers(
  setup: Setup,
  clickhouseUrl: string,
  more: Settings = {},
): Promise<{ readonly worker: Running; readonly all: readonly Running[]; readonly pids: Record<string, number> }> {
  const worker = await startWorker(setup, clickhouseUrl, more)
  const all = [worker]
  while (all.length < Number(process.env['BENCH_WORKERS'] ?? 1)) all.push(await startWorker(setup, clickhouseUrl))
  const pids = all.map(({ pid }, place) => [place === 0 ? 'worker' : `worker ${place + 1}`, pid])
  return { worker, all, pids: Object.fromEntries(pids) }
}

/** For a benchmark that sends more than a client may. */
export const UNLIMITED: Settings = { API_RATE_CREDENTIAL: '100000', API_RATE_ADDRESS: '100000' }
