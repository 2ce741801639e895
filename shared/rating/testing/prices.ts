// Prices in tests: bands as strings, read by the same parser as in production.
import type { Decimal } from '../../decimal.ts'
import { plain } from '../../decimal.ts'
import type { BandInput } from '../parse/band-reader.ts'
import { type PriceConfigInput, parsePriceConfig } from '../parse/parse-price-config.ts'
import type { Band, Metric } from '../price.ts'
import type { PriceConfig } from '../rate.ts'

export type BandText = Partial<Record<keyof Band, string>>
type Settings = Pick<PriceConfigInput, 'top_up' | 'step_accumulation' | 'block_rounding'>

const money = (quantity: string | undefined, currency: string) =>
  quantity === undefined ? null : { quantity, currency }

const blockInput = ({ blockSize, blockOf }: BandText, currency: string): BandInput['block_size'] =>
  blockSize === undefined
    ? null
    : blockOf === 'MONEY'
      ? { amount: { quantity: blockSize, currency } }
      : { number: blockSize }

/** The wire shape of a band. */
export const bandInput = (band: BandText, currency = 'EUR'): BandInput => ({
  amount: money(band.amount, currency),
  percentage: band.percentage ?? null,
  fixed_amount: money(band.fixedAmount, currency),
  minimum_amount: money(band.minimumAmount, currency),
  maximum_amount: money(band.maximumAmount, currency),
  minimum_number: band.minimumNumber ?? null,
  maximum_number: band.maximumNumber ?? null,
  block_size: blockInput(band, currency),
  tier_top_bound:
    band.topBound === undefined
      ? null
      : band.boundOf === 'COUNT'
        ? { count: band.topBound }
        : { number: band.topBound },
})

/** A price made from strings. Throws when it is refused. */
export function priceOf(
  pricingType: string,
  bands: readonly BandText[],
  { metric = 'NUMBER', currency = 'EUR', ...settings }: { metric?: Metric; currency?: string } & Settings = {},
): PriceConfig {
  const input = { pricing_type: pricingType, bands: bands.map(band => bandInput(band, currency)), ...settings }
  const reading = parsePriceConfig(input, { metric, currency })
  if (reading.kind === 'fault') throw new Error(`${reading.fault.field}: ${reading.fault.message}`)
  return reading.config
}

/** A price in EUR for metered numbers, made from strings. */
export const price = (pricingType: string, ...bands: BandText[]): PriceConfig => priceOf(pricingType, bands)

/** Decimals as strings, for random prices. */
export const textOf = (band: Partial<Record<keyof Band, Decimal | string | null>>): BandText =>
  Object.fromEntries(
    Object.entries(band).flatMap(([name, value]) =>
      value === null ? [] : [[name, typeof value === 'string' ? value : plain(value)]],
    ),
  )
