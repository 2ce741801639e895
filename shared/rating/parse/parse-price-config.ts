// From the wire shape of a price (decimal strings, snake_case) to the input of `rate`. The catalog calls it to refuse a
// bad price when the price is saved, and billing calls it to rate. Both use this one parser, so every price that was
// accepted can be billed.
import { type Decimal, ONE, ZERO } from '../../decimal.ts'
import { BLOCK_ROUNDINGS } from '../block-rounding.ts'
import type { IncludedTerms } from '../included/included-windows.ts'
import { type IncludedVolumeInput, readIncludedVolume } from '../included/read-included-volume.ts'
import { type Band, type BoundOf, EMPTY_BAND, type Metric } from '../price.ts'
import {
  type BandField,
  DEFAULT_SETTINGS,
  type PriceModel,
  type SettingName,
  type Settings,
  STEP_ACCUMULATIONS,
} from '../price-model.ts'
import { findPriceModel, isSupportedPricingType, type PriceConfig, SUPPORTED_PRICING_TYPES } from '../rate.ts'
import { RATE_PERS } from '../rate-events.ts'
import { type AmountInput, BAND_FIELDS, type BandInput, Fault, type ReadingContext, readBand } from './band-reader.ts'
import { checkBlockRounding } from './check-block-rounding.ts'

export type { IncludedVolumeInput } from '../included/read-included-volume.ts'
export type { BandInput } from './band-reader.ts'

type Given<Value> = Value | null | undefined
export type PriceConfigInput = {
  readonly pricing_type: string
  readonly bands?: Given<readonly BandInput[]>
  readonly top_up?: Given<{ readonly rollover?: Given<boolean> }>
  readonly step_accumulation?: Given<string>
  readonly block_rounding?: Given<string>
  readonly rate_per?: Given<string>
  readonly default_included_volume?: Given<IncludedVolumeInput>
}

export type PriceConfigContext = {
  /** What is metered: plain numbers (also units, seats and lump sums) or money. */
  readonly metric: Metric
  /** The pricing currency; if absent, the first amount in the bands decides. */
  readonly currency?: string
}

/** `field` is a dotted path inside the configuration: `bands.1.tier_top_bound`. */
export type PriceConfigFault = { readonly field: string; readonly message: string }
export type PriceConfigReading =
  | { readonly kind: 'ok'; readonly config: PriceConfig }
  | { readonly kind: 'fault'; readonly fault: PriceConfigFault }

/** Rating walks the bands of a price for every line, so their number is limited. */
export const BANDS_MAX = 200
/** ISO 4217 "no currency": used for a price without any amount until a schedule gives it a currency. */
const NO_CURRENCY = 'XXX'

const TAKEABLE: readonly BandField[] = [
  'amount',
  'percentage',
  'fixedAmount',
  'minimumAmount',
  'maximumAmount',
  'minimumNumber',
  'maximumNumber',
]

type Typed = { readonly type: string; readonly model: PriceModel }

/** Refuses the first member of a band that its model does not read, so a price never promises more than is billed. */
function checkTaken({ type, model }: Typed, band: Band, index: number): void {
  const extra = TAKEABLE.find(name => band[name] !== null && !model.takes.includes(name))
  const field = extra ?? (!band.blockSize.eq(ONE) && !model.takes.includes('blockSize') ? 'blockSize' : null)
  if (field) {
    const name = BAND_FIELDS[field]
    throw new Fault(
      `bands.${index}.${name}`,
      `${type} does not use ${name}; leave it out, or use another pricing type.`,
    )
  }
  if (model.bands === 'one' && band.topBound !== null) {
    throw new Fault(`bands.${index}.tier_top_bound`, `${type} has no tiers.`)
  }
}

/** Bounds rise strictly from above 0, and the last band has none, so every volume falls in exactly one band. */
function checkBounds(bands: readonly Band[]): void {
  let floor: Decimal = ZERO
  for (const [index, band] of bands.entries()) {
    const field = `bands.${index}.tier_top_bound`
    const last = index === bands.length - 1
    if (last !== (band.topBound === null)) {
      throw new Fault(
        field,
        last ? 'The last band must have no upper bound.' : 'Only the last band has no upper bound.',
      )
    }
    if (band.topBound === null) return
    if (band.topBound.lte(floor)) throw new Fault(field, 'Upper bounds must rise from band to band, the first above 0.')
    floor = band.topBound
  }
}

/** What all bounds of the price are compared with. Bounds by events are of prices that usage is placed on. */
function boundOf({ type, model }: Typed, bands: readonly Band[]): BoundOf {
  const of = bands[0]?.boundOf ?? 'QUANTITY'
  for (const [index, band] of bands.entries()) {
    const field = `bands.${index}.tier_top_bound`
    if (band.topBound !== null && band.boundOf !== of) {
      throw new Fault(field, 'The bounds of a price are all numbers of events, or all quantities of what is metered.')
    }
    if (of === 'COUNT' && !model.placed) {
      throw new Fault(`${field}.count`, `${type} counts blocks of what is metered; bound the metered quantity instead.`)
    }
  }
  return of
}

function checkCount({ type, model }: Typed, count: number): void {
  if (count > BANDS_MAX) throw new Fault('bands', `A price has at most ${BANDS_MAX} bands.`)
  if (count === 0 && model.bands !== 'none' && !model.bandIsOptional)
    throw new Fault('bands', `${type} needs at least one band.`)
  if (count > 1 && model.bands === 'one') throw new Fault('bands', `${type} has exactly one band.`)
}

const amountsOf = (band: BandInput): Given<AmountInput>[] => [
  band.amount,
  band.fixed_amount,
  band.minimum_amount,
  band.maximum_amount,
  // A price that has only percentages takes the currency of its tier bounds.
  band.tier_top_bound?.amount,
  band.block_size?.amount,
]

/** The currency that a price names first, in its bands or in its included volume; null when it names none. */
export function currencyOfPrice({
  bands,
  default_included_volume: included,
}: Pick<PriceConfigInput, 'bands' | 'default_included_volume'>): string | null {
  for (const band of bands ?? []) {
    for (const input of amountsOf(band)) if (input) return input.currency
  }
  return included?.amount?.currency ?? null
}

const SETTING_FIELDS: Readonly<Record<SettingName, string>> = {
  rollover: 'top_up',
  stepAccumulation: 'step_accumulation',
  blockRounding: 'block_rounding',
}

function readSettings({ type, model }: Typed, input: PriceConfigInput): Settings {
  const { top_up, step_accumulation, block_rounding } = input
  const stepAccumulation = STEP_ACCUMULATIONS.find(known => known === (step_accumulation ?? 'NONE'))
  if (!stepAccumulation) {
    throw new Fault('step_accumulation', `step_accumulation is one of ${STEP_ACCUMULATIONS.join(', ')}.`)
  }
  const blockRounding = BLOCK_ROUNDINGS.find(known => known === (block_rounding ?? 'NONE'))
  if (!blockRounding) throw new Fault('block_rounding', `block_rounding is one of ${BLOCK_ROUNDINGS.join(', ')}.`)
  const settings: Settings = { rollover: top_up?.rollover === true, stepAccumulation, blockRounding }
  for (const name of ['rollover', 'stepAccumulation', 'blockRounding'] as const) {
    if (settings[name] !== DEFAULT_SETTINGS[name] && !model.settings.includes(name)) {
      throw new Fault(SETTING_FIELDS[name], `${type} does not use ${SETTING_FIELDS[name]}; leave it out.`)
    }
  }
  return settings
}

function read(input: PriceConfigInput, context: PriceConfigContext): PriceConfig {
  const type = input.pricing_type
  const model = findPriceModel(type)
  if (!model || !isSupportedPricingType(type)) {
    throw new Fault('pricing_type', `${type} is not supported; use one of ${SUPPORTED_PRICING_TYPES.join(', ')}.`)
  }
  const { metric } = context
  if (!model.metrics.includes(metric)) {
    throw new Fault('pricing_type', `${type} prices metered ${metric === 'NUMBER' ? 'money' : 'numbers'} only.`)
  }
  const inputs = input.bands ?? []
  const typed = { type, model }
  checkCount(typed, inputs.length)
  const settings = readSettings(typed, input)
  const currency = context.currency ?? currencyOfPrice(input) ?? NO_CURRENCY
  // A price that is not billed needs no bands, so any bands that were sent with it are dropped.
  const given = model.bands === 'none' ? [] : inputs.map((band, index) => readOne(typed, index, band, metric, currency))
  const read = given.length === 0 && model.bandIsOptional ? [EMPTY_BAND] : given
  if (model.bands === 'tiers') checkBounds(read)
  const placedBy = boundOf(typed, read)
  checkBlockRounding(settings, { model, bands: read, metric, placedBy })
  // The last band has no bound, and shows where it begins.
  const bands = placedBy === 'COUNT' ? read.map(band => ({ ...band, boundOf: placedBy })) : read
  const rating = model.prepare(
    bands,
    metric,
    settings,
    (index, fault) => new Fault(`bands.${index}.${BAND_FIELDS[fault.field]}`, fault.message),
  )
  return {
    pricingType: type,
    currency,
    bands,
    placedBy,
    rating,
    blockRounding: settings.blockRounding,
    included: readIncluded(typed, input, settings, { metric, currency }),
    perEvent: readRatePer(typed, input, settings, placedBy),
  }
}

/** A price of single events keeps nothing from one event to the next, so nothing is included or rolled over. */
function readRatePer({ type, model }: Typed, input: PriceConfigInput, settings: Settings, placedBy: BoundOf): boolean {
  const { rate_per: given, default_included_volume: included } = input
  const per = RATE_PERS.find(known => known === (given ?? 'PERIOD'))
  if (!per) throw new Fault('rate_per', `rate_per is one of ${RATE_PERS.join(', ')}.`)
  if (per === 'PERIOD') return false
  if (!model.perPricingPeriod) throw new Fault('rate_per', `${type} charges the same whatever the usage; leave it out.`)
  if (settings.rollover) {
    throw new Fault('top_up', 'Each event is priced on its own, so nothing is left for the next; leave top_up out.')
  }
  if (included) {
    const message = 'Each event is priced on its own, so nothing is included for a period; leave it out.'
    throw new Fault('default_included_volume', message)
  }
  if (placedBy === 'COUNT') {
    const message = 'Each event is priced on its own, so a number of events has no tier; bound the metered quantity.'
    throw new Fault('bands.0.tier_top_bound.count', message)
  }
  return true
}

/** Free usage; only a price of usage can include some. */
function readIncluded(
  { type, model }: Typed,
  { default_included_volume: input }: PriceConfigInput,
  settings: Settings,
  context: ReadingContext,
): IncludedTerms | null {
  if (input === null || input === undefined) return null
  if (!model.perPricingPeriod) {
    throw new Fault('default_included_volume', `${type} charges the same whatever the usage; leave it out.`)
  }
  return readIncludedVolume(input, context, settings.rollover)
}

function readOne(typed: Typed, index: number, input: BandInput, metric: Metric, currency: string): Band {
  if (input.credits !== null && input.credits !== undefined) {
    throw new Fault(`bands.${index}.credits`, 'A price in money has no credits; only usage is priced in credits.')
  }
  if (typed.model.wholeBlocks && (input.block_size?.count ?? null) !== null) {
    const message = `${typed.type} sells blocks of what is metered; give the number or the amount.`
    throw new Fault(`bands.${index}.block_size.count`, message)
  }
  const band = readBand({ metric, currency }, index, input)
  checkTaken(typed, band, index)
  return band
}

/** Reads and checks a price. Never throws for what a caller sent; returns a fault that names the field. */
export function parsePriceConfig(input: PriceConfigInput, context: PriceConfigContext): PriceConfigReading {
  try {
    return { kind: 'ok', config: read(input, context) }
  } catch (error) {
    if (error instanceof Fault) return { kind: 'fault', fault: { field: error.field, message: error.message } }
    throw error
  }
}
