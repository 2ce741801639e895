// With usage and marks in ClickHouse: a DRAFT that runs do not compute again bills what it would bill if they did.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createTestClickHouse } from '../../../../../shared/testing/clickhouse.ts'
import { type ClickHouseClient, createClickHouse, selectRows } from '../../../../../shared/usage/clickhouse.ts'
import { type ApiHarness, startApi } from '../../../../testing/harness.ts'
import type { Row } from '../../../../testing/wire.ts'
import { billedSubscription, succeed, useTokens } from '../../testing/billed-subscription.ts'
import { NO_USAGE } from '../../testing/no-usage.ts'
import { createUsageReader, type UsageReader } from '../../usage/usage-reader.ts'
import { runGroup } from './run-group.ts'

let clickhouse: Awaited<ReturnType<typeof createTestClickHouse>>
let client: ClickHouseClient
let api: ApiHarness
let usage: UsageReader
/** How many figures were read. */
let figures = 0
beforeAll(async () => {
  clickhouse = await createTestClickHouse()
  client = createClickHouse(clickhouse.url, clickhouse.database)
  const { read, changedSince } = createUsageReader({ client, jsm: undefined as never, partitions: 1 })
  usage = {
    ...NO_USAGE,
    changedSince,
    read: (...of) => {
      figures += 1
      return read(...of)
    },
    positions: async () => {
      const [[last = '0'] = []] = await selectRows<[string]>(client, 'SELECT max(log_seq) FROM usage_events', {}, {})
      return [Number(last)]
    },
  }
  api = await startApi({ usage })
})
afterAll(async () => {
  await api?.close()
  await client?.close()
  await clickhouse?.drop()
})

test('a DRAFT bills after each run what a refresh would bill, and its usage is read only when some of it is new', async () => {
  const tenant = api.tenants.aLive
  const database = api.database
  const setTime = (text: string): void => api.clock.set(Date.parse(text))
  setTime('2026-04-01T01:00:00Z')
  const billed = await billedSubscription(tenant, { start_at: '2026-03-01T00:00:00Z' })
  const draft = async (): Promise<Row> => {
    const url = `/v1/invoices?pricing_plan_subscription_id=${billed.subscriptionId}&include_lines=true`
    const found = (await succeed(tenant, 'GET', url))['data'].find((each: Row) => each['status'] === 'DRAFT')
    if (!found) throw new Error('March has ended')
    return found
  }
  const amountOf = (invoice: Row): string => invoice['invoice_amount_excluding_tax'].quantity
  const run = async (): Promise<number> => {
    figures = 0
    await runGroup({ database, usage }, tenant.tenant, [billed.subscriptionId])
    return figures
  }
  const use = (tokens: string, timestamp: string) => useTokens(client, tenant, { billed, tokens, timestamp })
  await use('4000', '2026-03-15 12:00:00.000')
  const both = await run()
  const seen: { readonly amount: string; readonly isRead: boolean }[] = []
  const steps = [
    ['1000', '2026-04-01 00:30:00.000'],
    ['2000', '2026-04-01 00:00:00.000'],
    ['700000', '2026-03-31 23:59:59.999'],
    ['1000', '2026-04-01 00:30:00.000'],
    ['900000', '2026-03-01 00:00:00.000'],
    // Before its period, and on no invoice.
    ['900000', '2026-02-28 23:59:59.999'],
  ] as const
  for (const [place, [tokens, timestamp]] of steps.entries()) {
    setTime(`2026-04-01T01:0${place + 1}:00Z`)
    await use(tokens, timestamp)
    const isRead = (await run()) === both
    const after = await draft()
    expect(after['usage_counted_until']).toBe(`2026-04-01T01:0${place + 1}:00Z`)
    seen.push({ amount: amountOf(after), isRead })
    await succeed(tenant, 'POST', `/v1/invoices/${after['id']}/refresh`, { type: 'FULL' })
    expect(amountOf(await draft()), timestamp).toBe(amountOf(after))
  }
  expect(seen).toEqual([
    { amount: '0.06', isRead: false },
    { amount: '0.06', isRead: false },
    { amount: '10.56', isRead: true },
    { amount: '10.56', isRead: false },
    { amount: '24.06', isRead: true },
    { amount: '24.06', isRead: false },
  ])
})
