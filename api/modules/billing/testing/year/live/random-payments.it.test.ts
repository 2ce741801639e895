// Random customers who are invoiced by hand alone: what they pay, what is paid back and credited, and what their wallet pays, against the
// slow model. Faster than a whole year, so many more of them can be tried. One seed again: SEED=7; more of them: SEEDS=500, or from the
// thousandth on FIRST_SEED=1000 SEEDS=500.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type ApiHarness, startApi, type TestTenant } from '../../../../../testing/harness.ts'
import { NO_USAGE } from '../../no-usage.ts'
import { DAY } from '../story.ts'
import { ledgerFaults, numberFaults } from './live-faults.ts'
import { LivePayments } from './live-payments.ts'
import { newCustomer, newEntity } from './live-schedules.ts'
import { seedsOr } from './seeds.ts'

/** Of the suite: with credits of what a wallet paid, and payments that are reversed and paid back. */
const CHOSEN = [2, 5]
const seeds = seedsOr(CHOSEN)
const START = Date.parse('2026-01-01T10:00:00Z')
const STEPS = 12

let api: ApiHarness
let tenant: TestTenant
beforeAll(async () => {
  api = await startApi({ usage: NO_USAGE })
  tenant = api.tenants.aTest
})
afterAll(() => api?.close())

test.each(seeds)('what the customer of seed %i pays is what the rules say', async seed => {
  const [customer, entity] = [await newCustomer(tenant), await newEntity(tenant)]
  const payments = new LivePayments(tenant, seed, { customer: customer['id'], entity, begins: START })
  for (let step = 0; step < STEPS; step += 1) {
    const now = START + step * 9 * DAY
    api.clock.set(now)
    await payments.step(now, true)
  }
  const { platformId } = tenant.tenant
  const faults = [
    ...(await payments.faultsAfter(api.sql)),
    ...(await numberFaults(api.sql, platformId)),
    ...(await ledgerFaults(api.sql, platformId)),
  ]
  const again = `SEED=${seed} npm test -- --project it api/modules/billing/testing/year/live/random-payments`
  expect(faults.map(fault => `${again} # ${fault}`)).toEqual([])
})
