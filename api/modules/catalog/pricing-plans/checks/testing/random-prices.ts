// Prices made at random: mostly as they must be, sometimes not.
import fc from 'fast-check'
import { BLOCK_ROUNDINGS } from '../../../../../../shared/rating/block-rounding.ts'
import { SUPPORTED_PRICING_TYPES } from '../../../../../../shared/rating/rate.ts'
import type { PricingItemConfigInput } from '../../schema.ts'
import type { Priced } from '../check-price.ts'

/** `often` times as often as nothing. */
const maybe = <T>(arbitrary: fc.Arbitrary<T>, often = 3) =>
  fc.oneof({ weight: Math.round(often * 20), arbitrary }, { weight: 20, arbitrary: fc.constant(undefined) })
const RARELY = 0.05
const quantity = fc.constantFrom(
  '0',
  '0.000000000001',
  '0.5',
  '1',
  '2',
  '9.99',
  '100',
  '-3',
  '99999999999999999999999999',
)
const EUR_MOSTLY = fc.constantFrom('EUR', 'EUR', 'EUR', 'EUR', 'EUR', 'EUR', 'EUR', 'USD')
const money = fc.record({ quantity, currency: EUR_MOSTLY })
const size = fc.constantFrom('1', '3', '64', '0.001', '1000000', '0', '-1')

type BoundKind = 'number' | 'count'
const band = (index: number, last: boolean, kind: BoundKind) =>
  fc.record({
    amount: maybe(money, 6),
    fixed_amount: maybe(money, 0.7),
    percentage: maybe(quantity, 0.3),
    credits: maybe(fc.record({ quantity, credit_type_id: fc.constantFrom('crty_1', 'crty_1', 'crty_2') }), RARELY),
    minimum_amount: maybe(money, RARELY),
    maximum_amount: maybe(money, RARELY),
    minimum_number: maybe(quantity, RARELY),
    maximum_number: maybe(quantity, RARELY),
    block_size: maybe(
      fc.oneof(
        { weight: 6, arbitrary: fc.record({ number: size }) },
        { weight: 1, arbitrary: fc.record({ count: size }) },
        { weight: 1, arbitrary: size.map(quantity => ({ amount: { quantity, currency: 'EUR' } })) },
      ),
      0.3,
    ),
    // Mostly as bounds must be, sometimes not.
    tier_top_bound: fc.oneof(
      { weight: 12, arbitrary: fc.constant(last ? undefined : { [kind]: String((index + 1) * 10) }) },
      { weight: 1, arbitrary: fc.record({ number: quantity }) },
      { weight: 1, arbitrary: fc.record({ amount: money }) },
      { weight: 1, arbitrary: fc.constant(undefined) },
    ),
  })

const bands = fc
  .tuple(fc.integer({ min: 0, max: 4 }), fc.constantFrom<BoundKind>('number', 'number', 'number', 'count'))
  .chain(([count, kind]) =>
    fc.tuple(...Array.from({ length: count }, (_, index) => band(index, index === count - 1, kind))),
  )
const period = fc.record({
  type: fc.constantFrom('DAY' as const, 'MONTH' as const, 'YEAR' as const),
  value: fc.integer({ min: 1, max: 3 }),
})

const members = fc.record({
  pricing_type: fc.constantFrom(...SUPPORTED_PRICING_TYPES),
  bands,
  billing_period: maybe(period, RARELY),
  pricing_period: maybe(period, RARELY),
  top_up: maybe(fc.record({ rollover: fc.boolean() }), RARELY),
  step_accumulation: maybe(fc.constantFrom('NONE' as const, 'STEPS_REACHED' as const), RARELY),
  block_rounding: maybe(fc.constantFrom(...BLOCK_ROUNDINGS), RARELY),
  rate_per: maybe(fc.constantFrom('PERIOD' as const, 'EVENT' as const), RARELY),
  default_included_volume: maybe(fc.record({ number: maybe(quantity, 8), amount: maybe(money, 1) }), RARELY),
  default_units: maybe(fc.record({ number: maybe(quantity, 8), amount: maybe(money, 1) }), RARELY),
  default_seats_value: maybe(fc.record({ number: maybe(quantity, 8), count: maybe(quantity, 1) }), RARELY),
  volume_group_reference: maybe(fc.constant('group'), RARELY),
  billing_in_advance: maybe(fc.boolean(), RARELY),
  on_demand: maybe(fc.boolean(), RARELY),
})
/** As a request has it: what is not there is left out. */
export const randomConfig = members.map((given): PricingItemConfigInput => JSON.parse(JSON.stringify(given)))

export const randomPriced: fc.Arbitrary<Priced> = fc.oneof(
  { weight: 4, arbitrary: fc.constant<Priced>({ model: 'USAGE_BASED', metric: 'NUMBER', sums: true }) },
  { weight: 3, arbitrary: fc.constant<Priced>({ model: 'USAGE_BASED', metric: 'AMOUNT', sums: true }) },
  {
    weight: 1,
    arbitrary: fc
      .constantFrom('RECURRING' as const, 'ONE_OFF' as const, 'PER_SEAT' as const, 'CREDITS' as const)
      .map((model): Priced => ({ model })),
  },
)
