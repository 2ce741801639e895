// What billing and subscriptions know of the zones of issued invoices, after a billing entity moved to another (semantics 0.4).
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Zone, zoneOf } from '../../../../../shared/billing/local-days.ts'
import { readTenant } from '../../../../../shared/database/database.ts'
import { formatInstant } from '../../../../../shared/time.ts'
import { type ApiHarness, startApi, type TestTenant } from '../../../../testing/harness.ts'
import { zoneOfSubscription, zonesAfterMoves } from '../../../subscriptions/billing-time/billing-calendar.ts'
import { succeed } from '../../testing/billed-subscription.ts'
import { seedInvoice } from '../../testing/seed-invoice.ts'
import { billingZoneOf, invoiceWindows } from '../windows.ts'
import { loadBillingInputs } from './load-inputs.ts'

let api: ApiHarness
let tenant: TestTenant
beforeAll(async () => {
  api = await startApi()
  tenant = api.tenants.aLive
})
afterAll(() => api?.close())

/** How both cut the days of the subscription, and when its first invoices are cut. */
async function zonesOf(subscription: never) {
  const { id } = subscription as { id: never }
  return await readTenant(api.database, tenant.tenant, async uow => {
    const inputs = await loadBillingInputs(uow, id)
    const cuts: string[] = []
    for (const { cutoffAt } of invoiceWindows(inputs)) if (cuts.push(formatInstant(cutoffAt)) === 3) break
    const named = (inputs.billing_entity.timezone ?? 'UTC') as Zone
    return {
      issued: inputs.issued_zones,
      cuts,
      zones: [
        billingZoneOf(inputs),
        await zoneOfSubscription(uow, subscription),
        (await zonesAfterMoves(uow, new Map([[id, zoneOf(named) ?? named]]))).get(id),
      ],
    }
  })
}

test('the month that is charged ahead keeps its ends, and all who cut days agree', async () => {
  api.clock.set(Date.parse('2026-03-01T00:00:00Z'))
  const draft = await seedInvoice(api, tenant)
  const path = `/v1/pricing-plan-subscriptions/${draft['pricing_plan_subscription_id']}`
  const move = (timezone: string) =>
    succeed(tenant, 'PATCH', `/v1/billing-entities/${draft['billing_entity_id']}`, { timezone })
  const found = async () => await zonesOf((await succeed(tenant, 'GET', path)) as never)
  await move('Asia/Tokyo')
  // Nothing is issued yet: its own month began at midnight UTC, 09:00 in Tokyo.
  expect(await found()).toMatchObject({
    issued: undefined,
    cuts: ['2026-03-01T00:00:00Z', '2026-03-31T15:00:00Z', '2026-04-30T15:00:00Z'],
    zones: Array.from({ length: 3 }, () => 'Asia/Tokyo'),
  })
  await move('UTC')
  await succeed(tenant, 'PATCH', `/v1/invoices/${draft['id']}`, { status: 'FINAL' })
  await move('Asia/Tokyo')
  const { issued, cuts, zones } = await found()
  expect(issued).toEqual([{ timezone: 'UTC', cutoff_at: '2026-03-01T00:00:00Z' }])
  expect(cuts).toEqual(['2026-03-01T00:00:00Z', '2026-04-01T00:00:00Z', '2026-04-30T15:00:00Z'])
  expect(zones).toEqual(Array.from({ length: 3 }, () => `UTC ${Date.parse('2026-04-01T00:00:00Z')} Asia/Tokyo`))
  await move('UTC')
  expect(await found()).toMatchObject({ issued: undefined, zones: ['UTC', 'UTC', 'UTC'] })
})
