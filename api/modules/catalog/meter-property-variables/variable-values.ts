// The values of a request in the form they are stored and compared in.
import { decimal, isPlainDecimal, plain } from '../../../../shared/decimal.ts'
import { AppError } from '../../../../shared/errors.ts'
import type { MeterProperty } from '../meters/table.ts'

/** Values in one variable (contract: Limits). */
export const VALUES_MAX = 10_000

/**
 * Each value once: a NUMBER in its shortest form, since "1.0" and "1" are one number. Throws INVALID_FIELD with the place of
 * the first value that the property cannot have.
 */
export function canonicalValues(property: MeterProperty, values: readonly string[], field: string): string[] {
  const canonical = values.map((value, index) => {
    if (property.type === 'NUMBER') {
      if (isPlainDecimal(value)) return plain(decimal(value))
      throw refusal(`${JSON.stringify(value)} is no decimal, and the property is a NUMBER.`, `${field}.${index}`)
    }
    if (property.type === 'ENUM' && !property.enum_values?.includes(value)) {
      throw refusal(`The property ${property.reference} does not list ${JSON.stringify(value)}.`, `${field}.${index}`)
    }
    // Neither NUL nor half a character can be stored, so no event carries one either.
    if (/[\0\p{Cs}]/u.test(value)) throw refusal('NUL and lone surrogates are not allowed.', `${field}.${index}`)
    return value
  })
  return [...new Set(canonical)]
}

/** Throws INVALID_FIELD when a value would be both added and removed: the request does not say which. */
export function refuseBoth(add: readonly string[], remove: readonly string[]): void {
  const added = new Set(add)
  const both = remove.find(value => added.has(value))
  if (both === undefined) return
  throw refusal(`${JSON.stringify(both)} is in add and in remove; send it in one of them.`, 'remove')
}

/** Throws INVALID_FIELD when the list would be too long. */
export function refuseTooMany(count: number, field: string): void {
  if (count <= VALUES_MAX) return
  throw refusal(`The variable would have ${count} values and can have ${VALUES_MAX}; nothing was changed.`, field)
}

const refusal = (message: string, field: string): AppError => new AppError('INVALID_FIELD', message, { field })
