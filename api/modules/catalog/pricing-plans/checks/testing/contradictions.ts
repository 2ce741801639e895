// Prices that contradict themselves, each with the field by which it is refused (semantics 3). What is priced stands beside each.
import type { Priced } from '../check-price.ts'

const NUMBERS: Priced = { model: 'USAGE_BASED', metric: 'NUMBER', sums: true }
const MONEY: Priced = { model: 'USAGE_BASED', metric: 'AMOUNT', sums: true }
const CONVERSION: Priced = { model: 'USAGE_BASED', metric: 'NUMBER', converts: true }
const BY_SEATS: Priced = { model: 'USAGE_BASED', metric: 'NUMBER', tieringMetric: true }
const [RECURRING, ONE_OFF, PER_SEAT, CREDITS] = (['RECURRING', 'ONE_OFF', 'PER_SEAT', 'CREDITS'] as const).map(
  (model): Priced => ({ model }),
) as [Priced, Priced, Priced, Priced]

const eur = (quantity: string) => ({ quantity, currency: 'EUR' })
const usd = (quantity: string) => ({ quantity, currency: 'USD' })
const credits = (quantity: string, credit_type_id = 'ctyp_1') => ({ quantity, credit_type_id })
const flat = (band: object, more: object = {}) => ({ pricing_type: 'FLAT', bands: [band], ...more })
const FLAT = flat({ amount: eur('1') })
const LUMP = { pricing_type: 'FIXED', bands: [{ fixed_amount: eur('1') }] }
const tiers = (...bounds: (object | null)[]) => ({
  pricing_type: 'TIERED',
  bands: bounds.map(tier_top_bound => ({ amount: eur('1'), ...(tier_top_bound ? { tier_top_bound } : {}) })),
})
const to = (number: string) => ({ number })
const month = (value: number) => ({ type: 'MONTH' as const, value })
const YEAR = { type: 'YEAR' as const, value: 1 }
const inCredits = (more: object = {}) => flat({ credits: credits('1') }, more)
const rule = (more: object) => ({ wallet_grants: [{ wallet_type_id: 'wtyp_1', ...more }] })
const AT = 'configs.0'

/** The field is below the item; the code is INVALID_FIELD unless another is given. */
type Contradiction = readonly [contradiction: string, of: Priced, item: object, field: string, code?: string]
const one = (config: object): object => ({ configs: [config] })

export const CONTRADICTIONS: readonly Contradiction[] = [
  // Tiers.
  ['tiers that fall', NUMBERS, one(tiers(to('1000'), to('999'), null)), `${AT}.bands.1.tier_top_bound`],
  ['two tiers up to the same', NUMBERS, one(tiers(to('10'), to('10'), null)), `${AT}.bands.1.tier_top_bound`],
  ['a first tier of nothing', NUMBERS, one(tiers(to('0'), null)), `${AT}.bands.0.tier_top_bound`],
  ['a last tier with a bound', NUMBERS, one(tiers(to('10'), to('20'))), `${AT}.bands.1.tier_top_bound`],
  ['a tier without a bound before others', NUMBERS, one(tiers(null, to('10'), null)), `${AT}.bands.0.tier_top_bound`],
  [
    'tiers of money for numbers',
    NUMBERS,
    one(tiers({ amount: eur('5') }, null)),
    `${AT}.bands.0.tier_top_bound.amount`,
  ],
  [
    'tiers in two currencies',
    MONEY,
    one(tiers({ amount: usd('5') }, null)),
    `${AT}.bands.0.tier_top_bound.amount.currency`,
  ],
  ['tiers by units and by events', NUMBERS, one(tiers(to('5'), { count: '9' }, null)), `${AT}.bands.1.tier_top_bound`],
  ['a tier by both', NUMBERS, one(tiers({ number: '5', count: '9' }, null)), `${AT}.bands.0.tier_top_bound`],
  ['tiers by events of seats', PER_SEAT, one(tiers({ count: '9' }, null)), `${AT}.bands.0.tier_top_bound.count`],
  ['tiers of a flat price', NUMBERS, one({ ...tiers(to('9'), null), pricing_type: 'FLAT' }), `${AT}.bands`],
  [
    'a bound of a flat price',
    NUMBERS,
    one(flat({ amount: eur('1'), tier_top_bound: to('9') })),
    `${AT}.bands.0.tier_top_bound`,
  ],
  // Figures of a band.
  ['a band that charges nothing', NUMBERS, one(flat({})), `${AT}.bands.0.amount`, 'MISSING_FIELD'],
  ['no band', NUMBERS, one({ pricing_type: 'FLAT', bands: [] }), `${AT}.bands`],
  ['a percentage of numbers', NUMBERS, one(flat({ percentage: '1' })), `${AT}.bands.0.percentage`],
  ['a block of nothing', NUMBERS, one(flat({ amount: eur('1'), block_size: to('0') })), `${AT}.bands.0.block_size`],
  [
    'a block of money for numbers',
    NUMBERS,
    one(flat({ amount: eur('1'), block_size: { amount: eur('5') } })),
    `${AT}.bands.0.block_size.amount`,
  ],
  [
    'a least above the most',
    NUMBERS,
    one(flat({ amount: eur('1'), minimum_amount: eur('10'), maximum_amount: eur('5') })),
    `${AT}.bands.0.maximum_amount`,
  ],
  [
    'a least number above the most',
    NUMBERS,
    one(flat({ amount: eur('1'), minimum_number: '10', maximum_number: '5' })),
    `${AT}.bands.0.maximum_number`,
  ],
  [
    'two currencies',
    NUMBERS,
    one(flat({ amount: eur('1'), fixed_amount: usd('1') })),
    `${AT}.bands.0.fixed_amount.currency`,
  ],
  [
    'a lump sum given twice',
    NUMBERS,
    one({ pricing_type: 'FIXED', bands: [{ fixed_amount: eur('1'), amount: eur('1') }] }),
    `${AT}.bands.0.amount`,
  ],
  [
    'a unit price of a step',
    NUMBERS,
    one({ pricing_type: 'STAIR_STEP', bands: [{ fixed_amount: eur('1'), percentage: '1' }] }),
    `${AT}.bands.0.percentage`,
  ],
  ['a price without a type', NUMBERS, one({ bands: [] }), `${AT}.pricing_type`, 'MISSING_FIELD'],
  ['two types', NUMBERS, one({ ...FLAT, type: 'FIXED' }), `${AT}.type`],
  [
    'steps added up of a unit price',
    NUMBERS,
    one({ ...FLAT, step_accumulation: 'STEPS_REACHED' }),
    `${AT}.step_accumulation`,
  ],
  ['a rest that a unit price keeps', NUMBERS, one({ ...FLAT, top_up: { rollover: true } }), `${AT}.top_up`],
  // Credits.
  ['credits beside money', NUMBERS, one(flat({ amount: eur('1'), credits: credits('1') })), `${AT}.bands.0.amount`],
  [
    'credits beside a percentage',
    NUMBERS,
    one(flat({ percentage: '1', credits: credits('1') })),
    `${AT}.bands.0.percentage`,
  ],
  [
    'a tier in money of a price in credits',
    NUMBERS,
    one({ pricing_type: 'TIERED', bands: [{ credits: credits('1'), tier_top_bound: to('5') }, { amount: eur('1') }] }),
    `${AT}.bands.1.amount`,
  ],
  [
    'a tier of a price in credits without any',
    NUMBERS,
    one({ pricing_type: 'TIERED', bands: [{ credits: credits('1'), tier_top_bound: to('5') }, {}] }),
    `${AT}.bands.1.credits`,
  ],
  [
    'credits of two types',
    NUMBERS,
    one({
      pricing_type: 'TIERED',
      bands: [{ credits: credits('1'), tier_top_bound: to('5') }, { credits: credits('1', 'ctyp_2') }],
    }),
    `${AT}.bands.1.credits.credit_type_id`,
  ],
  [
    'credits with a billing period of their own',
    NUMBERS,
    one(inCredits({ billing_period: month(1) })),
    `${AT}.billing_period`,
  ],
  [
    'credits with a pricing period of their own',
    NUMBERS,
    one(inCredits({ pricing_period: month(1) })),
    `${AT}.pricing_period`,
  ],
  ['credits for money', MONEY, one(inCredits()), `${AT}.bands.0.credits`],
  [
    'a fee in credits',
    RECURRING,
    one({ pricing_type: 'FIXED', bands: [{ credits: credits('1') }] }),
    `${AT}.bands.0.credits`,
  ],
  ['credits sold for credits', CREDITS, one(inCredits()), `${AT}.bands.0.credits`],
  [
    'split credits',
    NUMBERS,
    one(inCredits({ split_pricing: { meter_properties: [{ id: 'metp_1' }] } })),
    `${AT}.split_pricing`,
  ],
  [
    'credits in a group',
    NUMBERS,
    one({ pricing_type: 'TIERED', volume_group_reference: 'g', bands: [{ credits: credits('1') }] }),
    `${AT}.volume_group_reference`,
  ],
  ['credits of each event', NUMBERS, one(inCredits({ rate_per: 'EVENT' })), `${AT}.rate_per`],
  ['usage turned into money', CONVERSION, one(FLAT), `${AT}.bands.0.credits`, 'MISSING_FIELD'],
  // Periods.
  ['usage in advance', NUMBERS, one({ ...FLAT, billing_in_advance: true }), `${AT}.billing_in_advance`],
  ['missing credits in advance', CREDITS, one({ ...FLAT, billing_in_advance: true }), `${AT}.billing_in_advance`],
  [
    'a pricing period wider than the billing period',
    NUMBERS,
    one({ ...FLAT, pricing_period: YEAR, billing_period: month(1) }),
    `${AT}.pricing_period`,
  ],
  [
    'the same of credits',
    CREDITS,
    one({ ...FLAT, pricing_period: YEAR, billing_period: month(1) }),
    `${AT}.pricing_period`,
  ],
  [
    'the same of credits, where the variant is of a period',
    CREDITS,
    { billing_period_configs: [{ billing_period: month(1), configs: [{ ...FLAT, pricing_period: YEAR }] }] },
    'billing_period_configs.0.configs.0.pricing_period',
  ],
  [
    'a billing period that is no whole number of pricing periods',
    NUMBERS,
    one({ ...FLAT, pricing_period: month(2), billing_period: month(3) }),
    `${AT}.pricing_period`,
  ],
  [
    'weeks in months',
    NUMBERS,
    one({ ...FLAT, pricing_period: { type: 'WEEK', value: 1 }, billing_period: month(1) }),
    `${AT}.pricing_period`,
  ],
  [
    'a billing period of what is charged once',
    ONE_OFF,
    one({ ...FLAT, billing_period: month(1) }),
    `${AT}.billing_period`,
  ],
  [
    'a pricing period of what is charged once',
    ONE_OFF,
    one({ ...FLAT, pricing_period: month(1) }),
    `${AT}.pricing_period`,
  ],
  // Units and seats.
  ['units in money', ONE_OFF, one({ ...FLAT, default_units: { amount: eur('1') } }), `${AT}.default_units.amount`],
  ['units in events', ONE_OFF, one({ ...FLAT, default_units: { count: '1' } }), `${AT}.default_units.count`],
  ['units of nothing', ONE_OFF, one({ ...FLAT, default_units: { number: '0' } }), `${AT}.default_units.number`],
  ['units of a lump sum', ONE_OFF, one({ ...LUMP, default_units: { number: '1' } }), `${AT}.default_units`],
  ['units of usage', NUMBERS, one({ ...FLAT, default_units: { number: '1' } }), `${AT}.default_units`],
  [
    'seats in money',
    PER_SEAT,
    one({ ...FLAT, default_seats_value: { amount: eur('1') } }),
    `${AT}.default_seats_value.amount`,
  ],
  [
    'seats in events',
    PER_SEAT,
    one({ ...FLAT, default_seats_value: { count: '1' } }),
    `${AT}.default_seats_value.count`,
  ],
  [
    'seats below none',
    PER_SEAT,
    one({ ...FLAT, default_seats_value: { number: '-1' } }),
    `${AT}.default_seats_value.number`,
  ],
  [
    'fewer seats than the least',
    PER_SEAT,
    one({ ...flat({ amount: eur('1'), minimum_number: '5' }), default_seats_value: { number: '2' } }),
    `${AT}.default_seats_value.number`,
  ],
  [
    'more seats than the most',
    PER_SEAT,
    one({ ...flat({ amount: eur('1'), maximum_number: '5' }), default_seats_value: { number: '6' } }),
    `${AT}.default_seats_value.number`,
  ],
  ['seats of usage', NUMBERS, one({ ...FLAT, default_seats_value: { number: '1' } }), `${AT}.default_seats_value`],
  // What is charged, and by what.
  ['a unit price of a fee', RECURRING, one(FLAT), `${AT}.pricing_type`],
  ['tiers sold once', ONE_OFF, one(tiers(to('9'), null)), `${AT}.pricing_type`],
  ['a lump sum for seats', PER_SEAT, one(LUMP), `${AT}.pricing_type`],
  ['numbers passed on as money', NUMBERS, one({ pricing_type: 'PASS_THROUGH' }), `${AT}.pricing_type`],
  ['a chosen amount for usage', NUMBERS, one({ pricing_type: 'FLEXIBLE', bands: [{}] }), `${AT}.pricing_type`],
  ['a chosen amount that nobody orders', ONE_OFF, one({ pricing_type: 'FLEXIBLE', bands: [{}] }), `${AT}.on_demand`],
  ['usage on demand', NUMBERS, one({ ...FLAT, on_demand: true }), `${AT}.on_demand`],
  [
    'included volume of a fee',
    RECURRING,
    one({ ...LUMP, default_included_volume: { number: '1' } }),
    `${AT}.default_included_volume`,
  ],
  [
    'included numbers of money',
    MONEY,
    one({ ...FLAT, default_included_volume: { number: '1' } }),
    `${AT}.default_included_volume.number`,
  ],
  [
    'included money in another currency',
    MONEY,
    one({ ...FLAT, default_included_volume: { amount: usd('1') } }),
    `${AT}.default_included_volume.amount.currency`,
  ],
  ['nothing included', NUMBERS, one({ ...FLAT, default_included_volume: {} }), `${AT}.default_included_volume`],
  // Which usage decides on the tier.
  [
    'a group of seats',
    PER_SEAT,
    one({ ...tiers(to('9'), null), volume_group_reference: 'g' }),
    `${AT}.volume_group_reference`,
  ],
  ['a group without tiers', NUMBERS, one({ ...FLAT, volume_group_reference: 'g' }), `${AT}.volume_group_reference`],
  [
    'a group whose tier other usage finds',
    BY_SEATS,
    one({ ...tiers(to('9'), null), volume_group_reference: 'g' }),
    `${AT}.volume_group_reference`,
  ],
  [
    'each event at the tier of other usage',
    BY_SEATS,
    one({ ...tiers(to('9'), null), rate_per: 'EVENT' }),
    `${AT}.rate_per`,
  ],
  [
    'each event at the tier of how many there are',
    NUMBERS,
    one({ ...tiers({ count: '9' }, null), rate_per: 'EVENT' }),
    `${AT}.bands.0.tier_top_bound.count`,
  ],
  [
    'each event with something included',
    NUMBERS,
    one({ ...FLAT, rate_per: 'EVENT', default_included_volume: { number: '1' } }),
    `${AT}.default_included_volume`,
  ],
  // Blocks.
  [
    'blocks that are rounded in two tiers',
    NUMBERS,
    one({
      pricing_type: 'TIERED',
      block_rounding: 'UP',
      bands: [{ amount: eur('1'), block_size: to('10'), tier_top_bound: to('25') }, { amount: eur('1') }],
    }),
    `${AT}.bands.0.tier_top_bound`,
  ],
  ['rounded blocks of a fee', RECURRING, one({ ...LUMP, block_rounding: 'UP' }), `${AT}.block_rounding`],
  [
    'rounded blocks in tiers of other usage',
    BY_SEATS,
    one({ ...tiers(to('9'), null), block_rounding: 'UP' }),
    `${AT}.block_rounding`,
  ],
  [
    'rounded blocks of a group',
    NUMBERS,
    one({ ...tiers(to('9'), null), block_rounding: 'DOWN', volume_group_reference: 'g' }),
    `${AT}.block_rounding`,
  ],
  // Grants to wallets.
  [
    'a grant of usage',
    NUMBERS,
    one({ ...FLAT, ...rule({ amount_grant: { percentage: '10' } }) }),
    `${AT}.wallet_grants.0`,
  ],
  [
    'a grant of nothing',
    RECURRING,
    one({ ...LUMP, ...rule({ amount_grant: { percentage: '0' } }) }),
    `${AT}.wallet_grants.0.amount_grant.percentage`,
  ],
  [
    'a grant in two ways',
    RECURRING,
    one({ ...LUMP, ...rule({ amount_grant: { percentage: '1', amount: eur('1') } }) }),
    `${AT}.wallet_grants.0.amount_grant.percentage`,
  ],
  [
    'a grant of units by what is paid',
    ONE_OFF,
    one({ ...FLAT, ...rule({ amount_grant: { percentage: '10' } }) }),
    `${AT}.wallet_grants.0.amount_grant.percentage`,
  ],
  [
    'a grant of each seat by what is paid',
    PER_SEAT,
    one({ ...FLAT, ...rule({ source: 'PER_SEAT', credits_grant: { conversion: '2' } }) }),
    `${AT}.wallet_grants.0.credits_grant.credits`,
  ],
  // Several prices of one item.
  ['two defaults', NUMBERS, { configs: [FLAT, FLAT] }, 'configs.1.conditions'],
  ['no price', NUMBERS, {}, 'configs'],
  [
    'prices of all periods and of each',
    NUMBERS,
    { configs: [FLAT], billing_period_configs: [{ billing_period: YEAR, configs: [FLAT] }] },
    'billing_period_configs',
  ],
  [
    'a billing period twice',
    NUMBERS,
    {
      billing_period_configs: [
        { billing_period: YEAR, configs: [FLAT] },
        { billing_period: month(12), configs: [FLAT] },
      ],
    },
    'billing_period_configs.1.billing_period',
  ],
  [
    'a currency twice',
    NUMBERS,
    {
      pricing_currency_configs: [
        { currency: 'EUR', configs: [FLAT] },
        { currency: 'EUR', configs: [FLAT] },
      ],
    },
    'pricing_currency_configs.1.currency',
  ],
  [
    'a price of one currency in another',
    NUMBERS,
    { pricing_currency_configs: [{ currency: 'USD', configs: [FLAT] }] },
    'pricing_currency_configs.0.configs.0.bands.0.amount.currency',
  ],
  [
    'a fallback to itself',
    NUMBERS,
    { pricing_currency_configs: [{ currency: 'EUR', fallback_currency: 'EUR' }] },
    'pricing_currency_configs.0.fallback_currency',
  ],
  [
    'a fallback to nothing',
    NUMBERS,
    { pricing_currency_configs: [{ currency: 'EUR', fallback_currency: 'USD' }] },
    'pricing_currency_configs.0.fallback_currency',
  ],
]
