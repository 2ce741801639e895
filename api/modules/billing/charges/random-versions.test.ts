// Whole plan versions made at random, through the checks of saving and activation: one that is accepted is invoiced whatever was used, in
// amounts that are numbers and add up; one that is refused names its field.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type Decimal, decimal, plain, sum, ZERO } from '../../../../shared/decimal.ts'
import { AppError } from '../../../../shared/errors.ts'
import { canonicalItems } from '../../catalog/pricing-plans/canonical-items.ts'
import { checkPrice, type Priced } from '../../catalog/pricing-plans/checks/check-price.ts'
import { groupMembers } from '../../catalog/pricing-plans/checks/check-pricing.ts'
import { checkVolumeGroups } from '../../catalog/pricing-plans/checks/check-volume-groups.ts'
import type { Measure } from '../../catalog/pricing-plans/checks/measures.ts'
import { randomConfig, randomPriced } from '../../catalog/pricing-plans/checks/testing/random-prices.ts'
import type { PricingItem, PricingItemInput, SplitPricing } from '../../catalog/pricing-plans/schema.ts'
import { checkVariants } from '../../catalog/pricing-plans/variants/check-variants.ts'
import { coverageGap, soldCurrencies, soldPeriods } from '../../catalog/pricing-plans/variants/coverage.ts'
import { isWholeMultiple } from '../../catalog/pricing-plans/variants/period-length.ts'
import { allConfigs, variantFor, variantsOf } from '../../catalog/pricing-plans/variants/variants.ts'
import type { ProductItem } from '../../catalog/products/table.ts'
import type { BillingInputs, CalculationInput, ItemInput, ProductItemInput } from '../terms/billing-inputs.ts'
import { exampleInputs, exampleInvoices } from '../testing/example-inputs.ts'
import type { UsageFigure, UsageNeed } from '../usage/usage-needs.ts'

type Part = { readonly of: Priced; readonly item: PricingItemInput }
/** More of them: SEEDS=2000. */
const RUNS = Number(process.env['SEEDS'] ?? 30)
const MONTH = { type: 'MONTH' as const, value: 1 }
const REGION = { id: 'metp_1', reference: 'region' }

/** Now and then with variants, a group, or a price apart for each region. */
const anyPart: fc.Arbitrary<Part> = fc
  .tuple(randomPriced, randomConfig, fc.integer({ min: 0, max: 11 }), fc.boolean())
  .map(([of, config, form, other]) => {
    const given = form === 9 ? { ...config, split_pricing: { meter_properties: [REGION] } } : config
    const grouped = form === 8 ? { ...given, volume_group_reference: 'group' } : given
    const product_item_ids = ['proi_0']
    if (form === 10) {
      const variants = [
        { billing_period: MONTH, configs: [grouped] },
        { billing_period: { type: 'MONTH' as const, value: 3 }, configs: [grouped] },
      ]
      return { of, item: { product_item_ids, billing_period_configs: variants } }
    }
    if (form === 11) {
      const pricing_currency_configs = [{ currency: other ? 'EUR' : 'USD', configs: [grouped] }]
      return { of, item: { product_item_ids, pricing_currency_configs } }
    }
    return { of, item: { product_item_ids, configs: [grouped] } }
  })

const calculation = (id: string, value_type: 'NUMBER' | 'AMOUNT'): CalculationInput => ({
  id,
  reference: id,
  calculation_type: 'SUM',
  persist: false,
  meter_reference: 'requests',
  value_reference: id,
  value_type,
  property_reference: null,
  property_type: null,
})
const CALCULATIONS = [calculation('calc', 'NUMBER'), calculation('money', 'AMOUNT')]
const MEASURES = new Map(
  CALCULATIONS.map(({ id, value_type }): [string, Measure] => [
    id,
    {
      metric: value_type ?? 'NUMBER',
      type: 'SUM',
      persist: false,
      meter: { reference: 'requests', meter_properties: [] },
    },
  ]),
)
const calculationOf = (of: Priced): string | null =>
  of.model === 'USAGE_BASED' ? (of.metric === 'AMOUNT' ? 'money' : 'calc') : null

/** The items of the version as they are stored. Throws as saving and activation do. */
function saved(parts: readonly Part[]): PricingItem[] {
  const items = canonicalItems(
    parts.map(({ item }, index) => ({ ...item, product_item_ids: [`proi_${index}`] })),
    [],
    { conditions: new Map(), splits: splitsIn(parts) },
  )
  const groups = items.flatMap((item, index) => {
    const of = parts[index]?.of
    if (!of) throw new Error('an item for each part')
    checkVariants(item, `items.${index}`)
    for (const variant of variantsOf(item))
      for (const [place, config] of variant.configs.entries())
        checkPrice(config, of, `items.${index}.${variant.path}.${place}`, variant)
    const measured = { meter_value_calculation_id: calculationOf(of) } as ProductItem
    return groupMembers(item, measured, MEASURES, `items.${index}`)
  })
  checkVolumeGroups(groups)
  const gap = coverageGap([{ id: 'prcg_1', name: 'All', items }], {})
  if (gap) throw new AppError('INVALID_OPERATION', gap.message, { field: 'status' })
  return items
}

const splitsIn = (parts: readonly Part[]): Map<string, SplitPricing> =>
  new Map(
    parts.flatMap(({ item }, index) => {
      const at = (path: string): [string, SplitPricing] => [
        `items.${index}.${path}.split_pricing`,
        { meter_properties: [REGION] },
      ]
      const split = allConfigs(item).some(config => config.split_pricing)
      return split ? variantsOf(item).map(({ path }) => at(`${path}.0`)) : []
    }),
  )

/** Mostly prices that could be saved alone, so that whole versions are accepted too. */
const part = fc.oneof({ weight: 9, arbitrary: anyPart.filter(isAcceptedAlone) }, { weight: 1, arbitrary: anyPart })

function isAcceptedAlone(one: Part): boolean {
  try {
    return saved([one]).length === 1
  } catch (error) {
    if (error instanceof AppError) return false
    throw error
  }
}

const numbers = fc.constantFrom('0', '-4', '0.000000000001', '1', '9.5', '10', '10.25', '31', '1000000')
const used = fc.array(fc.record({ number: numbers, count: fc.integer({ min: 1, max: 40 }) }), {
  minLength: 1,
  maxLength: 4,
})
type Used = readonly { readonly number: string; readonly count: number }[]

/** Some usage for each question, the same whenever it is asked. */
const answering =
  (given: Used) =>
  ({ calculation: of, splitBy, currency, byValue, interval }: UsageNeed): UsageFigure[] => {
    const entries = splitBy || byValue ? given : given.slice(0, 1)
    return entries.map(({ number, count }, index) => ({
      currency: of.value_type === 'AMOUNT' ? (currency ?? 'EUR') : null,
      // More of it, the longer the time.
      number: decimal(number).times(decimal(String(1 + ((interval.end - interval.start) % 3)))),
      count,
      ...(splitBy ? { split: [`region ${index}`] } : {}),
      ...(byValue ? { split: [number] } : {}),
    }))
  }

const MODELS: Readonly<Record<string, ProductItemInput['model_type']>> = { true: 'USAGE_BASED_CONVERSION' }

function inputsOf(parts: readonly Part[], items: readonly PricingItem[]): BillingInputs | null {
  const [billing_period = MONTH] = soldPeriods(items)
  const [currency = 'EUR'] = soldCurrencies(items)
  const product_items = parts.map(
    ({ of }, index): ProductItemInput => ({
      id: `proi_${index}`,
      product_id: 'product',
      reference: null,
      name: `Item ${index}`,
      type: index % 3 === 2 ? 'DEDUCTION' : 'REVENUE',
      model_type: of.model === 'USAGE_BASED' ? (MODELS[String(of.converts === true)] ?? 'USAGE_BASED') : of.model,
      meter_value_calculation_id: calculationOf(of),
      ...(of.model === 'CREDITS' ? { credits: { credit_type_id: `crty_${index}` } } : {}),
      tax_category: null,
      display_order: null,
      unit_name: null,
    }),
  )
  // A schedule with such periods is refused (requireCreditPeriods).
  const wider = items.some((item, index) => {
    if (parts[index]?.of.model !== 'CREDITS') return false
    const configs = variantFor(item, { currency, billingPeriod: billing_period })?.configs ?? []
    return configs.some(
      each => !each.billing_period && each.pricing_period && !isWholeMultiple(billing_period, each.pricing_period),
    )
  })
  if (wider) return null
  const start = '2026-01-01T00:00:00Z'
  const inputs = exampleInputs({
    start,
    items: [],
    subscription: { billing_period, billing_currency: currency },
    schedules: [{ pricing_currency: currency }],
    inputs: {
      calculations: CALCULATIONS,
      product_items,
      condition_names: { properties: [{ ...REGION, type: 'STRING' }], variables: [] },
    },
  })
  const [pricing] = inputs.pricings
  if (!pricing) throw new Error('the example has a pricing')
  return { ...inputs, pricings: [{ ...pricing, items: items as unknown as ItemInput[] }] }
}

const PLAIN = /^-?\d+(?:\.\d+)?$/

/** Every quantity is a number, and the lines sum to their total, as the printed figures do. */
function expectSound({ content, amount_excluding_tax }: ReturnType<typeof exampleInvoices>[number]): void {
  const quantities = JSON.stringify(content).matchAll(/"quantity":"([^"]*)"/g)
  for (const [, quantity = ''] of quantities) expect(quantity).toMatch(PLAIN)
  const lines = content.periods.flatMap(({ groups }) => groups.flatMap(group => group.lines))
  const total: Decimal = sum(lines.map(line => decimal(line.amount_excluding_tax.quantity)))
  expect(plain(total)).toBe(plain(decimal(String(amount_excluding_tax))))
}

test('what is accepted is invoiced whatever was used, and what is refused names its field', () => {
  let accepted = 0
  let charged = 0
  fc.assert(
    fc.property(fc.array(part, { minLength: 1, maxLength: 4 }), used, (parts, given) => {
      let items: PricingItem[]
      try {
        items = saved(parts)
      } catch (error) {
        if (!(error instanceof AppError)) throw error
        expect(['INVALID_FIELD', 'MISSING_FIELD', 'INVALID_OPERATION']).toContain(error.code)
        expect(error.details.field).toMatch(/^(?:items\.\d|status$)/)
        return
      }
      const inputs = inputsOf(parts, items)
      if (!inputs) return
      accepted += 1
      const invoices = exampleInvoices(inputs, 4, answering(given))
      for (const invoice of invoices) expectSound(invoice)
      charged += invoices.some(({ amount_excluding_tax }) => !decimal(String(amount_excluding_tax)).eq(ZERO)) ? 1 : 0
      // Neither the order of the prices nor an earlier invoice changes what is charged.
      const [pricing] = inputs.pricings
      const turned = {
        ...inputs,
        pricings: [{ ...pricing, items: pricing?.items.toReversed() ?? [] }],
      } as BillingInputs
      const totals = (of: typeof invoices) => of.map(each => each.amount_excluding_tax)
      expect(totals(exampleInvoices(turned, 4, answering(given)))).toEqual(totals(invoices))
    }),
    { numRuns: RUNS },
  )
  expect(accepted).toBeGreaterThan(RUNS / 5)
  expect(charged).toBeGreaterThan(RUNS / 10)
})
