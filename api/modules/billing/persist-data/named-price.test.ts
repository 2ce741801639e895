// Which price a persisted state is of: the one that is in force at its moment.
import { expect, test } from 'vitest'
import { AppError } from '../../../../shared/errors.ts'
import { at } from '../../../../shared/time.ts'
import type { BillingInputs } from '../terms/billing-inputs.ts'
import { eur, exampleInputs, metered } from '../testing/example-inputs.ts'
import { namedPrice } from './named-price.ts'

const START = '2026-03-01T00:00:00Z'

function inputsOf(schedule: Partial<BillingInputs['schedules'][number]>): BillingInputs {
  const inputs = exampleInputs({ start: START, items: [metered([{ amount: eur('1') }])], schedules: [schedule] })
  return { ...inputs, calculations: inputs.calculations.map(each => ({ ...each, persist: true })) }
}
const asAddon = (inputs: BillingInputs): BillingInputs => ({
  ...inputs,
  pricings: inputs.pricings.map(pricing => ({ ...pricing, addon: true as const })),
})

/** The version of the named price, or what is refused. */
function found(inputs: BillingInputs, moment: string, pricing_id = 'pricing'): string {
  const pricing = inputs.pricings.find(({ id }) => id === pricing_id)
  const item = pricing?.items[0]
  const names = {
    pricing_id,
    pricing_item_id: item?.id ?? '',
    pricing_item_config_id: item?.configs[0]?.id ?? '',
  }
  try {
    return namedPrice(inputs, names, { at: at(moment), field: 'timestamp' }).pricing.pricing_plan_version_id
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    return `${error.code} ${error.details.field}`
  }
}

test.each([
  ['2026-03-05T00:00:00Z', 'INVALID_FIELD pricing_id'],
  ['2026-03-12T00:00:00Z', 'version'],
  ['2026-03-25T00:00:00Z', 'INVALID_FIELD pricing_id'],
  ['2026-04-12T00:00:00Z', 'version'],
])('an ADDON has a state only while it is enabled: %s', (moment, expected) => {
  const enabled_pricings = [
    { pricing_id: 'pricing', start_at: '2026-03-11T00:00:00Z', end_at: '2026-03-21T00:00:00Z' },
    { pricing_id: 'pricing', start_at: '2026-04-11T00:00:00Z' },
  ]
  expect(found(asAddon(inputsOf({ enabled_pricings })), moment)).toBe(expected)
})

test('a TRIAL keeps no state', () => {
  expect(found(inputsOf({ trial: true }), '2026-03-05T00:00:00Z')).toBe('INVALID_FIELD timestamp')
})

test('a version of a rate card prices the whole local day on which it comes into force', () => {
  const rate_card = [
    { pricing_plan_version_id: 'version', start_at: START },
    { pricing_plan_version_id: 'next', start_at: '2026-03-11T18:00:00Z' },
  ]
  const inputs = inputsOf({ rate_card })
  const next = inputs.pricings.map(pricing => ({
    ...pricing,
    id: 'next-pricing',
    pricing_plan_version_id: 'next',
    items: pricing.items.map(item => ({
      ...item,
      configs: item.configs.map(each => ({ ...each, id: 'next-config' })),
    })),
  }))
  const card = { ...inputs, pricings: [...inputs.pricings, ...next] }
  expect(found(card, '2026-03-10T23:00:00Z')).toBe('version')
  expect(found(card, '2026-03-11T09:00:00Z', 'next-pricing')).toBe('next')
  expect(found(card, '2026-03-11T09:00:00Z')).toBe('INVALID_FIELD pricing_id')
})
