// An address of reference rates, and the jobs that ask it for those of one platform.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Registry } from 'prom-client'
import { asSystem, openDatabase } from '../../../../../shared/database/database.ts'
import { createOutboundRequest } from '../../../../../shared/outbound/outbound-request.ts'
import { silentLogger } from '../../../../../shared/process/logger.ts'
import { loginOf } from '../../../../../shared/testing/database-logins.ts'
import { createWorkerMetrics } from '../../../../jobs/metrics.ts'
import { runJob } from '../../../../jobs/testing/run-job.ts'
import type { ApiHarness, TestTenant } from '../../../../testing/harness.ts'
import type { Row } from '../../../../testing/wire.ts'
import { succeed } from '../../../billing/testing/billed-subscription.ts'
import { feedJobs, loadFeeds } from '../jobs.ts'

export type ServedFeed = Awaited<ReturnType<typeof serveFeed>>

/** Serves a feed on a port of its own, and works for the platform of `own`. */
export async function serveFeed(api: ApiHarness, own: TestTenant) {
  /** What is answered, and what happens before. */
  const answer: { status: number; body: unknown; before?: () => Promise<unknown> } = { status: 500, body: {} }
  const server = createServer(async (_request, response) => {
    await answer.before?.()
    response.writeHead(answer.status, { 'content-type': 'application/json' }).end(JSON.stringify(answer.body))
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const system = await openDatabase({
    ...{ url: loginOf(api.databaseUrl, 'millrace_worker'), role: 'millrace_worker', poolMax: 1 },
    ...{ clock: api.clock, logger: silentLogger },
  })
  const policy = { ports: { 'https:': [443], 'http:': [] }, hosts: new Set([`127.0.0.1:${port}`]) }
  const times = { connectMs: 60_000, headMs: 60_000, silenceMs: 60_000 }
  const deps = {
    ...{ database: api.database, system, logger: silentLogger, metrics: createWorkerMetrics(new Registry()) },
    rates: { request: createOutboundRequest(policy, times), policy, bytesMax: 1_000, deadlineMs: 60_000 },
  }
  const payload = { platform_id: own.tenant.platformId, environment: own.tenant.environment }
  const platform = `/v1/platforms/${own.tenant.platformId}`
  return {
    url: `http://127.0.0.1:${port}/daily`,
    platform,
    answer,
    settings: (more: object) => succeed(own, 'PATCH', platform, { exchange_rate_settings: more }),
    /** The status after one run of the job. */
    fetched: async (): Promise<Row> => {
      await runJob(feedJobs, 'fetch-exchange-rates', deps, payload)
      return (await succeed(own, 'GET', platform))['exchange_rate_status']
    },
    /** What is stored: currency, rate, source and number of corrections. */
    rates: async (base: string): Promise<string[]> =>
      (await succeed(own, 'GET', `/v1/exchange-rates?base_currency=${base}&limit=100`))['data']
        .map((row: Row) => `${row['currency']} ${row['rate']} ${row['source']} ${row['corrections'].length}`)
        .toSorted(),
    due: async (): Promise<string> => {
      const feeds = await asSystem(system, 'find-due-exchange-rates', tx => loadFeeds(tx, api.clock.now()))
      const found = feeds.find(({ platform_id }) => platform_id === payload.platform_id)
      return found ? `due ${found.due}, faulty ${found.faulty}` : 'none'
    },
    close: async (): Promise<void> => {
      server.closeAllConnections()
      server.close()
      await system.close()
    },
  }
}
