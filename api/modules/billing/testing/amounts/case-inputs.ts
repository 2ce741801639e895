// A case as what billing prices: the terms of a subscription, its usage and its wallets.
import type { ExchangeRate } from '../../../../../shared/billing/exchange/exchange-rates.ts'
import type { PeriodLength } from '../../../../../shared/billing/periods.ts'
import type { COMPARATORS, WalletBalance } from '../../../../../shared/billing/steps/clauses.ts'
import { decimal } from '../../../../../shared/decimal.ts'
import type { Discount } from '../../../subscriptions/clauses/discount-schema.ts'
import type { Commitment, Markup } from '../../../subscriptions/clauses/schema.ts'
import type { AppliedCoupon } from '../../../subscriptions/coupons/schema.ts'
import type { BillingInputs } from '../../terms/billing-inputs.ts'
import { type ExampleItem, exampleInputs, metered, plainUsage, recurring } from '../example-inputs.ts'
import { after, type Case, type CaseClause, type CasePrice } from './read-cases.ts'

const MONTH = { type: 'MONTH', value: 1 } as const
const PERCENT = /^(.+)%$/

/** What ids the things of a case have. */
export type CaseIds = {
  readonly price: (name: string) => string
  readonly item: (name: string) => string
  readonly productItem: (name: string) => string
  readonly product: (name: string) => string
  readonly category: (name: string) => string
  readonly pricing: string
}

/** The lists of a schedule's clauses by the words that cases use. */
const LISTS = {
  price: 'pricing_item_configs',
  item: 'pricing_items',
  pricing: 'pricings',
  product_item: 'product_items',
  product: 'products',
  category: 'product_categories',
  total: 'totals',
} as const
type ListWord = keyof typeof LISTS

export const currencyOf = ({ settings }: Case): string => settings.get('currency') ?? 'EUR'
export const lengthOf = (text: string): PeriodLength => {
  const [type, value] = text.split('-')
  return { type, value: Number(value) } as PeriodLength
}
const midnight = (day: string): string => `${day}T00:00:00Z`

function listOf({ words }: CaseClause): ListWord {
  const list = (Object.keys(LISTS) as ListWord[]).find(each => each === words[0])
  if (!list) throw new Error(`no such list: ${words.join(' ')}`)
  return list
}

const idsIn = (list: ListWord, words: readonly string[], ids: CaseIds): string[] => {
  const names = (words[1] ?? '').split(',')
  switch (list) {
    case 'price':
      return names.map(ids.price)
    case 'item':
      return names.map(ids.item)
    case 'pricing':
      return [ids.pricing]
    case 'product_item':
      return names.map(ids.productItem)
    case 'product':
      return names.map(ids.product)
    case 'category':
      return names.map(ids.category)
    default:
      return []
  }
}

/** The figure of a clause: after the list and what it names. */
function figureOf(words: readonly string[], currency: string) {
  const text = words.find(word => /^\d/.test(word) && !/^\d{4}-/.test(word)) ?? ''
  const percentage = PERCENT.exec(text)?.[1]
  return percentage === undefined ? { amount: { quantity: text, currency } } : { percentage }
}

const SIGNS: Readonly<Record<string, (typeof COMPARATORS)[number]>> = {
  '=': 'EQUALS',
  '!=': 'NOT_EQUALS',
  '>': 'GREATER_THAN',
  '>=': 'GREATER_THAN_OR_EQUALS',
  '<': 'LESS_THAN',
  '<=': 'LESS_THAN_OR_EQUALS',
}

function conditionOf(words: readonly string[], currency: string) {
  const place = words.indexOf('if')
  if (place < 0) return {}
  const comparator = SIGNS[words[place + 1] ?? '']
  if (!comparator) throw new Error(`no such comparison: ${words.join(' ')}`)
  return { condition: { comparator, value: { amount: { quantity: words[place + 2] ?? '', currency } } } }
}

function datesOf(words: readonly string[]) {
  const [from, to] = [after(words, 'from'), after(words, 'to')]
  return { ...(from ? { start_at: midnight(from) } : {}), ...(to ? { end_at: midnight(to) } : {}) }
}

export type CaseClauses = { readonly discount?: Discount; readonly markup?: Markup; readonly commitment?: Commitment }
const ROOTS = { discount: 'discount', markup: 'markup', minimum: 'commitment' } as const

/** The clauses of a case as a schedule has them, and the number of each by its path. */
export function scheduleClauses(of: Case, ids: CaseIds): { clauses: CaseClauses; numbers: Map<string, number> } {
  const numbers = new Map<string, number>()
  const roots: Record<string, Record<string, unknown[]>> = {}
  for (const clause of of.clauses) {
    const { kind, number } = clause
    if (kind === 'coupon' || kind === 'wallet') continue
    const list = LISTS[listOf(clause)]
    const before = roots[ROOTS[kind]] ?? {}
    const entries = before[list] ?? []
    numbers.set(`${ROOTS[kind]}.${list}.${entries.length}`, number)
    roots[ROOTS[kind]] = { ...before, [list]: [...entries, entryOf(clause, ids, currencyOf(of))] }
  }
  return { clauses: roots, numbers }
}

function entryOf(clause: CaseClause, ids: CaseIds, currency: string) {
  const { words } = clause
  const list = listOf(clause)
  const named = idsIn(list, words, ids)
  const figure = words.includes('units')
    ? { meter_value_calculation: { number: words[words.indexOf('units') - 1] ?? '' } }
    : figureOf(words.slice(list === 'total' || list === 'pricing' ? 1 : 2), currency)
  return {
    ...(named.length > 0 ? { ids: named } : {}),
    ...figure,
    ...datesOf(words),
    ...conditionOf(words, currency),
  }
}

/** What a coupon is limited to: `on a,b`, `on product P` or `on category K`. */
export function limitOf({ words }: CaseClause, ids: CaseIds) {
  const kind = after(words, 'on')
  if (kind === null) return null
  const names = (after(words, kind) ?? '').split(',')
  if (kind === 'product') return { product_ids: names.map(ids.product) }
  if (kind === 'category') return { product_category_ids: names.map(ids.category) }
  return { product_item_ids: kind.split(',').map(ids.productItem) }
}

export function durationOf({ words }: CaseClause): AppliedCoupon['duration'] {
  if (words.includes('once')) return { type: 'ONE_TIME' }
  const period = words.find(word => /^(DAY|WEEK|MONTH|YEAR)-\d/.test(word))
  return period ? { type: 'PERIOD', period: lengthOf(period) } : { type: 'FOREVER' }
}

export function couponDiscount({ words }: CaseClause, currency: string): AppliedCoupon['discount'] {
  if (words[1] === 'units') return { type: 'USAGE', usage: { meter_value_id: 'metv_1', number: words[0] ?? '' } }
  const figure = figureOf(words, currency)
  return { type: 'amount' in figure ? 'AMOUNT' : 'PERCENTAGE', ...figure, ...conditionOf(words, currency) }
}

const couponOf = (clause: CaseClause, ids: CaseIds, currency: string): AppliedCoupon => {
  const since = after(clause.words, 'since')
  return {
    coupon_id: `coupon${clause.number}`,
    coupon_name: `Coupon ${clause.number}`,
    promotion_code_id: null,
    promotion_code: null,
    discount: couponDiscount(clause, currency),
    meter_value_reference: 'tokens',
    duration: durationOf(clause),
    limited_to: limitOf(clause, ids),
    start_at: since === null ? null : midnight(since),
  }
}

export const bandsOf = (text: string, currency: string) =>
  text.split(',').map(band => {
    const [price = '', top] = band.split('<=')
    return {
      amount: { quantity: price, currency },
      ...(top === undefined ? {} : { tier_top_bound: { number: top } }),
    }
  })

function itemOf(price: CasePrice, currency: string): ExampleItem {
  const { bands, quantity, isAhead } = price
  const priced =
    bands === null
      ? recurring(quantity, { billing_in_advance: isAhead, pricing_period: MONTH })
      : metered(bandsOf(bands, currency), { pricing_type: bands.includes(',') ? 'TIERED' : 'FLAT' })
  const item = {
    ...priced.item,
    name: price.name,
    product_id: productOf(price.product),
    type: price.isDeduction ? ('DEDUCTION' as const) : ('REVENUE' as const),
    tax_category: price.taxCategory,
    // Each metered price has usage of its own.
    ...(bands === null ? {} : { meter_value_calculation_id: `calc ${price.name}` }),
  }
  const inCurrency = bands === null ? [{ fixed_amount: { quantity, currency } }] : priced.bands
  return { ...priced, item, bands: inCurrency }
}

/** `P/K` is the product P of the category K. */
const productOf = (text: string): string => text.split('/')[0] ?? ''
const categoryOf = (text: string): string | null => text.split('/')[1] ?? null

export const idsOf = ({ prices }: Case): CaseIds => {
  const place = (name: string): number => prices.findIndex(price => price.name === name)
  return {
    price: name => `config${place(name)}`,
    item: name => `priced${place(name)}`,
    productItem: name => `item${place(name)}`,
    product: name => name,
    category: name => name,
    pricing: 'pricing',
  }
}

const COLLECTED = ['CA_GST_HST', 'CA_QST', 'CA_PST_BC', 'CA_PST_MB', 'CA_PST_SK'] as const

/**
 * A Dutch sale, unless a case gives a percentage, as between two parties in the US, a province of Canada, or `parties`: the country of
 * the seller and of the customer, and what else decides.
 */
function partiesOf({ settings }: Case, inputs: BillingInputs): Pick<BillingInputs, 'customer' | 'billing_entity'> {
  const { customer, billing_entity } = inputs
  const province = settings.get('province')
  const [seller, buyer, ...said] = settings.get('parties')?.split(' ') ?? []
  const country = province === undefined ? (settings.has('tax') ? 'US' : 'NL') : 'CA'
  const state = province === undefined ? {} : { state: province }
  const registered_address = { country: buyer ?? country, ...state }
  const exempt = settings.get('exempt')
  const organization = {
    ...customer.organization,
    registered_address,
    ...(said.includes('no-id') ? { tax_id: null } : {}),
    ...(said.includes('tax-exempt') ? { tax_exempt: true } : {}),
    ...(exempt === undefined ? {} : { tax_exempt_percentage: exempt }),
  }
  const individual = { residential_address: registered_address }
  return {
    customer: said.includes('person')
      ? { ...customer, type: 'INDIVIDUAL', organization: null, individual }
      : { ...customer, organization },
    billing_entity: {
      ...billing_entity,
      registered_address: { country: seller ?? country, ...state },
      ...(province ? { tax_ids: COLLECTED.map(type => ({ type, id: '1' })) } : {}),
      ...(said.includes('local-vat') ? { tax_settings: { apply_local_vat_for_missing_tax_id: true } } : {}),
      ...(said.includes('registered')
        ? { tax_registrations: [{ tax_id: '1', registered_address: { country: buyer ?? country } }] }
        : {}),
    },
  }
}

/** An exchange rate of the end of January. */
function rateOf(text: string): ExchangeRate {
  const [base_currency = '', currency = '', rate = ''] = text.split(' ')
  return { base_currency, currency, rate, rate_timestamp: '2026-01-30T00:00:00Z', source: 'ECB' }
}

export function inputsOf(of: Case): BillingInputs {
  const { settings, prices, clauses } = of
  const currency = currencyOf(of)
  const ids = idsOf(of)
  const to = settings.get('to')
  const coupons = clauses.filter(({ kind }) => kind === 'coupon').map(clause => couponOf(clause, ids, currency))
  const inputs = exampleInputs({
    start: midnight(settings.get('from') ?? '2026-01-01'),
    ...(to === undefined ? {} : { end: midnight(to) }),
    items: prices.map(price => itemOf(price, currency)),
    amountType: settings.has('gross') ? 'INCLUDING_TAX' : 'EXCLUDING_TAX',
    subscription: {
      billing_period: lengthOf(settings.get('every') ?? 'MONTH-1'),
      billing_currency: currency,
      sales_tax_percentage: settings.get('tax') ?? null,
    },
    schedules: [{ ...scheduleClauses(of, ids).clauses, coupons, pricing_currency: currency }],
  })
  const [calculation] = inputs.calculations
  if (!calculation) throw new Error('examples have a calculation')
  const rounding_mode = settings.has('unrounded') ? 'UNROUNDED' : 'DEFAULT'
  const rate = settings.get('rate')
  const products = [...new Set(prices.map(({ product }) => product))]
  const product = { tax_category: null, display_order: null }
  return {
    ...inputs,
    ...partiesOf(of, inputs),
    ...(rate === undefined ? {} : { tax_exchange_rates: [rateOf(rate)] }),
    platform: { ...inputs.platform, rounding_settings: [{ rounding_target: 'INVOICE', rounding_mode }] },
    products: products.map(text => ({ ...product, id: productOf(text), name: text, category_id: categoryOf(text) })),
    product_categories: products.flatMap(text => {
      const id = categoryOf(text)
      return id === null ? [] : [{ ...product, id, name: id }]
    }),
    calculations: prices.flatMap(({ name, bands }) =>
      bands === null ? [] : [{ ...calculation, id: `calc ${name}`, reference: name }],
    ),
  }
}

/** What answers the needs for usage: the units of the price that asks. */
export const usageOf =
  ({ prices }: Case) =>
  (need: { readonly calculation: { readonly id: string } }) =>
    plainUsage(prices.find(({ name }) => need.calculation.id === `calc ${name}`)?.quantity ?? '0')

export const walletsOf = (of: Case): WalletBalance[] =>
  of.clauses
    .filter(({ kind }) => kind === 'wallet')
    .map(({ number, words }) => ({
      walletId: `wallet${number}`,
      taxCategory: 'STANDARD',
      currency: currencyOf(of),
      available: decimal(words[0] ?? '0'),
    }))
