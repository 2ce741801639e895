// One-off items that are sold by units: `fixed_amount + amount × units` (contract: Units on one-off items).
import { type Decimal, decimal, isPlainDecimal, ONE, ZERO } from '../../decimal.ts'
import { numberVolume } from '../../rating/price.ts'
import { isByUnits, type PriceConfig, type RatedPrice, rate } from '../../rating/rate.ts'

type DefaultUnitsInput = { readonly number?: string | null; readonly amount?: unknown; readonly count?: unknown }
export type UnitsFault = { readonly field: string; readonly message: string }

const isGiven = (value: unknown): boolean => value !== null && value !== undefined

/** What is wrong with the default units of a config; null when they are valid. Only a FLAT price has units. */
export function defaultUnitsFault(units: DefaultUnitsInput | null, pricingType: string): UnitsFault | null {
  if (units === null) return null
  if (!isByUnits(pricingType)) return { field: 'default_units', message: 'Only a FLAT price is sold by units.' }
  for (const name of ['amount', 'count'] as const) {
    if (isGiven(units[name])) return { field: `default_units.${name}`, message: 'Units are a number; use number.' }
  }
  const { number } = units
  const isNumber = typeof number === 'string' && isPlainDecimal(number) && decimal(number).gt(ZERO)
  return isNumber ? null : { field: 'default_units.number', message: 'number must be a decimal greater than 0.' }
}

/** The number of units charged: from the schedule, otherwise the default of the config, otherwise 1. */
export const unitsOf = (onSchedule: Decimal | null, byDefault: Decimal | null): Decimal =>
  onSchedule ?? byDefault ?? ONE

/** The price of this number of units, exact. A lump sum is charged once, whatever the units. */
export const rateUnits = (config: PriceConfig, units: Decimal): RatedPrice => rate(config, numberVolume(units))
