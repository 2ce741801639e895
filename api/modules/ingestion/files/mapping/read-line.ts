// One line of a file to the event it stands for, or why it stands for none.
import type { Fields } from '../csv/parse-records.ts'
import type { Cell, FileFacts, LineMapping, Named, Plan } from './plan.ts'

type EventValue = Named &
  ({ readonly number: string } | { readonly amount: { readonly quantity: string; readonly currency: string } })

/** The body of an event, as the gateway takes it. */
export type LineEvent = {
  readonly reference: string
  readonly customer_id?: string
  readonly customer_reference?: string
  readonly meter_id?: string
  readonly meter_reference?: string
  readonly timestamp: string
  readonly meter_values: readonly EventValue[]
  readonly meter_properties: readonly (Named & { readonly value: string })[]
}

export type ReadLine =
  | { readonly kind: 'event'; readonly event: LineEvent }
  | { readonly kind: 'skip'; readonly message: string }
  | { readonly kind: 'error'; readonly message: string }

const failed = (message: string): ReadLine => ({ kind: 'error', message })

/** What the gateway judges (decimals, times, listed values) is left to it; here is only what it cannot see. Pure. */
export function readLine(fields: Fields, plan: Plan, facts: FileFacts): ReadLine {
  if ('fault' in fields) return failed(fields.fault)
  if (fields.length !== plan.columns.length) {
    return failed(`The line has ${fields.length} fields and the header ${plan.columns.length} columns.`)
  }
  const at = (column: number | null): string => (column === null ? '' : (fields[column] ?? ''))
  const mapping = plan.byField.get(at(plan.chooser)) ?? plan.otherwise
  if (mapping === null) {
    return failed(
      `No mapping is for ${JSON.stringify(at(plan.chooser))} in the column ${JSON.stringify(plan.columns[plan.chooser ?? 0])}.`,
    )
  }
  const customer = customerOf(at(plan.customer), facts)
  if (customer === null) return failed('The line names no customer.')
  if (!facts.takesCustomer(Object.values(customer)[0] ?? '')) {
    return { kind: 'skip', message: 'Usage of this customer is not taken, by the file processing settings.' }
  }
  const reference = at(mapping.reference.column)
  if (reference === '') return failed('The line has no reference; it identifies the event for ever.')
  const meter = 'column' in mapping.meter ? { reference: at(mapping.meter.column) } : mapping.meter
  if ('reference' in meter && meter.reference === '') return failed('The line names no meter.')
  return {
    kind: 'event',
    event: {
      reference: at(mapping.reference.prefix) + reference,
      ...customer,
      ...('id' in meter ? { meter_id: meter.id } : { meter_reference: meter.reference }),
      timestamp: facts.overrideTimestamp ?? (at(plan.timestamp) || facts.fallbackTimestamp),
      ...measured(mapping, fields),
    },
  }
}

const customerOf = (
  reference: string,
  { customerId }: FileFacts,
): { customer_reference: string } | { customer_id: string } | null => {
  if (reference !== '') return { customer_reference: reference }
  return customerId === null ? null : { customer_id: customerId }
}

/** An empty field without a default is a value or property the event does not carry. */
function measured(
  mapping: LineMapping,
  fields: readonly string[],
): Pick<LineEvent, 'meter_values' | 'meter_properties'> {
  const textOf = (cell: Cell): string =>
    'constant' in cell ? cell.constant : fields[cell.column] || (cell.empty ?? '')
  return {
    meter_values: mapping.values.flatMap((value): EventValue[] => {
      if (value.kind === 'number') {
        const number = textOf(value.number)
        return number === '' ? [] : [{ ...value.name, number }]
      }
      const [quantity, currency] = [textOf(value.quantity), textOf(value.currency)]
      return quantity === '' && currency === '' ? [] : [{ ...value.name, amount: { quantity, currency } }]
    }),
    meter_properties: mapping.properties.flatMap(({ name, value }) => {
      const text = textOf(value)
      return text === '' ? [] : [{ ...name, value: text }]
    }),
  }
}
