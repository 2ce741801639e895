// A simulated year through the api: random customers in the time of test clocks are billed by the code that bills in LIVE, and what
// they are billed is what the slow model says, and so is what they pay. One seed again: SEED=7; more of them: SEEDS=50, or from the
// hundredth on FIRST_SEED=100 SEEDS=50.
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Story } from '../story.ts'
import { endOfYears, faultsOfYears, ledgerFaults, numberFaults } from './live-faults.ts'
import { LivePayments, type PayingCustomer } from './live-payments.ts'
import { besideOf, inTime, liveStory } from './live-story.ts'
import { liveYears } from './live-year.ts'
import { seedsOr } from './seeds.ts'
import { startYears, type YearsRig } from './start-years.ts'

const CUSTOMERS = 3
/**
 * Of the suite: a template, a trial, coupons, seats, a pause, changes of plan with a refund, schedules that are activated late (in their
 * first period, and long after it), cancellations, terms that end and are taken back, and two subscriptions that combine.
 */
const CHOSEN = 199
const seeds = seedsOr([CHOSEN])

let api: YearsRig['api']
let tenant: YearsRig['tenant']
let usage: YearsRig['usage']
beforeAll(async () => {
  ;({ api, tenant, usage } = await startYears())
})
afterAll(() => api?.close())

/** The third customer of a seed has two subscriptions, which combine. */
function storiesOf(seed: number, place: number): readonly [Story, ...Story[]] {
  const story = liveStory(seed * CUSTOMERS + place)
  return place === CUSTOMERS - 1 ? [inTime(story), inTime(besideOf(story))] : [inTime(story)]
}

test.each(seeds)('a year of the customers of seed %i is billed as the rules say', async seed => {
  const faults: string[] = []
  for (let place = 0; place < CUSTOMERS; place += 1) {
    const own = storiesOf(seed, place)
    const payments: LivePayments[] = []
    const beside = (of: PayingCustomer): LivePayments => {
      const made = new LivePayments(tenant, seed * CUSTOMERS + place, of)
      payments.push(made)
      return made
    }
    const years = await liveYears(tenant, own, { usage, until: endOfYears(own), beside })
    const found = await faultsOfYears(api.sql, years)
    for (const each of payments) found.push(...(await each.faultsAfter(api.sql)))
    faults.push(...found.map(fault => `customer ${place}: ${fault}`))
  }
  const { platformId } = tenant.tenant
  faults.push(...(await numberFaults(api.sql, platformId)), ...(await ledgerFaults(api.sql, platformId)))
  const again = `SEED=${seed} npm test -- --project it api/modules/billing/testing/year/live/live-year`
  expect(faults.map(fault => `${again} # ${fault}`)).toEqual([])
})
