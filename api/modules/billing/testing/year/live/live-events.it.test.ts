// Simulated years whose usage is real events: random customers send them to the gateway as time passes, some late, again, with another
// content, deleted or amended afterwards, for a subscription by its id, or under the name of a customer that processes for them and may be
// made later, and the code that bills in LIVE reads what the aggregator made of them: their sum, the largest, or how many different ones
// there are. What each line bills is what the slow model says, and no usage is billed twice or lost. One seed again: SEED=7; more of them:
// SEEDS=50, or from the hundredth on FIRST_SEED=100 SEEDS=50.
import { jetstream, jetstreamManager } from '@nats-io/jetstream'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { findStaleBuckets, rollBuckets } from '../../../../../../aggregator/rollups/roll-buckets.ts'
import { findStaleDays, rollDays } from '../../../../../../aggregator/rollups/roll-days.ts'
import { createTestAggregator } from '../../../../../../aggregator/testing.ts'
import { ingestConfig } from '../../../../../../ingest/config.ts'
import { startGateway } from '../../../../../../ingest/gateway.ts'
import { ensureStreams } from '../../../../../../shared/log/streams.ts'
import { silentLogger } from '../../../../../../shared/process/logger.ts'
import { createTestClickHouse } from '../../../../../../shared/testing/clickhouse.ts'
import { loginOf } from '../../../../../../shared/testing/database-logins.ts'
import { startTestNats } from '../../../../../../shared/testing/nats.ts'
import { type ApiHarness, startApi, type TestTenant } from '../../../../../testing/harness.ts'
import { createEventLog } from '../../../../../usage/event-log.ts'
import { createEventStore } from '../../../../../usage/event-store.ts'
import { createUsageReader } from '../../../usage/usage-reader.ts'
import { succeed } from '../../billed-subscription.ts'
import type { Story } from '../story.ts'
import { eventStory, withGrace } from './event-story.ts'
import { endOfYears, faultsOfYears, ledgerFaults, numberFaults } from './live-faults.ts'
import { LivePayments } from './live-payments.ts'
import { besideOf, liveStory } from './live-story.ts'
import { type Beside, liveYears } from './live-year.ts'
import { seedsOr } from './seeds.ts'
import { type EventDoors, usageByEvents } from './usage-by-events.ts'
import { usageFaults } from './usage-faults.ts'

/**
 * Of the suite: five invoices of quarters, of two plans; of the events that they bill half are changed, also after their invoice. Of seed 102
 * it is the largest, and of seed 128 how many different ones there are, of two subscriptions that events name.
 */
const CHOSEN = [861]
const seeds = seedsOr(CHOSEN)
/** Several wait for each other on a machine that does much else. */
const LIMIT_MS = 600_000

let api: ApiHarness
/** Whose invoices are FINAL when they close, and whose take usage for eight hours more, as is usual. */
let atOnce: TestTenant
let later: TestTenant
const GRACE_MS = 8 * 3_600_000
let doorsOf: (tenant: TestTenant) => EventDoors
/** Resolves when all that was sent is stored. */
let settle: () => Promise<void>
const closers: (() => Promise<unknown>)[] = []
beforeAll(async () => {
  const nats = await startTestNats()
  closers.push(() => nats.stop())
  const clickhouse = await createTestClickHouse()
  closers.push(() => clickhouse.drop())
  const aggregator = await createTestAggregator({ natsUrl: nats.url, clickhouse })
  closers.push(() => aggregator.close())
  const { client, partitions } = aggregator
  const jsm = await jetstreamManager(aggregator.nats)
  await ensureStreams(jsm, { partitions, replicas: 1 })
  const log = createEventLog({ js: jetstream(aggregator.nats), jsm, partitions })
  api = await startApi({
    usage: createUsageReader({ client, jsm, partitions }),
    events: createEventStore(client, log),
  })
  closers.push(() => api.close())
  atOnce = api.tenants.aTest
  later = api.tenants.bTest
  // The years are in the past of every process.
  api.clock.set(Date.parse('2027-03-01T10:00:00Z'))
  const running = await aggregator.start()
  closers.push(() => running.stop())
  const settings = {
    PORT: '0',
    METRICS_PORT: '0',
    DATABASE_URL: loginOf(api.databaseUrl, 'millrace_gateway'),
    NATS_URL: nats.url,
    PARTITIONS: String(partitions),
    DURABILITY: 'local',
  }
  const gateway = await startGateway(ingestConfig(settings), silentLogger, api.clock)
  closers.push(() => gateway.stop())
  settle = aggregator.settle
  doorsOf = ({ key }) => ({
    send: events => sendTo(gateway.port, key, events),
    rollUp: async () => {
      await rollBuckets(client, await findStaleBuckets(client, 100_000))
      await rollDays(client, await findStaleDays(client, 100_000))
    },
  })
  const grace = { invoice_grace_period: { type: 'CUSTOM', configuration: { value: 0, type: 'HOUR' } } }
  await succeed(atOnce, 'PATCH', `/v1/platforms/${atOnce.tenant.platformId}`, { invoice_settings: grace })
})
afterAll(async () => {
  for (const close of closers.toReversed()) await close()
})

async function sendTo(port: number, key: string, events: readonly object[]): Promise<void> {
  const response = await fetch(`http://127.0.0.1:${port}/v1/events/ingest-list`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-api-key': key },
    body: JSON.stringify(events),
  })
  if (response.status !== 201) throw new Error(`the gateway answers ${response.status} ${await response.text()}`)
}

/** The customer of every third seed has two subscriptions, which combine; that of the one before pays, and has a wallet. */
const KINDS = 3
function storiesOf(seed: number): readonly [Story, ...Story[]] {
  const story = liveStory(seed)
  return seed % KINDS === 2 ? [eventStory(story), eventStory(besideOf(story))] : [eventStory(story)]
}

// Each waits for the log and ClickHouse most of the time.
test.concurrent.each(seeds)(
  'a year of events of the customer of seed %i is billed once, as the rules say',
  async seed => {
    const given = storiesOf(seed)
    const graced = seed % 2 === 0 && seed % KINDS !== 1 ? withGrace(given, GRACE_MS) : null
    const [own, tenant] = graced ? [graced, later] : [given, atOnce]
    const usage = usageByEvents(tenant, doorsOf(tenant))
    const payments: LivePayments[] = []
    const pay = (of: ConstructorParameters<typeof LivePayments>[2]): Beside => {
      const made = new LivePayments(tenant, seed, of)
      payments.push(made)
      return made
    }
    const beside = seed % KINDS === 1 ? { beside: pay } : {}
    const years = await liveYears(tenant, own, { usage, until: endOfYears(own), ...beside })
    await settle()
    const faults = [...(await faultsOfYears(api.sql, years)), ...(await usageFaults(tenant, years, usage.events))]
    for (const each of payments) faults.push(...(await each.faultsAfter(api.sql)))
    const again = `SEED=${seed} npm test -- --project it api/modules/billing/testing/year/live/live-events`
    expect(faults.map(fault => `${again} # ${fault}`)).toEqual([])
  },
  LIMIT_MS,
)

test('their invoices are numbered without a gap, and their wallets add up', async () => {
  for (const { platformId } of [atOnce.tenant, later.tenant])
    expect([...(await numberFaults(api.sql, platformId)), ...(await ledgerFaults(api.sql, platformId))]).toEqual([])
})
