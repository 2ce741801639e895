// The fixed columns of a DEFAULT file (semantics 1.4), made from a meter: as a header to fill in, and back again.
import { UnreadableFile } from '../unreadable-file.ts'
import type { Cell, Named, Plan, ValueSource } from './plan.ts'

/** A meter with what events of it may carry. */
export type MeterColumns = {
  readonly id: string
  readonly values: readonly { readonly reference: string; readonly type: 'NUMBER' | 'AMOUNT' }[]
  readonly properties: readonly string[]
}

const REFERENCE = 'reference'
const CUSTOMER = 'customer_reference'
/** The name of the column with the time of an event, in files of every kind. */
export const TIMESTAMP = 'timestamp'

const propertyColumn = (reference: string): string => `meter_properties.${reference}`
const valueColumns = ({ reference, type }: MeterColumns['values'][number]): string[] =>
  (type === 'NUMBER' ? ['number'] : ['amount.quantity', 'amount.currency']).map(
    part => `meter_values.${reference}.${part}`,
  )

/** The header of a DEFAULT file of this meter. */
export const defaultColumns = (meter: MeterColumns): string[] => [
  REFERENCE,
  CUSTOMER,
  TIMESTAMP,
  ...meter.properties.map(propertyColumn),
  ...meter.values.flatMap(valueColumns),
]

/**
 * The plan of a DEFAULT file: columns in any order, those of optional things may be absent. Throws UnreadableFile on a column
 * that is none of the meter's, and when one that every event needs is missing.
 */
export function defaultPlan(columns: readonly string[], meter: MeterColumns, hasCustomer: boolean): Plan {
  const known = new Set(defaultColumns(meter))
  const unknown = columns.find(column => !known.has(column))
  if (unknown !== undefined) {
    throw new UnreadableFile(
      `The column ${JSON.stringify(unknown)} is none of this meter's. Its columns are ${[...known].join(',')}.`,
    )
  }
  const find = (column: string): number | null => (columns.includes(column) ? columns.indexOf(column) : null)
  const must = (column: string, why: string): number => {
    const index = find(column)
    if (index === null) throw new UnreadableFile(`The header lacks the column ${JSON.stringify(column)}: ${why}.`)
    return index
  }
  const reference = must(REFERENCE, 'it identifies each event for ever')
  const customer = hasCustomer ? find(CUSTOMER) : must(CUSTOMER, 'the file has no customer_id either')
  const cell = (column: number): Cell => ({ column, empty: null })
  const properties = meter.properties.flatMap(property => {
    const column = find(propertyColumn(property))
    return column === null ? [] : [{ name: { reference: property }, value: cell(column) }]
  })
  const values = meter.values.flatMap((value): ValueSource[] => {
    const name: Named = { reference: value.reference }
    const [first = '', second] = valueColumns(value)
    if (second === undefined) {
      const column = find(first)
      return column === null ? [] : [{ name, kind: 'number', number: cell(column) }]
    }
    if (find(first) === null && find(second) === null) return []
    const [quantity, currency] = [must(first, `the header has ${second}`), must(second, `the header has ${first}`)]
    return [{ name, kind: 'amount', quantity: cell(quantity), currency: cell(currency) }]
  })
  return {
    columns,
    chooser: null,
    byField: new Map(),
    otherwise: { meter: { id: meter.id }, reference: { column: reference, prefix: null }, properties, values },
    customer,
    timestamp: find(TIMESTAMP),
  }
}
