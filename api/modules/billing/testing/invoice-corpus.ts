// Invoices of subscriptions generated from a seed, for a test that compares each invoice with its stored text. Each
// subscription differs in its prices, periods, schedules, parties, settings and events. Each invoice is computed by the
// same code as a real one, closed, and followed by the next, with events that arrive late.
import type { BillingTime } from '../../../../shared/billing/periods.ts'
import { decimal, plain } from '../../../../shared/decimal.ts'
import { formatInstant, instantOf } from '../../../../shared/time.ts'
import type { UsageCondition } from '../../../../shared/usage/condition.ts'
import type { NamedCustomer } from '../../invoices/document/parties.ts'
import { chargesOf } from '../charges/charges.ts'
import { isCouponed } from '../charges/couponed-charges.ts'
import { isCutoff } from '../charges/invoices-of-charges.ts'
import { isPart } from '../charges/paid-parts.ts'
import type { ClosedUsage } from '../late/closed-usage.ts'
import { type LateCharge, lateCharge, lateUnits, termOf } from '../late/late-usage.ts'
import { type PricedInvoice, priceInvoice } from '../pricing/price-invoice.ts'
import type {
  BillingInputs,
  CalculationInput,
  ConfigInput,
  ProductItemInput,
  ScheduleInput,
} from '../terms/billing-inputs.ts'
import { resolveTerms } from '../terms/price-terms.ts'
import { activeSpan, invoiceWindows } from '../terms/windows.ts'
import { type CustomerFigure, type UsageFigure, type UsageNeed, usageNeeds } from '../usage/usage-needs.ts'
import { type Arrival, quantityOf } from './example-closing.ts'
import { type ExampleItem, exampleInputs } from './example-inputs.ts'
import { chance, pick, type Random, randomOf, whole } from './year/random.ts'

const DAY_MS = 86_400_000
const SUBSCRIPTIONS = 110
const INVOICES_EACH = 3

export type CorpusInvoice = { readonly name: string; readonly invoice: unknown }

/** The corpus: a name and the columns of each invoice, or the message of the refusal in its place. */
export function invoiceCorpus(): CorpusInvoice[] {
  return Array.from({ length: SUBSCRIPTIONS }, (_, seed) => {
    const subscription = corpusSubscription(seed)
    return billInTurn(subscription).map(
      (invoice, index): CorpusInvoice => ({ name: `${seed}.${index} ${subscription.name}`, invoice }),
    )
  }).flat()
}

/** The subscription of this number; the corpus has those from 0 on. */
export const corpusSubscription = (seed: number): CorpusSubscription => randomSubscription(randomOf(seed + 1))

export type CorpusSubscription = {
  readonly name: string
  readonly inputs: BillingInputs
  readonly events: readonly Arrival[]
}

const CURRENCIES: readonly [string, ...string[]] = ['EUR', 'EUR', 'EUR', 'USD', 'JPY', 'KWD']
const PERIODS = [
  { type: 'MONTH', value: 1 },
  { type: 'MONTH', value: 1 },
  { type: 'MONTH', value: 3 },
  { type: 'YEAR', value: 1 },
  { type: 'WEEK', value: 2 },
  { type: 'DAY', value: 10 },
] as const
const CALCULATIONS: readonly Pick<CalculationInput, 'id' | 'calculation_type' | 'value_type' | 'persist'>[] = [
  { id: 'sum', calculation_type: 'SUM', value_type: 'NUMBER', persist: false },
  { id: 'max', calculation_type: 'MAX', value_type: 'NUMBER', persist: false },
  { id: 'min', calculation_type: 'MIN', value_type: 'NUMBER', persist: false },
  { id: 'seats', calculation_type: 'SUM', value_type: 'NUMBER', persist: true },
  { id: 'peak', calculation_type: 'MAX', value_type: 'NUMBER', persist: true },
  { id: 'money', calculation_type: 'SUM', value_type: 'AMOUNT', persist: false },
]

const price = (random: Random, currency: string) => ({
  quantity: plain(decimal(String(whole(random, 0, 200_000))).div('10000')),
  currency,
})

function bandsOf(random: Random, type: string, { currency, money }: { currency: string; money: boolean }) {
  const one = () => ({ amount: price(random, currency) })
  const bound = (number: number) =>
    money ? { amount: { quantity: String(number), currency } } : { number: String(number) }
  if (type === 'FIXED') return [{ fixed_amount: price(random, currency) }]
  if (type === 'FLAT') {
    if (money) return [{ percentage: '1.4', ...(chance(random, 0.5) ? one() : {}) }]
    return [
      {
        ...one(),
        ...(chance(random, 0.3) ? { block_size: { number: pick(random, ['7', '1000']) } } : {}),
        ...(chance(random, 0.3) ? { minimum_amount: price(random, currency) } : {}),
        ...(chance(random, 0.2) ? { fixed_amount: price(random, currency) } : {}),
      },
    ]
  }
  const tops = [whole(random, 5, 60), whole(random, 61, 900)]
  const charge = () => (type === 'STAIR_STEP' ? { fixed_amount: price(random, currency) } : one())
  return [...tops.map(top => ({ ...charge(), tier_top_bound: bound(top) })), charge()]
}

function randomItem(random: Random, currency: string, index: number): ExampleItem {
  const common: Partial<ProductItemInput> = {
    name: pick(random, ['Tokens', 'Seats', 'Platform fee', 'Support']),
    reference: chance(random, 0.5) ? `item-${index}` : null,
    tax_category: chance(random, 0.15) ? pick(random, ['NO_TAX', 'EXEMPT', 'STANDARD']) : null,
    display_order: chance(random, 0.3) ? whole(random, 0, 3) : null,
    product_id: pick(random, ['product', 'product', 'other']),
    ...(chance(random, 0.1) ? { type: 'DEDUCTION' as const } : {}),
  }
  if (chance(random, 0.4)) {
    const config: Partial<ConfigInput> = {
      pricing_type: 'FIXED',
      billing_in_advance: chance(random, 0.5),
      ...(chance(random, 0.3) ? { pricing_period: pick(random, PERIODS) } : {}),
    }
    return {
      item: { ...common, model_type: 'RECURRING' },
      config,
      bands: bandsOf(random, 'FIXED', { currency, money: false }),
    }
  }
  const calculation = pick(random, ['sum', 'sum', 'sum', 'max', 'min', 'seats', 'peak', 'money'])
  const money = calculation === 'money'
  const type = pick(random, ['FLAT', 'FLAT', 'TIERED', 'TOP_TIERED', 'STAIR_STEP', 'FIXED'])
  const conditions = {
    name: 'Region EU',
    meter_properties: [
      {
        id: 'region',
        reference: 'region',
        comparator: 'EQUALS',
        value: 'eu',
        values: null,
        meter_property_variable_id: null,
      },
    ],
  } as const
  const config: Partial<ConfigInput> = {
    pricing_type: type,
    ...(chance(random, 0.3) ? { pricing_period: pick(random, PERIODS) } : {}),
    ...(chance(random, 0.15)
      ? { conditions: { ...conditions, meter_properties: [...conditions.meter_properties] } }
      : {}),
  }
  const item = { ...common, model_type: 'USAGE_BASED' as const, meter_value_calculation_id: calculation }
  return { item, config, bands: bandsOf(random, type, { currency, money }) }
}

const named = (id: string): NamedCustomer => ({
  id,
  reference: id === 'beta' ? 'ref-beta' : null,
  type: 'ORGANIZATION',
  individual: null,
  organization: { legal_name: id === 'beta' ? null : `The ${id}` },
})

function randomSubscription(random: Random): CorpusSubscription {
  const currency = pick(random, CURRENCIES)
  const startMs = Date.UTC(2025, 0, 1) + whole(random, 0, 400) * DAY_MS
  const day = (count: number): string => formatInstant(instantOf(startMs + count * DAY_MS))
  const items = Array.from({ length: whole(random, 1, 4) }, (_, index) => randomItem(random, currency, index))
  const change = whole(random, 10, 70)
  const several = chance(random, 0.25)
  const schedules: Partial<ScheduleInput>[] = several ? [{ end_at: day(change) }, { start_at: day(change) }] : [{}]
  const shared = chance(random, 0.3)
  const including = chance(random, 0.25)
  const unrounded = chance(random, 0.25)
  const billing_period = pick(random, PERIODS.slice(0, 3) as unknown as typeof PERIODS)
  const billing_time = pick<BillingTime>(random, ['CALENDAR', 'CALENDAR', 'EXACT'])
  const base = exampleInputs({
    start: day(0),
    items,
    schedules: schedules.map(each => ({ pricing_currency: currency, ...each })),
    amountType: including ? 'INCLUDING_TAX' : 'EXCLUDING_TAX',
    subscription: {
      billing_currency: currency,
      billing_period,
      billing_time,
      purchase_order_number: chance(random, 0.2) ? 'PO-7' : null,
      display_invoice_sub_lines_per_processing_only_customer: shared,
      inactive_periods: chance(random, 0.15) ? [{ start_at: day(whole(random, 20, 120)) }] : [],
    },
  })
  const persisted = items.flatMap(({ item }, index) =>
    ['seats', 'peak'].includes(item?.meter_value_calculation_id ?? '') && chance(random, 0.5)
      ? [
          {
            id: `told${index}`,
            schedule_id: 'schedule0',
            config_id: `config${index}`,
            start_at: day(whole(random, 0, 8)),
            persist_usage: '37.5',
          },
        ]
      : [],
  )
  const country = pick(random, ['NL', 'NL', 'DE', 'US', 'GB', null])
  const [calculation] = base.calculations
  if (!calculation) throw new Error('an example has a calculation')
  const inputs: BillingInputs = {
    ...base,
    platform: {
      ...base.platform,
      default_product_tax_category: chance(random, 0.1) ? 'NO_TAX' : null,
      invoice_settings: {
        ...(chance(random, 0.25) ? { add_zero_meter_value_invoice_lines: true } : {}),
        ...(chance(random, 0.2) ? { footnote: 'Thank you.' } : {}),
        ...(chance(random, 0.3)
          ? {
              invoice_date_determination_type: pick(random, [
                'AFTER_END_OF_BILLING_PERIOD',
                'WHEN_INVOICE_GOES_TO_FINAL',
              ]),
            }
          : {}),
      },
      rounding_settings: unrounded ? [{ rounding_target: 'INVOICE', rounding_mode: 'UNROUNDED' }] : [],
    },
    customer: {
      ...base.customer,
      timezone: pick(random, [null, null, 'Europe/Amsterdam', 'America/New_York']),
      organization: {
        legal_name: 'Acme',
        ...(chance(random, 0.5) ? { tax_id: 'XX1' } : {}),
        ...(country === null ? {} : { registered_address: { country } }),
      },
    },
    products: [
      {
        id: 'product',
        name: 'Inference',
        category_id: chance(random, 0.5) ? 'category' : null,
        tax_category: null,
        display_order: null,
      },
      {
        id: 'other',
        name: 'Storage',
        category_id: null,
        tax_category: chance(random, 0.2) ? 'NO_TAX' : null,
        display_order: 1,
      },
    ],
    product_categories: [{ id: 'category', name: 'Models', tax_category: null, display_order: whole(random, 0, 2) }],
    calculations: CALCULATIONS.map(each => ({ ...calculation, ...each, reference: `${each.id}_of_tokens` })),
    persisted_usages: persisted,
    condition_names: { properties: [{ id: 'region', reference: 'region', type: 'STRING' }], variables: [] },
    sub_line_customers: shared ? ['alpha', 'beta', 'customer'].map(named) : [],
  }
  const settings = [currency, `${billing_period.value} ${billing_period.type}`, billing_time]
  const flags = [
    several && 'two schedules',
    shared && 'sub lines',
    including && 'including tax',
    unrounded && 'unrounded',
  ]
  const types = items.map(
    ({ config, item }) =>
      `${config?.pricing_type}${item?.meter_value_calculation_id ? `/${item.meter_value_calculation_id}` : ''}`,
  )
  return {
    name: [...settings, ...types, ...flags.filter(flag => flag !== false)].join(', '),
    inputs,
    events: randomEvents(random, currency),
  }
}

const randomEvents = (random: Random, currency: string): Arrival[] =>
  Array.from({ length: whole(random, 0, 25) }, () => ({
    day: whole(random, 0, 110),
    quantity: plain(decimal(String(whole(random, -50, 9_999))).div('100')),
    after: chance(random, 0.75) ? 0 : whole(random, 1, INVOICES_EACH),
    customerId: pick(random, ['customer', 'alpha', 'beta']),
    currency,
  }))

/** The first invoices, each closed with what has arrived by then. A refusal ends them. */
function billInTurn(subscription: CorpusSubscription): unknown[] {
  const { inputs } = subscription
  const terms = resolveTerms(inputs)
  const closed: ClosedUsage[] = []
  const invoices: unknown[] = []
  const billed = new Set<string>()
  for (const window of invoiceWindows(inputs)) {
    if (invoices.length >= INVOICES_EACH) break
    if (window.arrears === null && chargesOf(terms, window, billed).length === 0) continue
    const come = closed.length
    const late = lateUnits(closed).flatMap((unit): LateCharge[] => {
      const term = termOf(terms, unit)
      return term ? [lateCharge(term, unit, `${window.cutoffAt}`)] : []
    })
    const needs = usageNeeds([...chargesOf(terms, window, billed), ...late.map(({ charge }) => charge)])
    const { usage, usageByCustomer } = usageOfCorpus(subscription, needs, come)
    const finalizedAt = come % 2 === 0 ? null : instantOf(window.cutoffAt + DAY_MS)
    let priced: PricedInvoice
    try {
      priced = priceInvoice(inputs, {
        terms,
        window,
        billed: new Set(billed),
        usage,
        usageByCustomer,
        late,
        finalizedAt,
      })
    } catch (error) {
      return [...invoices, { refused: error instanceof Error ? error.message : error }]
    }
    const { columns, advanceCharges } = priced
    // Which of them are for a part of a period, and what coupons left of them or when their invoice was cut, was not said when these invoices were kept.
    const keys = advanceCharges.filter(key => !isPart(key) && !isCouponed(key) && !isCutoff(key))
    invoices.push({ ...columns, content: { ...columns.content, advance_charges: keys } })
    for (const key of advanceCharges) billed.add(key)
    const counted = { positions: [], customer_keys: [], names_hash: null, charges: priced.counted }
    closed.push({ invoice_id: `invoice${come}`, subscription_id: 'subscription', ...counted })
  }
  return invoices
}

/** What these needs read when so many invoices are closed: events that arrive later are not in it. */
export function usageOfCorpus({ inputs, events }: CorpusSubscription, needs: readonly UsageNeed[], closed: number) {
  const start = activeSpan(inputs)?.start ?? 0
  const of = (need: UsageNeed): Arrival[] =>
    events.filter(({ day, after, quantity }) => {
      const time = start + day * DAY_MS
      return (
        after <= closed && need.interval.start <= time && time < need.interval.end && meets(need.condition, quantity)
      )
    })
  const shared = inputs.subscription.display_invoice_sub_lines_per_processing_only_customer
  const usage = new Map(needs.map(need => [need.key, figuresOf(need, of(need))]))
  return { usage, usageByCustomer: shared ? new Map(needs.map(need => [need.key, byCustomer(need, of(need))])) : null }
}

/** Half of the events have the property that a condition requires. */
const meets = (condition: UsageCondition | null, quantity: string): boolean =>
  condition === null || Number(quantity.at(-1)) % 2 === 0

const figuresOf = ({ calculation }: UsageNeed, events: readonly Arrival[]): UsageFigure[] => {
  if (events.length === 0) return []
  const number = quantityOf(calculation.calculation_type, events)
  const currency = calculation.value_type === 'AMOUNT' ? (events[0]?.currency ?? null) : null
  return [{ currency, number, count: events.length }]
}

function byCustomer(need: UsageNeed, events: readonly Arrival[]): CustomerFigure[] {
  const ids = [...new Set(events.map(({ customerId }) => customerId ?? 'customer'))].sort()
  return ids.flatMap(customerId => {
    const own = events.filter(event => (event.customerId ?? 'customer') === customerId)
    return figuresOf(need, own).map(figure => ({ ...figure, customerId, weight: figure.number }))
  })
}
