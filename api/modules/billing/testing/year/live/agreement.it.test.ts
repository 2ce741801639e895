// Calls that must agree with each other about the year of a random customer: a preview and the invoice that follows, a simulation by the
// version that the customer is on and its invoices, an invoice and its copy, a schedule and its copy, an invoice and the correction of one
// whose usage came late. One seed again: SEED=7; more of them: SEEDS=50, or from the hundredth on FIRST_SEED=100 SEEDS=50.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { decimal, plain } from '../../../../../../shared/decimal.ts'
import { formatInstant, instantOf } from '../../../../../../shared/time.ts'
import { succeed } from '../../../../../testing/calls.ts'
import type { Row } from '../../../../../testing/wire.ts'
import { runBilling } from '../../../run/run-billing.ts'
import { runSimulation } from '../../../simulate/run-simulation.ts'
import { closingsOf } from '../closings.ts'
import { DAY, type Story } from '../story.ts'
import { endOfYears } from './live-faults.ts'
import { inTime, liveStory } from './live-story.ts'
import { type Beside, type LiveYear, liveYears } from './live-year.ts'
import { Previews } from './previews.ts'
import { seedsOr } from './seeds.ts'
import { startYears, type YearsRig } from './start-years.ts'

/** Of the suite: a minimum, a discount, a coupon, seats, and a change of plan with a refund. */
const CHOSEN = 1
const seeds = seedsOr([CHOSEN])

let api: YearsRig['api']
let tenant: YearsRig['tenant']
let usage: YearsRig['usage']
beforeAll(async () => {
  ;({ api, tenant, usage } = await startYears())
})
afterAll(() => api?.close())

const get = (url: string) => succeed(tenant, 'GET', `/v1/${url}`)
const linesOf = (invoice: Row): Row[] =>
  invoice['periods'].flatMap((period: Row) => period['groups'].flatMap((group: Row) => group['lines']))

/** All that an invoice bills, in the order in which it is printed. */
function printed(invoice: Row) {
  const { invoice_amount_excluding_tax, invoice_amount_including_tax, tax_categories } = invoice
  const { invoice_date, due_date, delivery_date } = invoice
  const lines = linesOf(invoice).map(({ id: _id, sub_lines: _subLines, ...line }) => line)
  const totals = { invoice_amount_excluding_tax, invoice_amount_including_tax, tax_categories }
  return { lines, totals, invoice_date, due_date, delivery_date }
}

/**
 * The amounts of an invoice without order: those of 0 are not copied, and how a cent of tax is divided over lines depends on what else is
 * there. `sign` turns those of a credit note.
 */
function amounts(invoice: Row, sign: '1' | '-1' = '1') {
  const signed = ({ quantity }: { quantity: string }) => plain(decimal(quantity).times(sign))
  const pair = (of: Row, ...names: readonly string[]) => names.map(name => signed(of[name])).join(' ')
  return {
    lines: linesOf(invoice)
      .map(line => `${line['description']} ${pair(line, 'amount_excluding_tax')}`)
      .filter(text => !text.endsWith(' 0'))
      .toSorted(),
    totals: pair(invoice, 'invoice_amount_excluding_tax', 'invoice_amount_including_tax'),
  }
}

const finalInvoices = ({ subscriptionId }: LiveYear) =>
  api.sql(
    `select id, to_char(cutoff_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') as cutoff from invoices
     where pricing_plan_subscription_id = $1 and status = 'FINAL' and type = 'STANDARD' order by cutoff_at`,
    [subscriptionId],
  )

async function yearOf(
  seed: number,
  { until, withoutCards }: { readonly until?: number; readonly withoutCards?: true } = {},
) {
  const own = inTime(liveStory(seed))
  const story = withoutCards ? { ...own, plans: own.plans.map(({ card: _, ...plan }) => plan) } : own
  const previews: Previews[] = []
  const years = await liveYears(tenant, [story], {
    usage,
    until: Math.min(endOfYears([story]), story.start + (until ?? Number.POSITIVE_INFINITY)),
    beside: ({ customer }) => {
      const made = new Previews(tenant, story, customer)
      previews.push(made)
      return made
    },
  })
  const [year] = years
  if (!year) throw new Error('a story is a year')
  return { year, previewed: previews.flatMap(({ made }) => made) }
}

test.each(seeds)(
  'previews of the customer of seed %i are the invoices that follow, and copies are the same',
  async seed => {
    const { year, previewed } = await yearOf(seed)
    const rows = await finalInvoices(year)
    if (seed === CHOSEN) expect(previewed.length).toBeGreaterThan(0)
    for (const { id, cutoff } of rows) {
      const invoice = await get(`invoices/${id}`)
      const before = previewed.find(each => each.cutoff === cutoff)
      if (before) expect(printed(before.invoice), `seed ${seed}, ${cutoff}`).toEqual(printed(invoice))
      if (amounts(invoice).lines.length === 0) continue
      const made = await succeed(tenant, 'POST', `/v1/invoices/${id}/credit_and_copy`, {
        update_credit_invoice_to_final: true,
      })
      const [credit, copy] = [
        await get(`invoices/${made['credit_invoice_id']}`),
        await get(`invoices/${made['new_invoice_id']}`),
      ]
      expect(amounts(copy), `seed ${seed}, the copy of ${cutoff}`).toEqual(amounts(invoice))
      expect(amounts(credit, '-1').totals, `seed ${seed}, the credit note of ${cutoff}`).toEqual(
        amounts(invoice).totals,
      )
    }
  },
)

test.each(seeds)('a simulation by the version that the customer of seed %i is on equals its invoices', async seed => {
  // Of a rate card a simulation prices all by one of its versions, and invoices by each in its time.
  const { year } = await yearOf(seed, { until: 200 * DAY, withoutCards: true })
  const schedules: Row[] = (await get(`pricing-plan-schedules?pricing_plan_subscription_id=${year.subscriptionId}`))[
    'data'
  ]
  const last = schedules
    .filter(each => each['status'] === 'ACTIVE')
    .toSorted((a, b) => (a['start_at'] < b['start_at'] ? -1 : 1))
    .at(-1)
  const { id } = await succeed(
    tenant,
    'POST',
    `/v1/pricing-plan-versions/${last?.['pricing_plan_version_id']}/simulate`,
    {
      periods: 12,
    },
  )
  await runSimulation({ database: api.database, usage: usage.reader }, { tenant: tenant.tenant, id, last: true })
  const { result } = await get(`pricing-plan-version-simulations/${id}`)
  expect(result, `seed ${seed}`).toMatchObject({ number_of_winners: 0, number_of_losers: 0, number_of_failed: 0 })
})

/** The story with one schedule, and without what is charged once a schedule. */
function ofOneSchedule(story: Story): Story {
  const once = new Set(
    story.plans.flatMap(({ prices }) => prices.flatMap(({ id, kind }) => (kind === 'ONCE' ? id : []))),
  )
  return {
    ...story,
    template: null,
    actions: story.actions.filter(({ type }) => !['PLAN', 'ACTIVATE', 'ADDON'].includes(type)),
    plans: story.plans.map(({ id, prices }) => {
      const kept = prices.filter(({ kind }) => kind !== 'ONCE')
      return { id, prices: kept.length > 0 ? kept : prices }
    }),
    deals: story.deals.map(deal => ({
      ...deal,
      coupons: deal.coupons.filter(({ price }) => price === null || !once.has(price)),
    })),
  }
}

/** Shortly before a period ends, the schedule is copied with its coupons, and the copy takes over where the next period starts. */
const copying = (customer: string, cutoff: number): Beside => ({
  moments: [cutoff - 7_200_500],
  step: async (_now, last) => {
    if (last) return
    const { data: subscriptions } = await get(`pricing-plan-subscriptions?customer_id=${customer}`)
    const { data: schedules } = await get(`pricing-plan-schedules?pricing_plan_subscription_id=${subscriptions[0].id}`)
    const path = `/v1/pricing-plan-schedules/${schedules[0].id}/copy?set_previous_end_at=true`
    const made = await succeed(tenant, 'POST', path, {
      start_at: formatInstant(instantOf(cutoff)),
      coupon_discount_behaviour: 'CARRY_OVER',
    })
    await succeed(tenant, 'POST', `/v1/pricing-plan-schedules/${made['id']}/activate`)
  },
  firstPayment: () => null,
  firstPaid: () => undefined,
})

/** Of the suite: a coupon of an amount. */
const COPIED = 204
test.each(seedsOr([COPIED]))(
  'a copy of the schedule of the customer of seed %i bills what the schedule would',
  async seed => {
    const story = ofOneSchedule(inTime(liveStory(seed)))
    const until = endOfYears([story])
    const cutoff = closingsOf(story)[1]?.cutoff ?? until
    const run = { usage, until }
    const years = [
      ...(await liveYears(tenant, [story], run)),
      ...(await liveYears(tenant, [story], { ...run, beside: ({ customer }) => copying(customer, cutoff) })),
    ]
    const [plainly, copied] = await Promise.all(
      years.map(async ({ subscriptionId }) =>
        (
          await api.sql(
            `select cutoff_at::text as cutoff, invoice_date::text as day, amount_excluding_tax::text, amount_including_tax::text
           from invoices where pricing_plan_subscription_id = $1 and status = 'FINAL' and type = 'STANDARD' order by cutoff_at`,
            [subscriptionId],
          )
        ).map(row => Object.values(row).join(' ')),
      ),
    )
    if (seed === COPIED) expect(plainly?.length).toBeGreaterThan(0)
    expect(copied, `seed ${seed}`).toEqual(plainly)
  },
)

/** Of the suite: discounts of everything, a minimum of the invoice, included usage and a fee ahead. */
const REBILLED = 8
test.each(seedsOr([REBILLED]))(
  'a correction of an invoice of the customer of seed %i is what it had been with its usage in time',
  async seed => {
    const rebilling = api.tenants.bTest
    await succeed(rebilling, 'PATCH', `/v1/platforms/${rebilling.tenant.platformId}`, {
      invoice_settings: { invoice_grace_period: { type: 'CUSTOM', configuration: { value: 0, type: 'HOUR' } } },
      late_event_policy: 'CREDIT_AND_REBILL',
    })
    const own = (method: 'GET' | 'PATCH', url: string, body?: object) => succeed(rebilling, method, `/v1/${url}`, body)
    const story = inTime(liveStory(seed))
    const run = { usage, until: endOfYears([story]) }
    const [inTimely] = await liveYears(rebilling, [story], run)
    usage.hold()
    const [late] = await liveYears(rebilling, [story], run)
    usage.release()
    if (!inTimely || !late) throw new Error('a story is a year')
    await runBilling({ database: api.database, usage: usage.reader }, rebilling.tenant, late.subscriptionId)
    const wanted = await finalInvoices(inTimely)
    let corrected = 0
    for (const { id, cutoff } of await finalInvoices(late)) {
      const original = await own('GET', `invoices/${id}`)
      const should = await own('GET', `invoices/${wanted.find(each => each['cutoff'] === cutoff)?.['id']}`)
      const [of] = await api.sql('select * from invoice_corrections where original_invoice_id = $1', [id])
      // What charged nothing has nothing to credit.
      if (!of && amounts(original).lines.length === 0) continue
      if (of) {
        await own('PATCH', `invoices/${of['new_invoice_id']}`, { status: 'FINAL' })
        const credit = await own('GET', `invoices/${of['credit_invoice_id']}`)
        expect(amounts(credit, '-1'), `seed ${seed}, the credit note of ${cutoff}`).toEqual(amounts(original))
        corrected += 1
      }
      const now = of ? await own('GET', `invoices/${of['new_invoice_id']}`) : original
      expect(amounts(now), `seed ${seed}, the correction of ${cutoff}`).toEqual(amounts(should))
    }
    if (seed === REBILLED) expect(corrected).toBeGreaterThan(0)
  },
)
