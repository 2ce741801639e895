// The codes of units (UNECE Recommendation 20) in e-invoices, from the names that tenants give units.
import type { UnitName } from '../model/presentation.ts'

/** "One": for what is counted without a unit of the list, such as tokens and seats. */
export const ONE_UNIT_CODE = 'C62'

const NAMES: Readonly<Record<string, readonly string[]>> = {
  SEC: ['second', 'sec', 's'],
  MIN: ['minute', 'min'],
  HUR: ['hour', 'hr', 'h'],
  DAY: ['day'],
  WEE: ['week'],
  MON: ['month'],
  ANN: ['year'],
  AD: ['byte'],
  '2P': ['kilobyte', 'kb'],
  '4L': ['megabyte', 'mb'],
  E34: ['gigabyte', 'gb'],
  E35: ['terabyte', 'tb'],
  E36: ['petabyte', 'pb'],
  WHR: ['watt hour', 'wh'],
  KWH: ['kilowatt hour', 'kwh'],
  MWH: ['megawatt hour', 'mwh'],
  MTR: ['metre', 'meter'],
  KMT: ['kilometre', 'kilometer', 'km'],
  GRM: ['gram'],
  KGM: ['kilogram', 'kg'],
  LTR: ['litre', 'liter'],
  H87: ['piece', 'pc'],
}

const CODES = new Map(Object.entries(NAMES).flatMap(([code, names]) => names.map(name => [name, code] as const)))

/** The code of a unit by its English name, singular or plural; that of "one" for a name that the list does not have. */
export function unitCodeOf(unit: UnitName | undefined): string {
  const names = unit ? [unit.singular, unit.plural] : []
  const found = names.flatMap(name => {
    const plain = name.trim().toLowerCase().replace(/-/g, ' ')
    return CODES.get(plain) ?? CODES.get(plain.replace(/s$/, '')) ?? []
  })
  return found[0] ?? ONE_UNIT_CODE
}
