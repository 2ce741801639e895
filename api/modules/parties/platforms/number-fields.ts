// The custom fields that the prefix of invoice numbers names (contract: Tax and invoices).
import { isDeepStrictEqual } from 'node:util'
import {
  type PrefixVariable,
  parsePrefix,
  prefixVariables,
} from '../../../../shared/billing/numbering/number-prefix.ts'
import { NUMBER_SERIES, type NumberSeries } from '../../../../shared/billing/numbering/numbering.ts'
import type { ReadUow, Uow } from '../../../../shared/database/database.ts'
import { AppError } from '../../../../shared/errors.ts'
import type { CustomField } from '../../../resource/custom-fields/table.ts'
import { type NamedField, requireFields, saveUses, valuesNamed } from '../../../resource/custom-fields/uses.ts'
import { SERIES_FIELDS, seriesOf } from './invoice-settings.ts'
import type { InvoiceSettings } from './schema.ts'
import type { Platform } from './table.ts'

const fieldOf = (series: NumberSeries): string => `invoice_settings.${SERIES_FIELDS[series]}.prefix`
const OWNERS = { customer: 'CUSTOMER', billing_entity: 'BILLING_ENTITY' } as const

/** A field that a prefix names, and the value it has for one invoice; null for none. */
export type NumberField = PrefixVariable & { readonly value: string | null }

function variablesOf(settings: InvoiceSettings, series: NumberSeries): readonly PrefixVariable[] {
  const reading = parsePrefix(seriesOf(settings, series).prefix)
  return reading.kind === 'ok' ? prefixVariables(reading.parts) : []
}

const named = ({ owner, reference }: PrefixVariable): NamedField => ({ resourceType: OWNERS[owner], reference })

/** Throws INVALID_FIELD when a prefix names a field that is not there, or that takes several values. */
export async function checkNumberFields(uow: Uow, row: Platform): Promise<void> {
  for (const series of NUMBER_SERIES) {
    const list = (await fieldsOf(uow, row, series)).find(field => field.multiple_values)
    if (!list) continue
    const message = `${list.reference} takes several values, and a number needs one; name another field.`
    throw new AppError('INVALID_FIELD', message, { field: fieldOf(series) })
  }
}

/** Keeps the fields of the prefixes from being renamed or removed while they name them. */
export async function saveNumberFieldUses(uow: Uow, row: Platform, previous: Platform | null): Promise<void> {
  if (isDeepStrictEqual(row.invoice_settings, previous?.invoice_settings)) return
  const used: CustomField[] = []
  for (const series of NUMBER_SERIES) used.push(...(await fieldsOf(uow, row, series)))
  const once = new Map(used.map(field => [field.id, field]))
  await saveUses(uow, { resourceType: 'PLATFORM', resourceId: row.id }, [...once.values()])
}

const fieldsOf = (uow: Uow, { invoice_settings }: Platform, series: NumberSeries): Promise<CustomField[]> =>
  requireFields(uow, variablesOf(invoice_settings, series).map(named), fieldOf(series))

/** The two that a number may show fields of. */
type NumberedParties = { readonly customerId: string; readonly billingEntityId: string }

/** What the fields of the prefix say for each of many invoices, in their order. */
export async function loadNumberFieldsOf(
  uow: ReadUow,
  settings: InvoiceSettings,
  all: readonly NumberedParties[],
  series: NumberSeries = 'STANDARD',
): Promise<NumberField[][]> {
  const variables = variablesOf(settings, series)
  const idOf = { customer: 'customerId', billing_entity: 'billingEntityId' } as const
  const values = await valuesNamed(
    uow,
    all.flatMap(parties =>
      variables.map(variable => ({ ...named(variable), resourceId: parties[idOf[variable.owner]] })),
    ),
  )
  return all.map((_, place) =>
    variables.map((variable, index) => ({ ...variable, value: values[place * variables.length + index] ?? null })),
  )
}

/** Longer ones make numbers that nobody can read, and that the index of numbers cannot hold. */
const VALUE_LENGTH_MAX = 64

/** What is wrong with the values for a number, each as a sentence; none when it can be given. */
export const numberFieldFaults = (fields: readonly NumberField[]): string[] =>
  fields.flatMap(({ owner, reference, value }) => {
    const whose = owner === 'customer' ? 'customer' : 'billing entity'
    const what = `the custom field ${reference} of the ${whose}`
    if (!value?.trim()) return [`The invoice number needs ${what}, which has no value.`]
    if (value.length <= VALUE_LENGTH_MAX) return []
    return [`The invoice number has ${what}, whose value is longer than ${VALUE_LENGTH_MAX} characters.`]
  })
