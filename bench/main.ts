// npm run bench [name …]: every path beside its bare limit, in one run on one machine, as ratios, and what has a most.
import { loginOf } from '../shared/testing/database-logins.ts'
import { billingRuns, total } from './billing-run/billing-run.ts'
import { batchTurn, singleTurn } from './measure/ingest.ts'
import { DATABASE, readableTurn } from './measure/readable.ts'
import { startCpuMs } from './measure/start.ts'
import { visibleMs } from './measure/visible.ts'
import { type Running, startModule } from './processes.ts'
import { type Measured, measure, peakMemoryMiB, report } from './report.ts'
import { type Setup, setUp } from './setup.ts'
import { BUDGET_MS, usageOfAMonth } from './usage-curve/usage-of-a-month.ts'
import { costPredictions } from './wallets/predictions.ts'
import { totalOf, walletReservations } from './wallets/reservations.ts'
import { webhookDeliveries } from './webhooks/deliveries.ts'

const GATEWAY_MIB_MAX = 512
const VISIBLE_MS_MAX = 2_000
/** A machine at five times its load then has the api ready within 5 s of a restart. */
const START_CPU_MS_MAX = 1_000

const startGateway = (setup: Setup, settings: Readonly<Record<string, string>>): Promise<Running> =>
  startModule('ingest/main', {
    ...settings,
    HOST: '127.0.0.1',
    PORT: '0',
    METRICS_PORT: '0',
    LOG_LEVEL: 'info',
    DATABASE_URL: loginOf(setup.databaseUrl, 'millrace_gateway'),
    NATS_URL: setup.natsUrl,
    INGEST_RATE_LIVE: '100000000',
  })

/** Runs `work` beside servers of its own, so that nothing that was sent before is still being worked off. */
async function withServers(
  work: (setup: Setup, gateway: Running) => Promise<Measured>,
  { unsynced = false }: { readonly unsynced?: boolean } = {},
): Promise<Measured> {
  console.log('starting servers')
  const setup = await setUp({ unsynced })
  try {
    const gateway = await startGateway(setup, unsynced ? { DURABILITY: 'local' } : {})
    try {
      return await work(setup, gateway)
    } finally {
      await gateway.stop()
    }
  } finally {
    await setup.stop()
  }
}

/** The gateway beside its limits; `how` says how it was measured. */
async function acceptedEvents(setup: Setup, gateway: Running, how = '') {
  const bare = await startModule('bench/limits/bare-http', {})
  try {
    return [
      await measure(`single events accepted${how}`, 0.45, () => singleTurn(setup, gateway, bare)),
      await measure(`batches of 50 accepted${how}`, 0.3, () => batchTurn(setup, gateway)),
    ]
  } finally {
    await bare.stop()
  }
}

const ingest = (): Promise<Measured> =>
  withServers(async (setup, gateway) => {
    const rows = await acceptedEvents(setup, gateway)
    const value = peakMemoryMiB(gateway.pid)
    return { rows, bounds: [{ name: 'gateway memory, peak', value, unit: 'MiB', most: GATEWAY_MIB_MAX }] }
  })

/** What to set beside a system that does not sync before it acknowledges. */
const unsynced = (): Promise<Measured> =>
  withServers(async (setup, gateway) => ({ rows: await acceptedEvents(setup, gateway, ', broker not syncing') }), {
    unsynced: true,
  })

/** As withServers, with ClickHouse and an aggregator. */
const withAggregator = (
  work: (setup: Setup, gateway: Running, clickhouseUrl: string, aggregator: Running) => Promise<Measured>,
): Promise<Measured> =>
  withServers(async (setup, gateway) => {
    const clickhouseUrl = await setup.startClickHouse()
    const aggregator = await setup.startAggregator(clickhouseUrl, DATABASE)
    try {
      return await work(setup, gateway, clickhouseUrl, aggregator)
    } finally {
      await aggregator.stop()
    }
  })

const readable = (): Promise<Measured> =>
  withAggregator(async (setup, gateway, clickhouseUrl, aggregator) => ({
    rows: [await measure('accepted to readable', 0.5, () => readableTurn(setup, gateway, clickhouseUrl, aggregator))],
  }))

const visible = (): Promise<Measured> =>
  withAggregator(async (setup, gateway, clickhouseUrl) => {
    const value = await visibleMs(setup, gateway, clickhouseUrl)
    return {
      bounds: [{ name: 'accepted to in usage at 10,000/s, p99', value, unit: 'ms', most: VISIBLE_MS_MAX }],
    }
  })

const month = async (): Promise<Measured> => {
  const months = await usageOfAMonth([10_000_000])
  const slowest = months.flatMap(({ latencies }) =>
    Object.entries(latencies).map(([name, { p50Ms }]) => (name === 'raw' ? 0 : p50Ms)),
  )
  return {
    bounds: [{ name: 'usage of a month of 10 M events', value: Math.max(...slowest), unit: 'ms', most: BUDGET_MS }],
  }
}

const start = (): Promise<Measured> =>
  withServers(async (setup, gateway) => {
    const value = await startCpuMs(setup, `http://127.0.0.1:${gateway.port}`)
    return { bounds: [{ name: 'start of the api, processor time', value, unit: 'ms', most: START_CPU_MS_MAX }] }
  })

const INVOICE_MS_MAX = 6
const PREVIEW_MS_MAX = 60
const RUN_CUSTOMERS = 1_000

const billing = async (): Promise<Measured> => {
  const { runs, preview } = await billingRuns([RUN_CUSTOMERS])
  const worst = Math.max(...runs.map(({ costs }) => total(costs)))
  return {
    bounds: [
      { name: 'an invoice of ten metered lines in a run', value: worst, unit: 'ms of processor', most: INVOICE_MS_MAX },
      ...(preview
        ? [
            {
              name: 'a preview of ten metered lines',
              value: total(preview.costs),
              unit: 'ms of processor',
              most: PREVIEW_MS_MAX,
            },
          ]
        : []),
    ],
  }
}

/** A thousand deliveries a second on two cores. */
const DELIVERY_US_MAX = 2_000
/** At 400 deliveries a second, on a machine that other work keeps busy. */
const EVENT_AGE_MS_MAX = 5_000

const webhooks = async (): Promise<Measured> => {
  const { costs, besideDead } = await webhookDeliveries()
  const value = (costs['worker'] ?? 0) + (costs['postgres'] ?? 0)
  return {
    bounds: [
      { name: 'a delivery of a webhook', value, unit: 'µs of processor', most: DELIVERY_US_MAX },
      {
        name: 'age of an event at healthy webhooks, p99',
        value: besideDead.p99Ms,
        unit: 'ms',
        most: EVENT_AGE_MS_MAX,
      },
    ],
  }
}

const RESERVATION_MS_MAX = 10
/** Two thousand a second on two cores. */
const RESERVATION_US_MAX = 1_000

const wallets = async (): Promise<Measured> => {
  const found = await walletReservations()
  return {
    bounds: Object.entries(found).flatMap(([which, { p99Ms, costs }]) => [
      { name: `reservations at 2,000/s, ${which}, p99`, value: p99Ms, unit: 'ms', most: RESERVATION_MS_MAX },
      {
        name: `a reservation, ${which}, all processes`,
        value: totalOf(costs),
        unit: 'µs of processor',
        most: RESERVATION_US_MAX,
      },
    ]),
  }
}

/** Two hundred a second on two cores. */
const PREDICTION_US_MAX = 10_000
const CHECK_MS_MAX = 10

const predictions = async (): Promise<Measured> => {
  const { costs, checkP99Ms } = await costPredictions()
  return {
    bounds: [
      { name: 'a cost prediction', value: total(costs), unit: 'µs of processor', most: PREDICTION_US_MAX },
      { name: 'check of an entitlement, p99', value: checkP99Ms, unit: 'ms', most: CHECK_MS_MAX },
    ],
  }
}

const MEASURES: Readonly<Record<string, () => Promise<Measured>>> = {
  ingest,
  unsynced,
  readable,
  visible,
  month,
  start,
  billing,
  webhooks,
  wallets,
  predictions,
}

const wanted = process.argv.slice(2)
const unknown = wanted.filter(name => !(name in MEASURES))
if (unknown.length > 0)
  throw new Error(`no measure ${unknown.join(', ')}; there are ${Object.keys(MEASURES).join(', ')}`)
const measured: Measured[] = []
for (const [name, run] of Object.entries(MEASURES)) {
  if (wanted.length === 0 || wanted.includes(name)) measured.push(await run())
}
report(measured)
