// Many subscriptions billed at once: the same invoices as one by one, and none of them keeps the others from being
// billed.

import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { inTenant, SERVICE } from '../../../../../shared/database/database.ts'
import { decimal } from '../../../../../shared/decimal.ts'
import { createFailpoints } from '../../../../../shared/failpoint.ts'
import { idOf } from '../../../../../shared/ids.ts'
import { instantOf } from '../../../../../shared/time.ts'
import { type ApiHarness, startApi, type TestTenant } from '../../../../testing/harness.ts'
import { noticesOf } from '../../../../testing/notices.ts'
import type { Row } from '../../../../testing/wire.ts'
import { lockSubscription } from '../../../subscriptions/billing-time/next-billing.ts'
import { type Billed, billedSubscription, succeed } from '../../testing/billed-subscription.ts'
import { NO_USAGE } from '../../testing/no-usage.ts'
import type { BillingDeps } from '../compute-invoice.ts'
import { runBilling } from '../run-billing.ts'
import { runGroup } from './run-group.ts'

let api: ApiHarness
let tenant: TestTenant
let deps: BillingDeps
let next = 0
beforeAll(async () => {
  api = await startApi()
  deps = {
    database: api.database,
    usage: { ...NO_USAGE, read: async () => [{ currency: null, number: decimal('4000'), count: 2 }] },
  }
})
afterAll(() => api?.close())
// A platform of their own, so that they have numbers of their own.
beforeEach(() => {
  const tenants = [api.tenants.aLive, api.tenants.bLive, api.tenants.aTest]
  tenant = tenants[next++ % tenants.length] as TestTenant
})

const setTime = (text: string): void => api.clock.set(Date.parse(text))
const START = '2026-03-01T00:00:00Z'
const NOW = '2026-05-10T00:00:00Z'
/** When the invoices created then are past their grace period. */
const LATER = '2026-05-12T00:00:00Z'

async function subscribed(count: number, over: object = {}): Promise<Billed[]> {
  setTime(NOW)
  const made: Billed[] = []
  for (let place = 0; place < count; place += 1)
    made.push(await billedSubscription(tenant, { start_at: START, fee: '10', ...over }))
  return made
}
const idsOf = (all: readonly Billed[]): string[] => all.map(({ subscriptionId }) => subscriptionId)

async function invoicesOf({ subscriptionId }: Billed): Promise<Row[]> {
  const url = `/v1/invoices?pricing_plan_subscription_id=${subscriptionId}&include_lines=true&limit=50`
  return (await succeed(tenant, 'GET', url))['data']
}
/** An invoice without the values that no other invoice shares. */
const said = async (of: Billed): Promise<unknown[]> =>
  (await invoicesOf(of))
    .map(({ status, period_start, invoice_date, invoice_amount_including_tax: total, periods }) => [
      status,
      period_start,
      invoice_date,
      total.quantity,
      periods.map((period: Row) => period['groups'].flatMap((group: Row) => group['lines'].length)),
    ])
    .sort()

/** The numbers of a platform's FINAL invoices of one month, in order. */
async function numbersOf(all: readonly Billed[]): Promise<number[]> {
  const found = (await Promise.all(all.map(invoicesOf))).flat()
  const numbers = found.flatMap(({ invoice_number: text }) => (text === null ? [] : [Number(text.slice(-5))]))
  return numbers.sort((a, b) => a - b)
}
const isGapless = (numbers: readonly number[]): boolean =>
  numbers.every((number, place) => number === (numbers[0] ?? 0) + place)

describe('a group', () => {
  test('gives the same invoices as billing its subscriptions one by one, with consecutive numbers', async () => {
    const all = await subscribed(4)
    const [first, ...others] = all as [Billed, ...Billed[]]
    for (const time of [NOW, LATER]) {
      setTime(time)
      await runBilling(deps, tenant.tenant, first.subscriptionId)
      const outcomes = await runGroup(deps, tenant.tenant, idsOf(others), { partMax: 2 })
      expect([...outcomes.values()].map(({ kind }) => kind)).toEqual(others.map(() => 'DONE'))
    }
    const expected = await said(first)
    expect(expected.length).toBeGreaterThan(2)
    for (const other of others) expect(await said(other)).toEqual(expected)
    const numbers = await numbersOf(all)
    expect(numbers.length).toBeGreaterThan(all.length)
    expect(isGapless(numbers)).toBe(true)
    // Run again: nothing changes.
    const before = await Promise.all(all.map(invoicesOf))
    await runGroup(deps, tenant.tenant, idsOf(all))
    expect(await Promise.all(all.map(invoicesOf))).toEqual(before)
  })

  test('leaves out what cannot be billed, and says why', async () => {
    const [sound, other] = (await subscribed(2)) as [Billed, Billed]
    const [broken] = (await subscribed(1)) as [Billed]
    const reading: BillingDeps = {
      ...deps,
      usage: {
        ...deps.usage,
        read: async (of, parts, need) => {
          if (parts.some(({ customerKeys }) => customerKeys.includes(broken.customerId))) throw new Error('unreadable')
          return deps.usage.read(of, parts, need)
        },
      },
    }
    const outcomes = await runGroup(reading, tenant.tenant, [...idsOf([sound, broken, other]), 'ppsu_none'])
    expect(idsOf([sound, broken, other]).map(id => outcomes.get(id)?.kind)).toEqual(['DONE', 'FAILED', 'DONE'])
    expect(outcomes.get('ppsu_none')).toMatchObject({ kind: 'FAILED', error: { code: 'RESOURCE_NOT_FOUND' } })
    expect(await invoicesOf(broken)).toEqual([])
    expect(await said(sound)).toEqual(await said(other))
    await runGroup(deps, tenant.tenant, idsOf([broken]))
    expect(await said(broken)).toEqual(await said(other))
  })

  test('leaves out what cannot be corrected, and bills the others', async () => {
    const policy = (late_event_policy: string) =>
      succeed(tenant, 'PATCH', `/v1/platforms/${tenant.tenant.platformId}`, { late_event_policy })
    const [broken, sound] = (await subscribed(2)) as [Billed, Billed]
    await runGroup(deps, tenant.tenant, idsOf([broken, sound]))
    setTime(LATER)
    await runGroup(deps, tenant.tenant, idsOf([broken, sound]))
    await policy('CREDIT_AND_REBILL')
    const reading: BillingDeps = {
      ...deps,
      usage: {
        ...deps.usage,
        changedSince: async (of, asked) => {
          if (asked.some(({ customerKeys }) => customerKeys.includes(broken.customerId))) throw new Error('unreadable')
          return deps.usage.changedSince(of, asked)
        },
      },
    }
    const outcomes = await runGroup(reading, tenant.tenant, idsOf([broken, sound]))
    await policy('NEXT_INVOICE')
    expect(idsOf([broken, sound]).map(id => outcomes.get(id)?.kind)).toEqual(['FAILED', 'DONE'])
  })

  test('does not wait for a subscription whose usage is slow to read: that one is run by itself', async () => {
    const [slow, quick] = (await subscribed(2)) as [Billed, Billed]
    let answer = (): void => {}
    const answered = new Promise<void>(resolve => {
      answer = resolve
    })
    const reading: BillingDeps = {
      ...deps,
      usage: {
        ...deps.usage,
        read: async (of, parts, need) => {
          if (parts.some(({ customerKeys }) => customerKeys.includes(slow.customerId))) await answered
          return deps.usage.read(of, parts, need)
        },
      },
    }
    const outcomes = await runGroup(reading, tenant.tenant, idsOf([slow, quick]), { readMs: 200 })
    expect(idsOf([slow, quick]).map(id => outcomes.get(id)?.kind)).toEqual(['ALONE', 'DONE'])
    expect(await invoicesOf(slow)).toEqual([])
    const alone = runGroup(reading, tenant.tenant, idsOf([slow]), { readMs: 0 })
    answer()
    expect((await alone).get(slow.subscriptionId)?.kind).toBe('DONE')
    expect(await said(slow)).toEqual(await said(quick))
  })

  test('does not wait for a locked subscription: that one is run by itself', async () => {
    const [held, free] = (await subscribed(2)) as [Billed, Billed]
    const outcomes = await inTenant(api.database, tenant.tenant, SERVICE, async uow => {
      await lockSubscription(uow, idOf('ppsu', held.subscriptionId))
      return await runGroup(deps, tenant.tenant, idsOf([held, free]))
    })
    expect(idsOf([held, free]).map(id => outcomes.get(id)?.kind)).toEqual(['ALONE', 'DONE'])
    expect(await invoicesOf(held)).toEqual([])
    await runBilling(deps, tenant.tenant, held.subscriptionId)
    expect(await said(held)).toEqual(await said(free))
  })

  test('records up to when usage is counted, and changes only that when nothing else is new', async () => {
    const [one] = (await subscribed(1)) as [Billed]
    let behindMs = 0
    const usage: { -readonly [Name in keyof BillingDeps['usage']]: BillingDeps['usage'][Name] } = {
      ...deps.usage,
      upToDateUntil: async clock => instantOf(clock.now() - behindMs),
    }
    const run = async (time: string) => {
      setTime(time)
      await runGroup({ ...deps, usage }, tenant.tenant, idsOf([one]))
      return (await invoicesOf(one)).find(({ status }) => status === 'OPEN') as Row
    }
    const first = await run(NOW)
    expect(first).toMatchObject({ usage_counted_until: NOW, updated_at: NOW })
    const told = (await noticesOf(api, first['id'])).length
    behindMs = 20_000
    const second = await run('2026-05-10T00:01:00Z')
    expect(second).toEqual({ ...first, usage_counted_until: '2026-05-10T00:00:40Z' })
    expect(await noticesOf(api, first['id'])).toHaveLength(told)
    const refreshed = await succeed(tenant, 'POST', `/v1/invoices/${first['id']}/refresh`, {})
    expect(Date.parse(refreshed['usage_counted_until'])).toBeGreaterThanOrEqual(Date.parse('2026-05-10T00:00:40Z'))
    // Without the log the time is unknown, and is not guessed.
    usage.upToDateUntil = () => Promise.reject(new Error('away'))
    expect(await run('2026-05-10T00:02:00Z')).toMatchObject({ usage_counted_until: null })
  })

  test('computes again only what changed meanwhile', async () => {
    const [changing, still] = (await subscribed(2)) as [Billed, Billed]
    const read: string[] = []
    let renamed = false
    const usage: BillingDeps['usage'] = {
      ...deps.usage,
      read: async (of, parts, need) => {
        read.push(parts[0]?.customerId ?? '')
        if (!renamed) {
          renamed = true
          const organization = { legal_name: 'Renamed', registered_address: { country: 'NL' } }
          await succeed(tenant, 'PATCH', `/v1/customers/${changing.customerId}`, { organization })
        }
        return deps.usage.read(of, parts, need)
      },
    }
    const outcomes = await runGroup({ ...deps, usage }, tenant.tenant, idsOf([changing, still]))
    expect([...outcomes.values()].map(({ kind }) => kind)).toEqual(['DONE', 'DONE'])
    const count = (of: Billed) => read.filter(id => id === of.customerId).length
    expect(count(changing)).toBe(2 * count(still))
    const names = (await invoicesOf(changing)).map(each => each['customer'].organization.legal_name)
    expect(new Set(names)).toEqual(new Set(['Renamed']))
  })
})

test('a group that dies between two of its parts keeps what it saved, and the next run bills the rest', async () => {
  const all = await subscribed(3)
  await runGroup(deps, tenant.tenant, idsOf(all), { partMax: 1 })
  setTime(LATER)
  let parts = 0
  const dying: BillingDeps = {
    ...deps,
    failpoint: async name => {
      if (name !== 'billing.before-invoice') return
      parts += 1
      if (parts === 3) throw new Error('killed')
    },
  }
  await expect(runGroup(dying, tenant.tenant, idsOf(all), { partMax: 1 })).rejects.toThrow('killed')
  const before = await numbersOf(all)
  await runGroup(deps, tenant.tenant, idsOf(all), { partMax: 1 })
  const [first, ...others] = await Promise.all(all.map(said))
  expect(first?.length).toBeGreaterThan(2)
  for (const other of others) expect(other).toEqual(first)
  const numbers = await numbersOf(all)
  expect(before.length).toBeGreaterThan(0)
  expect(before).toHaveLength((numbers.length * 2) / 3)
  expect(isGapless(numbers)).toBe(true)
})

test.each(['billing.before-invoice', 'invoices.before-numbers', 'invoices.before-commit', 'billing.after-commit'])(
  'a run that dies at %s is repeated: every period is billed once, and no number is missing',
  async name => {
    const all = await subscribed(3)
    const failing = { ...deps, failpoint: createFailpoints(`${name}:error`) }
    for (const time of [NOW, LATER]) {
      setTime(time)
      const died = await runGroup(failing, tenant.tenant, idsOf(all)).then(
        outcomes => [...outcomes.values()].every(({ kind }) => kind === 'ALONE'),
        () => true,
      )
      expect(died).toBe(true)
      for (const one of all) {
        const outcomes = await runGroup(deps, tenant.tenant, idsOf([one]))
        expect(outcomes.get(one.subscriptionId)?.kind).toBe('DONE')
      }
    }
    const [first, ...others] = await Promise.all(all.map(said))
    for (const other of others) expect(other).toEqual(first)
    const periods = (await invoicesOf(all[0] as Billed)).map(
      ({ period_start, period_end }) => `${period_start} ${period_end}`,
    )
    expect(periods.length).toBeGreaterThan(2)
    const numbers = await numbersOf(all)
    expect(numbers.length).toBeGreaterThan(all.length)
    expect(isGapless(numbers)).toBe(true)
  },
)
