// The one form of a value: two texts that mean the same are stored, compared and found as one. Pure.
import { decimal, isPlainDecimal, plain } from '../../../shared/decimal.ts'
import type { CustomField } from './table.ts'

export type ValueReading =
  | { readonly kind: 'value'; readonly value: string }
  | { readonly kind: 'fault'; readonly message: string }

/** The value in its form for the type of the field, or what is wrong with it (semantics 9.4). */
export function canonicalValue(of: Pick<CustomField, 'type' | 'enum_values'>, text: string): ValueReading {
  const value = (form: string): ValueReading => ({ kind: 'value', value: form })
  const fault = (message: string): ValueReading => ({ kind: 'fault', message })
  switch (of.type) {
    case 'STRING':
      if (/\p{Cc}/u.test(text)) return fault('A value is one line of text, without control characters.')
      return /\S/.test(text) ? value(text) : fault('A value has at least one character; null takes the value away.')
    case 'NUMBER':
      if (isPlainDecimal(text)) return value(plain(decimal(text)))
      return fault(`${JSON.stringify(text)} is no plain decimal, and the field is a NUMBER.`)
    case 'BOOLEAN':
      return text === 'true' || text === 'false'
        ? value(text)
        : fault('The field is a BOOLEAN: send "true" or "false".')
    case 'ENUM':
      if (of.enum_values?.includes(text)) return value(text)
      return fault(
        `${JSON.stringify(text)} is not one of the values of the field: ${shownValues(of.enum_values ?? [])}.`,
      )
  }
}

const SHOWN_MAX = 20
const shownValues = (values: readonly string[]): string =>
  values.length <= SHOWN_MAX
    ? values.join(', ')
    : `${values.slice(0, SHOWN_MAX).join(', ')} and ${values.length - SHOWN_MAX} more`
