// The selector of a customer: its form, beyond its shape.
import {
  type SelectorComparator,
  type SelectorField,
  selectorJson,
  selectorOf,
  takesNoValue,
  type WireSelector,
} from '../../../../shared/attribution/selector.ts'
import { isCountry } from '../../../../shared/codes/iso-codes.ts'
import { AppError } from '../../../../shared/errors.ts'

const FIELD = 'pricing_plan_subscription_selector'

/** The one form of what means the same. */
export const canonicalSelector = (selector: WireSelector | null): WireSelector | null =>
  selector ? (JSON.parse(selectorJson(selectorOf(selector))) as WireSelector) : null

const COUNTRY: SelectorField = 'BILLING_ENTITY_REGISTERED_ADDRESS_COUNTRY'
/** Comparators with a part of a value. */
const OF_PARTS: readonly SelectorComparator[] = ['CONTAINS', 'NOT_CONTAINS']

/**
 * Throws INVALID_FIELD or MISSING_FIELD for a filter whose comparator and value do not go together, and for a country that does not exist: no
 * subscription would ever have it.
 */
export function checkSelector(selector: WireSelector | null): void {
  for (const [index, { field, value }] of (selector?.data ?? []).entries()) {
    requireCountry(`data.${index}.value`, field, value)
  }
  for (const [index, { field, type, value }] of (selector?.filters ?? []).entries()) {
    const given = value !== null && value !== undefined
    if (takesNoValue(type) !== given) {
      if (given && !OF_PARTS.includes(type)) requireCountry(`filters.${index}.value`, field, value)
      continue
    }
    const message = given ? `${type} takes no value.` : `${type} compares with a value.`
    throw new AppError(given ? 'INVALID_FIELD' : 'MISSING_FIELD', message, { field: `${FIELD}.filters.${index}.value` })
  }
}

function requireCountry(path: string, field: SelectorField, value: string): void {
  if (field === COUNTRY && !isCountry(value))
    refuse(path, `There is no country ${JSON.stringify(value)}; give a two-letter code of ISO 3166-1, such as NL.`)
}

function refuse(path: string, message: string): never {
  throw new AppError('INVALID_FIELD', message, { field: `${FIELD}.${path}` })
}
