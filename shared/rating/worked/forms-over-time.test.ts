// Forms of other systems that go from one pricing period to the next, and those of several prices, each worked by hand.
import { expect, test } from 'vitest'
import { type Fraction, fraction, timesFraction, WHOLE } from '../../billing/fraction.ts'
import { decimal, decimalOfInteger, ONE, plain, sum, ZERO } from '../../decimal.ts'
import { applyIncludedOverTime } from '../included/included-windows.ts'
import type { PriceConfigInput } from '../parse/parse-price-config.ts'
import { amountVolume, type Metric, numberVolume, type Volume } from '../price.ts'
import { NO_PRIOR } from '../price-model.ts'
import { type PriceConfig, rate } from '../rate.ts'
import { oneEvent, rateEvents } from '../rate-events.ts'
import { type BandText, price, priceOf } from '../testing/prices.ts'

type Settings = Pick<PriceConfigInput, 'top_up' | 'step_accumulation'>
const KEPT: Settings = { top_up: { rollover: true } }

/** `12`, or of money `12/3`: so much in so many events. */
function volumeOf(text: string): Volume {
  const [quantity = '', events] = text.split('/')
  if (events === undefined) return numberVolume(decimal(quantity))
  return amountVolume(decimal(quantity), 'EUR', decimal(events))
}

/** What each period costs, after what is included in it, on top of what the one before left. */
function costsOf(config: PriceConfig, used: string, free: string | null): string {
  const volumes = used.split(' ').map(volumeOf)
  const included = free === null ? null : volumeOf(free)
  const periods = volumes.map((volume, index) => {
    const key = `P${index}`
    return { volume, billingPeriod: key, pricingPeriod: key, share: WHOLE }
  })
  const rollover = config.pricingType.endsWith('TOP_UP')
  const terms = included && { included, reset: 'PRICING_PERIOD' as const, rollover }
  const billable = terms ? applyIncludedOverTime(periods, terms).map(each => each.billable) : volumes
  let prior = NO_PRIOR
  const costs = billable.map(volume => {
    const rated = rate(config, volume, { prior })
    prior = rated
    return plain(rated.total.quantity)
  })
  return costs.join(' ')
}

type Form = readonly [
  form: string,
  type: string,
  bands: BandText[],
  of: { metric?: Metric; settings?: Settings; free?: string },
  used: string,
  costs: string,
]
const TOP: BandText[] = [
  { topBound: '20', amount: '10', blockSize: '10' },
  { amount: '8', blockSize: '10' },
]
const stepsTo = (blockSize: string | null): BandText[] => [
  { topBound: '100', fixedAmount: '49' },
  { fixedAmount: '30', ...(blockSize === null ? {} : { blockSize }) },
]
const STEPS = stepsTo('50')
const FORMS: readonly Form[] = [
  // 23 take 3 blocks and leave 7; 9 take one more and leave 8, which the next 8 use up.
  [
    'package, rest kept',
    'FLAT_TOP_UP',
    [{ amount: '50', blockSize: '10' }],
    { settings: KEPT },
    '23 9 8 0 1',
    '150 50 0 0 50',
  ],
  ['package, rest lost', 'FLAT_TOP_UP', [{ amount: '50', blockSize: '10' }], {}, '23 9 8 0 1', '150 50 50 0 50'],
  [
    'Lago package with free units',
    'FLAT_TOP_UP',
    [{ amount: '100', blockSize: '10' }],
    { free: '5' },
    '3 7 25',
    '0 0 200',
  ],
  // Two blocks at 10 and one at 8 leave 5; 12 take one of a new period at 10 and leave 3; 43 take two at 10 and two at 8.
  ['tiered package, rest kept', 'TIERED_TOP_UP', TOP, { settings: KEPT }, '25 12 43', '28 10 36'],
  // 120 reach the second step once and leave 30; 110 are then 80, in the first step; it is charged without use too.
  ['steps bought ahead, rest kept', 'STAIR_STEP_TOP_UP', STEPS, { settings: KEPT }, '120 110 10', '79 49 49'],
  ['steps bought ahead, rest lost', 'STAIR_STEP_TOP_UP', STEPS, {}, '120 110 151', '79 79 109'],
  // A block size of 1 is one like any other; without one, the last step is as wide as the one before.
  ['steps of a unit', 'STAIR_STEP_TOP_UP', stepsTo('1'), {}, '100 103 201', '49 139 3079'],
  ['steps without a size', 'STAIR_STEP_TOP_UP', stepsTo(null), {}, '100 103 201', '49 79 109'],
  [
    'OpenMeter entitlement with overage',
    'FLAT',
    [{ amount: '0.01' }],
    { free: '1000' },
    '800 1500 1000 1001',
    '0 5 0 0.01',
  ],
  // 200 are left of the first grant, so 1,200 of 1,500 are free; then nothing is left over, and 400 of the third.
  [
    'OpenMeter entitlement with rollover and overage',
    'FLAT_TOP_UP',
    [{ amount: '0.01', blockSize: '1' }],
    { settings: KEPT, free: '1000' },
    '800 1500 600 1500',
    '0 3 0 1',
  ],
  // 1.2 % of 750 and 7 events at 0.25; nothing; 1.2 % of 50; two events at 0.25.
  [
    'Lago percentage with free events and free money',
    'FLAT',
    [{ percentage: '1.2', amount: '0.25' }],
    { metric: 'AMOUNT', free: '250/3' },
    '1000/10 200/2 300/2 250/5',
    '10.75 0 0.6 0.5',
  ],
  // 1 % of what is beyond the free 100, at least 2: 9, then the minimum.
  [
    'percentage with free money and a minimum',
    'FLAT',
    [{ percentage: '1', minimumAmount: '2' }],
    { metric: 'AMOUNT', free: '100/0' },
    '1000/4 150/1 0/0',
    '9 2 2',
  ],
]
test.each(FORMS)('%s', (_form, type, bands, { metric = 'NUMBER', settings = {}, free = null }, used, costs) => {
  expect(costsOf(priceOf(type, bands, { metric, ...settings }), used, free)).toBe(costs)
})

test('Orb matrix: each combination of values has a unit price, and all others the default', () => {
  const [east, west, other] = ['2', '3', '5'].map(amount => price('FLAT', { amount }))
  const used: [PriceConfig | undefined, string][] = [
    [east, '10'],
    [west, '4'],
    [other, '1'],
  ]
  const costs = used.map(([config, units]) => config && rate(config, numberVolume(decimal(units))).total.quantity)
  expect(plain(sum(costs.map(cost => cost ?? ZERO)))).toBe('37')
})

test('Orb bulk with proration: the tier of each number of seats, for its days', () => {
  const config = price('TOP_TIERED', { topBound: '5', amount: '10' }, { amount: '8' })
  const seats: [number, Fraction][] = [
    // 4 seats for the first half of April, 8 for the second: 4 × 10 ÷ 2 and 8 × 8 ÷ 2.
    [4, fraction(15, 30)],
    [8, fraction(15, 30)],
  ]
  const costs = seats.map(([number, share]) =>
    timesFraction(rate(config, numberVolume(decimalOfInteger(number))).total.quantity, share),
  )
  expect(costs.map(plain)).toEqual(['20', '32'])
})

test.each<[string, string, BandText[], string, string]>([
  // Started minutes at 0.50, at most 2.00 a call: 0.50, 1.00, 2.00, and 2.00 in place of 3.50.
  [
    'calls by the started minute',
    'FLAT_TOP_UP',
    [{ amount: '0.5', blockSize: '60', maximumAmount: '2' }],
    '59 61 200 400',
    '5.5',
  ],
  // 0.30 and 2.9 %, at most 10: 0.59 for 10, 3.2 for 100, 10 for 1,000.
  [
    'a fee and a percentage with a maximum',
    'FLAT',
    [{ fixedAmount: '0.3', percentage: '2.9', maximumAmount: '10' }],
    '10 100 1000',
    '13.79',
  ],
  // 3 % up to 50 and 1 % of the rest, at least 0.5 in the first tier: 0.5, then 1.5 + 0.5, then 1.5 + 4.5.
  [
    'tiers of each event with a minimum',
    'TIERED',
    [{ topBound: '50', percentage: '3', minimumAmount: '0.5' }, { percentage: '1' }],
    '5 100 500',
    '8.5',
  ],
])('of each event: %s', (_form, type, bands, events, cost) => {
  const isMoney = bands.some(band => band.percentage)
  const none = isMoney ? amountVolume(ZERO, 'EUR', ZERO) : numberVolume(ZERO)
  const config = priceOf(type, bands, { metric: isMoney ? 'AMOUNT' : 'NUMBER' })
  const each = events.split(' ').map(text => ({ each: oneEvent(none, decimal(text)), times: ONE }))
  expect(plain(rateEvents(config, each, none).total.quantity)).toBe(cost)
})
