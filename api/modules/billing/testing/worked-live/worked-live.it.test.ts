// Worked cases through the api, in the time of a test clock: what changes of a subscription cost together with its clauses, coupons,
// minimums, seats and usage, worked out by hand in the forms of the test suites of Stripe, Lago, Kill Bill, Orb, Recurly and Chargebee. The
// second file has the ends of periods: customers who move to another time zone, anchors, charges by the month and terminations.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { playCase } from './play-case.ts'
import { type LiveRig, openLiveRig } from './store-units.ts'
import { readWorkedCases } from './worked-case.ts'

const CASES = ['./worked-live.txt', './worked-boundaries.txt'].flatMap(readWorkedCases)
let rig: LiveRig
beforeAll(async () => {
  rig = await openLiveRig()
})
afterAll(() => rig?.close())

test('each case has a title of its own', () => {
  expect(new Set(CASES.map(({ title }) => title)).size).toBe(CASES.length)
})

// Each waits for the database most of the time.
test.concurrent.each(CASES)('$title', async of => {
  expect(await playCase(rig.client, rig.api.tenants.aTest, of), of.rule).toEqual(of.invoices)
})
