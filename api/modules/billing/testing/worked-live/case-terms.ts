// The clauses, coupons and seats of the schedule of a worked case.
import { succeed } from '../../../../testing/calls.ts'
import type { TestTenant } from '../../../../testing/harness.ts'
import type { SoldCase } from './sell-case.ts'
import { after, timeOf, type WorkedCase } from './worked-case.ts'

type Terms = { readonly schedule: object; readonly seats: string | null }
const ROOTS: Readonly<Record<string, string>> = { minimum: 'commitment', discount: 'discount', markup: 'markup' }

/** Makes the coupons; clauses of a price name it, `pricing` is of all prices of the plan, and others are of the total. */
export async function termsOfCase(tenant: TestTenant, of: WorkedCase, sold: SoldCase): Promise<Terms> {
  const currency = after(of.start, 'currency') ?? 'EUR'
  const roots: Record<string, Record<string, object[]>> = {}
  const coupon_ids: string[] = []
  for (const [kind = '', ...words] of of.clauses) {
    const root = ROOTS[kind]
    if (kind === 'coupon') coupon_ids.push(await makeCoupon(tenant, words, { currency, value: sold.value['id'] }))
    if (root === undefined) continue
    const { list, entry } = clauseOf(words, currency, sold)
    const before = roots[root] ?? {}
    roots[root] = { ...before, [list]: [...(before[list] ?? []), entry] }
  }
  const [, seats = null] = of.clauses.find(([kind]) => kind === 'seats') ?? []
  return { schedule: { ...roots, ...(coupon_ids.length > 0 ? { coupon_ids } : {}) }, seats }
}

function clauseOf(words: readonly string[], currency: string, sold: SoldCase) {
  const [first = ''] = words
  const figure = (text: string) => figureOf(text, currency)
  const from = after(words, 'from')
  const dates = from === null ? {} : { start_at: timeOf(from) }
  if (!/^[a-z]/.test(first)) return { list: 'totals', entry: { ...figure(first), ...dates } }
  const named = { ...figure(words[1] ?? ''), ...dates }
  if (first === 'pricing') return { list: 'pricings', entry: { ids: [sold.pricings.get('A')], ...named } }
  return { list: 'pricing_item_configs', entry: { ids: [sold.configs.get(`A.${first}`)], ...named } }
}

const figureOf = (text: string, currency: string) =>
  text.endsWith('%') ? { percentage: text.slice(0, -1) } : { amount: { quantity: text, currency } }

async function makeCoupon(
  tenant: TestTenant,
  words: readonly string[],
  { currency, value }: { readonly currency: string; readonly value: string },
): Promise<string> {
  const figure = figureOf(words[0] ?? '', currency)
  const lasts = words.at(-1) ?? ''
  const [type, count] = lasts.split('-')
  const duration = count === undefined ? { type: lasts } : { type: 'PERIOD', period: { type, value: Number(count) } }
  const usage = { meter_value_id: value, number: words[0] }
  const kind = 'percentage' in figure ? { type: 'PERCENTAGE', ...figure } : { type: 'AMOUNT', ...figure }
  const { id } = await succeed(tenant, 'POST', '/v1/coupons', {
    reference: tenant.seed.unique('coupon'),
    name: 'Coupon',
    status: 'ACTIVE',
    discount: words[1] === 'units' ? { type: 'USAGE', usage } : kind,
    duration,
  })
  return id
}
