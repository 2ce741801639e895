// Usage of worked cases in ClickHouse, as the aggregator would have stored it, and an api that reads it.
import { createTestClickHouse } from '../../../../../shared/testing/clickhouse.ts'
import { type ClickHouseClient, createClickHouse } from '../../../../../shared/usage/clickhouse.ts'
import { succeed } from '../../../../testing/calls.ts'
import { type ApiHarness, startApi, type TestTenant } from '../../../../testing/harness.ts'
import { createUsageReader } from '../../usage/usage-reader.ts'
import { storeEvent } from '../store-event.ts'

export type LiveRig = { readonly api: ApiHarness; readonly client: ClickHouseClient; close(): Promise<void> }

/** Of every case: the position of the log. */
let stored = 0

/** An api whose usage is in ClickHouse. What its TEST tenants invoice becomes FINAL when it closes. */
export async function openLiveRig(): Promise<LiveRig> {
  const clickhouse = await createTestClickHouse()
  const client = createClickHouse(clickhouse.url, clickhouse.database)
  const reader = createUsageReader({ client, jsm: undefined as never, partitions: 2 })
  const positions = async (): Promise<number[]> => [0, stored]
  const progress: typeof reader.progress = async clock => ({
    positions: await positions(),
    upToDateUntil: clock.now(),
    isComplete: true,
  })
  const endsAt = async () => false
  const usage = { ...reader, settle: async () => true, positions, progress, endsAt }
  const api = await startApi({ usage })
  api.clock.set(Date.parse('2027-06-01T10:00:00Z'))
  const { aTest } = api.tenants
  const invoice_settings = { invoice_grace_period: { type: 'CUSTOM', configuration: { value: 0, type: 'HOUR' } } }
  await succeed(aTest, 'PATCH', `/v1/platforms/${aTest.tenant.platformId}`, { invoice_settings })
  return {
    api,
    client,
    close: async () => {
      await api.close()
      await client.close()
      await clickhouse.drop()
    },
  }
}

type Units = {
  readonly customer: string
  readonly meter: string
  readonly value: string
  readonly quantity: string
  readonly time: string
}

/** Stores one event. */
export async function storeUnits(client: ClickHouseClient, tenant: TestTenant, units: Units): Promise<void> {
  stored += 1
  const { time, ...of } = units
  const timestamp = time.replace('T', ' ').replace('Z', '.000')
  await storeEvent(client, tenant, { ...of, timestamp, position: [1, stored] })
}
