// A simulation by the version that invoices were priced by, or by a copy of it, gives exactly their amounts, for
// subscriptions of every kind with discounts, commitments, changing seats, cut periods and late usage.
import { describe, expect, test } from 'vitest'
import { decode, encode } from '../../../../shared/json/exact-json.ts'
import { instantOf } from '../../../../shared/time.ts'
import { chargesOf } from '../charges/charges.ts'
import type { ClosedUsage } from '../late/closed-usage.ts'
import { type LateCharge, lateCharge, lateUnits, termOf } from '../late/late-usage.ts'
import { pinnedRequest } from '../pinned/pinned.ts'
import { type InvoiceFigures, type PricedInvoice, priceInvoice } from '../pricing/price-invoice.ts'
import { refundsIn, refundTimes } from '../refunds/refunds.ts'
import type { BillingInputs } from '../terms/billing-inputs.ts'
import { type PriceTerm, resolveTerms } from '../terms/price-terms.ts'
import { invoiceWindows } from '../terms/windows.ts'
import { type CorpusSubscription, corpusSubscription, usageOfCorpus } from '../testing/invoice-corpus.ts'
import { usageNeeds } from '../usage/usage-needs.ts'
import type { Candidate } from './candidate.ts'
import {
  afterSimulated,
  type ClosedInvoice,
  chargesOfSimulated,
  nothingSimulated,
  planSimulated,
  priceSimulated,
} from './simulate-invoice.ts'

const DAY_MS = 86_400_000
const INVOICES = 3

type Final = { readonly invoice: ClosedInvoice; readonly priced: PricedInvoice; readonly place: number }

const lateOf = (terms: readonly PriceTerm[], closed: readonly ClosedUsage[], key: string): LateCharge[] =>
  lateUnits(closed).flatMap(unit => {
    const term = termOf(terms, unit)
    return term ? [lateCharge(term, unit, key)] : []
  })

/** The first invoices of a subscription as billing makes them FINAL, with what is stored of each. */
function finalInvoices(subscription: CorpusSubscription): Final[] {
  const { inputs } = subscription
  const terms = resolveTerms(inputs)
  let soFar = nothingSimulated(new Set())
  const billed = new Set<string>()
  const finals: Final[] = []
  for (const window of invoiceWindows(inputs)) {
    if (finals.length >= INVOICES) break
    if (window.arrears === null && chargesOf(terms, window, billed).length === 0) continue
    const place = finals.length
    const late = lateOf(terms, soFar.closed, String(window.cutoffAt))
    const needs = usageNeeds([...chargesOf(terms, window, billed), ...late.map(({ charge }) => charge)])
    const refunds = refundsIn(window, refundTimes(inputs), soFar.ahead)
    const request = {
      terms,
      window,
      billed: new Set(billed),
      deducted: soFar.deducted,
      ...usageOfCorpus(subscription, needs, place),
      late,
      refunds,
      finalizedAt: instantOf(window.cutoffAt + DAY_MS),
    }
    const priced = priceInvoice(inputs, request)
    const stored = decode(encode({ inputs, request: pinnedRequest(request) })) as Pick<
      ClosedInvoice,
      'inputs' | 'request'
    >
    const invoice = { ...stored, invoiceId: `invoice${place}`, positions: [], customerKeys: [], namesHash: null }
    finals.push({ invoice, priced, place })
    const plan = { invoice, inputs, terms, billed, deducted: [], refunds: [], late: [], closed: [] }
    soFar = afterSimulated(soFar, plan, priced)
    for (const key of priced.advanceCharges) billed.add(key)
  }
  return finals
}

function simulate(subscription: CorpusSubscription, finals: readonly Final[], candidate: Candidate): InvoiceFigures[] {
  let soFar = nothingSimulated(new Set(finals.map(({ invoice }) => invoice.invoiceId)))
  return finals.map(({ invoice, place }) => {
    const plan = planSimulated(invoice, candidate, { soFar, names: new Map() })
    const late = [...plan.late, ...lateOf(plan.terms, plan.closed, 'again')]
    const usage = usageOfCorpus(subscription, usageNeeds(chargesOfSimulated(plan, late)), place)
    const priced = priceSimulated(plan, { late, usage })
    soFar = afterSimulated(soFar, plan, priced)
    return priced
  })
}

/** What is compared: amounts, without the ids of prices. */
const amountsOf = ({ columns, lines }: InvoiceFigures) => ({
  amount: columns.amount_excluding_tax,
  tax: columns.tax_amount,
  lines: lines
    .map(line => `${line.kind} ${line.product_item_id} ${line.service_start} ${line.amount_excluding_tax}`)
    .toSorted(),
})

const versionOf = ({ schedules }: BillingInputs): string => schedules[0]?.pricing_plan_version_id ?? ''

const catalogOf = (inputs: BillingInputs, pricings: BillingInputs['pricings']): Candidate['catalog'] => {
  const { plans, product_items, products, product_categories, calculations, condition_names } = inputs
  return { plans, pricings, product_items, products, product_categories, calculations, condition_names }
}

const sameVersion = (inputs: BillingInputs): Candidate => ({
  planId: inputs.schedules[0]?.pricing_plan_id ?? '',
  versionId: versionOf(inputs),
  catalog: catalogOf(inputs, inputs.pricings),
})

/** The same prices under other ids. */
const copyOf = (inputs: BillingInputs): Candidate => ({
  ...sameVersion(inputs),
  versionId: 'copy',
  catalog: catalogOf(
    inputs,
    inputs.pricings
      .filter(pricing => pricing.pricing_plan_version_id === versionOf(inputs))
      .map(pricing => ({
        ...pricing,
        id: `copy-${pricing.id}`,
        pricing_plan_version_id: 'copy',
        items: pricing.items.map(item => ({
          ...item,
          id: `copy-${item.id}`,
          configs: item.configs.map(config => ({ ...config, id: `copy-${config.id}` })),
        })),
      })),
  ),
})

/** Clauses on the first price, on the pricing and on the total; money in the currency of the schedule. */
function withClauses({ inputs, ...subscription }: CorpusSubscription): CorpusSubscription {
  const [pricing] = inputs.pricings
  const schedules = inputs.schedules.map(schedule => {
    const money = (quantity: string) => ({ quantity, currency: schedule.pricing_currency })
    return {
      ...schedule,
      discount: {
        pricing_item_configs: [{ ids: ['config0'], percentage: '10' }],
        totals: [{ amount: money('3') }],
      },
      markup: { pricing_item_configs: [{ ids: ['config1'], percentage: '5' }] },
      commitment: {
        pricing_item_configs: [{ ids: ['config0'], amount: money('40') }],
        ...(pricing ? { pricings: [{ ids: [pricing.id], amount: money('75') }] } : {}),
        totals: [{ amount: money('120') }],
      },
      refund_advance_charges: true as const,
    }
  })
  return { ...subscription, inputs: { ...inputs, schedules } }
}

/** The recurring items are seats that come and go. */
function withSeats({ inputs, ...subscription }: CorpusSubscription): CorpusSubscription {
  const start = Date.parse(inputs.schedules[0]?.start_at ?? '')
  const day = (count: number): string => new Date(start + count * DAY_MS).toISOString().replace('.000', '')
  const seated = new Set(inputs.product_items.filter(item => item.model_type === 'RECURRING').map(({ id }) => id))
  const flat = (config: BillingInputs['pricings'][number]['items'][number]['configs'][number]) => ({
    ...config,
    pricing_type: 'FLAT',
    pricing_period: null,
    bands: (config.bands ?? []).map(({ fixed_amount }) => ({ amount: fixed_amount ?? null })),
  })
  return {
    ...subscription,
    inputs: {
      ...inputs,
      product_items: inputs.product_items.map(item =>
        seated.has(item.id) ? { ...item, model_type: 'PER_SEAT' } : item,
      ),
      pricings: inputs.pricings.map(pricing => ({
        ...pricing,
        items: pricing.items.map(item =>
          item.product_item_ids.some(id => seated.has(id)) ? { ...item, configs: item.configs.map(flat) } : item,
        ),
      })),
      seats: [...seated].flatMap(id => [
        { product_item_id: id, start_at: day(0), end_at: null },
        { product_item_id: id, start_at: day(12), end_at: day(50) },
        { product_item_id: id, start_at: day(40), end_at: null },
      ]),
    },
  }
}

const KINDS = { plain: (each: CorpusSubscription) => each, clauses: withClauses, seats: withSeats } as const
const SEEDS = 24

describe.each(Object.keys(KINDS) as (keyof typeof KINDS)[])('of subscriptions with %s', kind => {
  const all = Array.from({ length: SEEDS }, (_, seed) => KINDS[kind](corpusSubscription(seed))).flatMap(
    subscription => {
      try {
        return [{ subscription, finals: finalInvoices(subscription) }]
      } catch {
        return [] // a few are made to be refused
      }
    },
  )

  test('most have invoices, many of them with late usage', () => {
    expect(all.length).toBeGreaterThan(15)
    const finals = all.flatMap(each => each.finals)
    expect(finals.filter(({ invoice }) => invoice.request.late.length > 0).length).toBeGreaterThan(10)
  })

  test.each([
    ['the version that they are on', sameVersion],
    ['a copy of it', copyOf],
  ])('%s gives their amounts again, from the first invoice on and from the second', (_, candidateOf) => {
    for (const { subscription, finals } of all) {
      const candidate = candidateOf(subscription.inputs)
      for (const some of [finals, finals.slice(1)]) {
        const again = simulate(subscription, some, candidate)
        expect(again.map(amountsOf), subscription.name).toEqual(some.map(({ priced }) => amountsOf(priced)))
      }
    }
  })
})

test('prices with their tax are simulated only where the tax engine was asked, and without their tax always', () => {
  const external = ({ inputs, ...subscription }: CorpusSubscription, type: 'EXCLUDING_TAX' | 'INCLUDING_TAX') => ({
    ...subscription,
    inputs: {
      ...inputs,
      // With the countries that both need, so that a question is asked.
      billing_entity: {
        ...inputs.billing_entity,
        registered_address: { country: 'NL' },
        tax_settings: { provider: 'EXTERNAL' },
      },
      tax_answers: [],
      plans: inputs.plans.map(plan => ({ ...plan, amount_type: type })),
    } as unknown as BillingInputs,
  })
  const lacks = /the tax engine was not asked what tax applies/
  const outcomes = Array.from({ length: 8 }, (_, seed) => corpusSubscription(seed)).flatMap(each => {
    const [without, including] = [external(each, 'EXCLUDING_TAX'), external(each, 'INCLUDING_TAX')]
    try {
      const finals = finalInvoices(without)
      expect(simulate(without, finals, sameVersion(without.inputs))).toHaveLength(finals.length)
      const taxed = finalInvoices(including)
      const asks = taxed.some(({ priced }) => priced.columns.content.tax_question)
      return [{ asks, run: () => simulate(including, taxed, sameVersion(including.inputs)) }]
    } catch {
      return [] // a few are made to be refused
    }
  })
  const asking = outcomes.filter(({ asks }) => asks)
  expect(asking.length).toBeGreaterThan(3)
  for (const { run } of asking) expect(run).toThrow(lacks)
})
