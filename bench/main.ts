// npm run bench: every path beside its bare limit, in one run on one machine, as ratios.
import { batchTurn, singleTurn } from './measure/ingest.ts'
import { DATABASE, readableTurn } from './measure/readable.ts'
import { type Running, startModule } from './processes.ts'
import { measure, peakMemoryMiB, type Row, report } from './report.ts'
import { type Setup, setUp } from './setup.ts'

const startGateway = (setup: Setup): Promise<Running> =>
  startModule('ingest/main', {
    HOST: '127.0.0.1',
    PORT: '0',
    LOG_LEVEL: 'info',
    DATABASE_URL: setup.databaseUrl,
    NATS_URL: setup.natsUrl,
    INGEST_RATE_LIVE: '100000000',
  })

/** Runs `work` beside servers of its own, so that nothing that was sent before is still being worked off. */
async function withServers<T>(work: (setup: Setup, gateway: Running) => Promise<T>): Promise<T> {
  console.log('starting servers')
  const setup = await setUp()
  try {
    const gateway = await startGateway(setup)
    try {
      return await work(setup, gateway)
    } finally {
      await gateway.stop()
    }
  } finally {
    await setup.stop()
  }
}

const ingest = (): Promise<{ rows: Row[]; gatewayMiB: number | null }> =>
  withServers(async (setup, gateway) => {
    const bare = await startModule('bench/limits/bare-http', {})
    try {
      const rows = [
        await measure('single events accepted', 0.45, () => singleTurn(gateway, bare, setup.apiKey)),
        await measure('batches of 50 accepted', 0.3, () => batchTurn(gateway, setup.apiKey)),
      ]
      return { rows, gatewayMiB: peakMemoryMiB(gateway.pid) }
    } finally {
      await bare.stop()
    }
  })

const readable = (): Promise<Row> =>
  withServers(async (setup, gateway) => {
    const clickhouseUrl = await setup.startClickHouse()
    const aggregator = await setup.startAggregator(clickhouseUrl, DATABASE)
    try {
      return await measure('accepted to readable', 0.5, () => readableTurn(gateway, setup.apiKey, clickhouseUrl))
    } finally {
      await aggregator.stop()
    }
  })

const { rows, gatewayMiB } = await ingest()
report([...rows, await readable()], gatewayMiB)
