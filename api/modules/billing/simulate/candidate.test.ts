// A candidate version in the place of another one: what a schedule has enabled and counts stays so.
import { expect, test } from 'vitest'
import type { BillingInputs } from '../terms/billing-inputs.ts'
import { eur, exampleInputs, exampleInvoices, linesOf, recurring } from '../testing/example-inputs.ts'
import { withCandidate } from './candidate.ts'

const START = '2026-03-01T00:00:00Z'

function addonInputs(enabled: boolean): BillingInputs {
  const window = { pricing_id: 'pricing', start_at: '2026-03-11T00:00:00Z', end_at: '2026-03-21T00:00:00Z' }
  const inputs = exampleInputs({
    start: START,
    items: [recurring('31')],
    schedules: [enabled ? { enabled_pricings: [window] } : {}],
  })
  return { ...inputs, pricings: inputs.pricings.map(pricing => ({ ...pricing, addon: true as const })) }
}

/** The same ADDON at twice the price, in another version. */
const dearer = ({ pricings, ...inputs }: BillingInputs) => ({
  planId: 'plan',
  versionId: 'next',
  catalog: {
    ...inputs,
    pricings: pricings.map(pricing => ({
      ...pricing,
      id: 'next-pricing',
      pricing_plan_version_id: 'next',
      items: pricing.items.map(item => ({
        ...item,
        id: `next-${item.id}`,
        configs: item.configs.map(config => ({
          ...config,
          id: `next-${config.id}`,
          bands: [{ fixed_amount: eur('62') }],
        })),
      })),
    })),
  },
})

test('an ADDON that is enabled is priced by the candidate for the same days', () => {
  const inputs = addonInputs(true)
  const [march] = exampleInvoices(withCandidate(inputs, dearer(inputs)), 1)
  expect(linesOf(march)).toEqual(['2026-03-11..2026-03-21 20.00'])
})

test('one that is not enabled is not sold by the candidate either', () => {
  const inputs = addonInputs(false)
  expect(exampleInvoices(withCandidate(inputs, dearer(inputs)), 1)).toEqual([])
})

test('two prices that the candidate replaces by one are charged once', () => {
  const inputs = addonInputs(true)
  const [pricing] = inputs.pricings
  if (!pricing) throw new Error('an example has a pricing')
  // The same ADDON in a later version of a rate card, enabled too.
  const twin = { ...pricing, id: 'twin', pricing_plan_version_id: 'other' }
  const [schedule] = inputs.schedules
  const enabled_pricings = [{ pricing_id: 'pricing' }, { pricing_id: 'twin' }]
  const card = { ...inputs, pricings: [pricing, twin], schedules: schedule ? [{ ...schedule, enabled_pricings }] : [] }
  const [march] = exampleInvoices(withCandidate(card, dearer(inputs)), 1)
  expect(linesOf(march)).toEqual(['2026-03-01..2026-04-01 62.00'])
})

test('the seats and units of a price are those of the price that replaces it', () => {
  const seats_values = [{ pricing_item_config_id: 'config0', number: '3' }]
  const units = [{ pricing_item_config_id: 'config1', number: '4' }]
  const inputs = exampleInputs({
    start: START,
    items: [
      { item: { model_type: 'PER_SEAT' }, config: { pricing_type: 'FLAT' }, bands: [{ amount: eur('10') }] },
      { item: { model_type: 'ONE_OFF' }, config: { pricing_type: 'FLAT' }, bands: [{ amount: eur('5') }] },
    ],
    schedules: [{ seats_values, units }],
  })
  const candidate = dearer(inputs)
  const priced = candidate.catalog.pricings.map(pricing => ({
    ...pricing,
    items: pricing.items.map(item => ({
      ...item,
      configs: item.configs.map(config => ({ ...config, bands: [{ amount: eur('20') }] })),
    })),
  }))
  const invoices = exampleInvoices(withCandidate(inputs, { ...candidate, catalog: { ...inputs, pricings: priced } }), 2)
  // 4 units and 3 seats at 20.00.
  expect(invoices.flatMap(linesOf).map(line => line.split(' ')[1])).toEqual(expect.arrayContaining(['80.00', '60.00']))
})

test('an override of a price is one of the price that replaces it', () => {
  const override_pricings = [
    {
      original_pricing_id: 'pricing',
      override: 'SPECIFIC' as const,
      items: [
        {
          original_pricing_item_id: 'priced0',
          override: 'SPECIFIC' as const,
          configs: [{ original_pricing_item_config_id: 'config0', bands: [{ fixed_amount: eur('8') }] }],
        },
      ],
    },
  ]
  const inputs = exampleInputs({
    start: START,
    items: [recurring('10'), recurring('20')],
    schedules: [{ override_pricings }],
  })
  const [march] = exampleInvoices(withCandidate(inputs, dearer(inputs)), 1)
  expect(linesOf(march).map(line => line.split(' ')[1])).toEqual(['8.00', '62.00'])
})
