// Those of the cases that one plan can sell, through the API: a schedule takes the clauses of each in turn, and is previewed.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { decimal } from '../../../../../shared/decimal.ts'
import { type ApiHarness, startOwnApi, type TestTenant } from '../../../../testing/harness.ts'
import type { Row } from '../../../../testing/wire.ts'
import { billedSubscription, succeed } from '../billed-subscription.ts'
import { NO_USAGE } from '../no-usage.ts'
import { couponDiscount, durationOf, limitOf, scheduleClauses } from './case-inputs.ts'
import { type Case, readCases } from './read-cases.ts'
import { idsOfSlots, type SlotPlan, sellSlots, slotsOf } from './sell-slots.ts'
import { type ShownLine, showInvoice } from './show-invoice.ts'

let api: ApiHarness
let tenant: TestTenant
let plan: SlotPlan
let subscriptionId: string
let scheduleId: string
/** The units of each calculation in the case at hand. */
let used = new Map<string, string>()

const START = '2026-01-01T00:00:00Z'
const read = async (_tenant: unknown, _parts: unknown, { calculation }: { calculation: { id: string } }) => {
  const number = used.get(calculation.id)
  return number === undefined ? [] : [{ currency: null, number: decimal(number), count: 1 }]
}

beforeAll(async () => {
  api = await startOwnApi({ usage: { ...NO_USAGE, read } })
  tenant = api.tenants.aTest
  api.clock.set(Date.parse('2026-01-10T00:00:00Z'))
  plan = await sellSlots(tenant)
  const billed = await billedSubscription(tenant, { start_at: START, activate: false })
  subscriptionId = billed.subscriptionId
  const found = await succeed(
    tenant,
    'GET',
    `/v1/pricing-plan-schedules?pricing_plan_subscription_id=${subscriptionId}`,
  )
  scheduleId = found['data'][0].id
  await succeed(tenant, 'PATCH', `/v1/pricing-plan-schedules/${scheduleId}`, {
    pricing_plan_version_id: plan.versionId,
  })
})
afterAll(() => api?.close())

const isOfOneUnit = ({ bands }: Case['prices'][number]): boolean => bands === null || bands === '1'
/**
 * One invoice of one month in euros without a wallet; amounts that are usage at 1.00. With one price and one clause they show too little,
 * and where nothing is charged, what the plan sells beside the case decides.
 */
const isEligible = ({ settings, prices, clauses, invoices }: Case): boolean =>
  settings.size === 0 &&
  prices.length + clauses.length > 2 &&
  prices.some(({ quantity }) => quantity !== '0') &&
  invoices.length === 1 &&
  prices.every(price => isOfOneUnit(price) && !price.isAhead) &&
  clauses.every(({ kind, words }) => kind !== 'wallet' && !words.includes('since') && !words.includes('units'))

const CASES = ['coupons', 'discounts', 'minimums', 'taxes', 'rounding']
  .flatMap(name => readCases(`./${name}.txt`))
  .filter(isEligible)

// A PATCH leaves the lists that it does not name.
const NO_COMMITMENT = { pricing_item_configs: null, pricing_items: null, pricings: null, totals: null }
const NO_DISCOUNT = { ...NO_COMMITMENT, product_items: null, products: null, product_categories: null }

async function couponsOf(of: Case, ids: Parameters<typeof limitOf>[1]): Promise<Map<string, number>> {
  const made = new Map<string, number>()
  for (const clause of of.clauses.filter(({ kind }) => kind === 'coupon')) {
    const reference = tenant.seed.unique('coupon')
    const coupon = await succeed(tenant, 'POST', '/v1/coupons', {
      reference,
      name: reference,
      status: 'ACTIVE',
      discount: couponDiscount(clause, 'EUR'),
      duration: durationOf(clause),
      limited_to: limitOf(clause, ids),
    })
    made.set(coupon['id'], clause.number)
  }
  return made
}

test('there are enough of them', () => expect(CASES.length).toBeGreaterThanOrEqual(40))

test.each(CASES)('$title', async of => {
  const taken = slotsOf(of, plan)
  if (!taken) throw new Error('the plan has a price for each of the case')
  const ids = idsOfSlots(taken, plan)
  used = new Map(of.prices.flatMap(({ name, quantity }) => [[taken.get(name)?.calculationId ?? '', quantity]]))
  const { clauses, numbers } = scheduleClauses(of, ids)
  const coupons = await couponsOf(of, ids)
  await succeed(tenant, 'PATCH', `/v1/pricing-plan-schedules/${scheduleId}`, {
    discount: { ...NO_DISCOUNT, ...clauses.discount },
    markup: clauses.markup ?? null,
    commitment: { ...NO_COMMITMENT, ...clauses.commitment },
    coupon_ids: [...coupons.keys()],
  })
  const preview = await succeed(tenant, 'POST', '/v1/invoices/preview', {
    pricing_plan_subscription_id: subscriptionId,
  })
  const invoice: Row = preview['invoice']
  const lines: Row[] = (invoice['periods'] ?? []).flatMap(({ groups }: Row) =>
    groups.flatMap((group: Row) => group['lines']),
  )
  const nameOf = (line: Row): string =>
    of.prices.find(({ name }) => taken.get(name)?.productItemId === line['product_items'][0]?.id)?.name ?? '?'
  const { base_amount, tax_amount, total_amount } = invoice['tax_summary']
  const shown = showInvoice(
    of,
    {
      lines: lines.map(line => ({ ...line, description: nameOf(line) }) as unknown as ShownLine),
      totals: [base_amount, tax_amount, total_amount].map(({ quantity }) => quantity),
    },
    ({ clause = '', coupon_data }) =>
      numbers.get(clause.split(' ')[0] ?? '') ?? coupons.get(coupon_data?.coupon_id ?? '') ?? 0,
  )
  expect([shown]).toEqual(of.invoices)
})
