// A candidate version in the place of another one: what a schedule has enabled stays enabled.
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
