// meter_validation=DYNAMIC (semantics 1.2): meters, values, properties and enum values that events name and nobody has made
// are made, ACTIVE, with one SUM calculation for each value that is new on its meter.
import { and, eq } from 'drizzle-orm'
import type { Uow } from '../../../../shared/database/database.ts'
import { AppError } from '../../../../shared/errors.ts'
import { idOf, looksLikeId } from '../../../../shared/ids.ts'
import { createResource, updateResource } from '../../../resource/commands.ts'
import type { Resource, Row, StoredRow } from '../../../resource/define-resource.ts'
import { findOne, lockOne } from '../../../resource/store.ts'
import { inThisTenant } from '../../../resource/tenant-condition.ts'
import { ENTRIES_MAX, meterResource } from '../../catalog/meters/meter.ts'
import { ENUM_VALUES_MAX, meterPropertyResource } from '../../catalog/meters/meter-property.ts'
import { meterValueResource } from '../../catalog/meters/meter-value.ts'
import { meterValueCalculationResource } from '../../catalog/meters/meter-value-calculation.ts'
import {
  type Meter,
  type MeterEntry,
  type MeterProperty,
  type MeterValue,
  meterValueCalculations,
} from '../../catalog/meters/table.ts'
import { fitsType, type Mention, type MeterMention, type PropertyMention, type ValueMention } from './dynamic-body.ts'

/** Definitions one call may make: more is a mistake, such as an id sent as an enum value. */
const DEFINITIONS_MAX = 200
const ENUM_VALUE_MAX = 255
const REFERENCE = /^\S{1,255}$/

/** What is left of what the call may make. */
class Budget {
  left = DEFINITIONS_MAX

  take(field: string): void {
    this.left -= 1
    if (this.left >= 0) return
    throw invalid(field, `One call defines at most ${DEFINITIONS_MAX} meters, values, properties and enum values.`)
  }
}

const invalid = (field: string, message: string): AppError => new AppError('INVALID_FIELD', message, { field })

/**
 * Makes what the events name and is not there, in the caller's transaction. Afterwards every meter they name is ACTIVE and
 * lists their values and properties. Throws INVALID_FIELD and RESOURCE_NOT_FOUND, with the path in the body, where that
 * cannot be; RESOURCE_ALREADY_EXISTS when another call made the same at the same time: then run it again.
 */
export async function defineMissing(uow: Uow, mentions: readonly MeterMention[]): Promise<void> {
  const budget = new Budget()
  const byMeter = new Map<string, MeterMention[]>()
  for (const mention of mentions) {
    const key = mention.reference ?? mention.id ?? ''
    byMeter.set(key, [...(byMeter.get(key) ?? []), mention])
  }
  // Always in the same order, so that two calls never wait for each other.
  for (const key of [...byMeter.keys()].sort()) await defineMeter(uow, byMeter.get(key) ?? [], budget)
}

async function defineMeter(uow: Uow, mentions: readonly MeterMention[], budget: Budget): Promise<void> {
  const [first] = mentions
  if (first === undefined) return
  const meter = await findMeter(uow, first)
  const values = await defineEntries(uow, {
    resource: meterValueResource,
    mentions: mentions.flatMap(mention => mention.values),
    listed: meter?.meter_values ?? [],
    define: (mention, found) => defineValue(uow, mention, found, budget),
  })
  const properties = await defineEntries(uow, {
    resource: meterPropertyResource,
    mentions: mentions.flatMap(mention => mention.properties),
    listed: meter?.meter_properties ?? [],
    define: (mention, found) => defineProperty(uow, mention, found, budget),
  })
  const lists = {
    meter_values: [...(meter?.meter_values ?? []), ...values],
    meter_properties: [...(meter?.meter_properties ?? []), ...properties],
  }
  for (const [name, list] of Object.entries(lists)) {
    if (list.length <= ENTRIES_MAX) continue
    throw invalid(`${first.path}${name}`, `A meter lists at most ${ENTRIES_MAX} of its ${name}.`)
  }
  const saved = await saveMeter(uow, { meter, first, lists, budget, grown: values.length + properties.length > 0 })
  for (const { id, reference } of values) await defineSum(uow, saved, { id, reference: reference ?? id })
}

/** The meter, locked; null when it is to be made. */
async function findMeter(uow: Uow, { path, id, reference }: MeterMention): Promise<Meter | null> {
  const key = reference ?? id
  const field = `${path}${reference === null ? 'meter_id' : 'meter_reference'}`
  if (key === null)
    throw new AppError('MISSING_FIELD', 'meter_reference or meter_id is required.', { field: `${path}meter_reference` })
  const meter = await lockOne(uow, meterResource, key)
  if (meter === null && reference === null) {
    const message = `There is no meter ${JSON.stringify(id)}; a new one is named by meter_reference.`
    throw new AppError('RESOURCE_NOT_FOUND', message, { field, status: 400, resourceType: 'METER' })
  }
  if (meter !== null && meter.status !== 'ACTIVE')
    throw new AppError('INVALID_OPERATION', `The meter ${JSON.stringify(key)} is ${meter.status}, not ACTIVE.`, {
      field,
    })
  if (meter === null) checkReference(key, field)
  return meter
}

function checkReference(reference: string, field: string): void {
  if (REFERENCE.test(reference) && !looksLikeId(reference)) return
  throw invalid(
    field,
    'What is defined by this needs a reference of 1 to 255 characters without white space, not of the form of an id.',
  )
}

type Named = StoredRow & { readonly reference: string }
type Entries<M extends Mention, R extends Named> = {
  readonly resource: Resource<R>
  readonly mentions: readonly M[]
  readonly listed: readonly MeterEntry[]
  /** Makes or completes what is mentioned; `found` is there already. */
  readonly define: (mention: M, found: R | null) => Promise<R>
}

/** The entries the meter does not list yet, defined. */
async function defineEntries<M extends Mention, R extends Named>(uow: Uow, of: Entries<M, R>): Promise<MeterEntry[]> {
  const added = new Map<string, MeterEntry>()
  const sorted = of.mentions.toSorted((a, b) => order(a.reference ?? '', b.reference ?? ''))
  for (const mention of sorted) {
    const { id, reference, path, required } = mention
    const key = reference ?? id
    if (key === null)
      throw new AppError('MISSING_FIELD', 'reference or id is required.', { field: `${path}.reference` })
    if (reference !== null && looksLikeId(reference)) checkReference(reference, `${path}.reference`)
    const found = await findOne(uow, of.resource, key)
    if (!found && reference === null)
      throw invalid(
        `${path}.id`,
        `There is no ${of.resource.objectType} ${JSON.stringify(id)}; a new one is named by reference.`,
      )
    if (!found) checkReference(key, `${path}.reference`)
    const row = await of.define(mention, found)
    const isListed = of.listed.some(entry => entry.id === row.id) || added.has(row.id)
    if (!isListed) added.set(row.id, { id: row.id, reference: row.reference, required })
  }
  return [...added.values()]
}

const order = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)

const created = <R extends Named>(uow: Uow, resource: Resource<R>, { reference }: Mention, more: Row): Promise<R> =>
  createResource(uow, resource, { reference, name: reference, status: 'ACTIVE', ...more })

async function defineValue(
  uow: Uow,
  mention: ValueMention,
  found: MeterValue | null,
  budget: Budget,
): Promise<MeterValue> {
  // Of one that is there the gateway judges what was sent.
  if (found) return found
  budget.take(`${mention.path}.reference`)
  return await created(uow, meterValueResource, mention, { type: mention.type })
}

async function defineProperty(
  uow: Uow,
  mention: PropertyMention,
  found: MeterProperty | null,
  budget: Budget,
): Promise<MeterProperty> {
  const { value, path } = mention
  const type = found?.type ?? mention.type ?? 'STRING'
  if (!fitsType(type, value)) throw invalid(`${path}.value`, 'Expected a decimal number as a string, such as "12.5".')
  if (found && type !== 'ENUM') return found
  if (type !== 'ENUM') {
    budget.take(`${path}.reference`)
    return await created(uow, meterPropertyResource, mention, { type })
  }
  if (value === '' || value.length > ENUM_VALUE_MAX)
    throw invalid(`${path}.value`, `A value of an ENUM has 1 to ${ENUM_VALUE_MAX} characters.`)
  if (!found) {
    budget.take(`${path}.reference`)
    return await created(uow, meterPropertyResource, mention, { type, enum_values: [value] })
  }
  return await addEnumValue(uow, { id: found.id, value, path, budget })
}

async function addEnumValue(
  uow: Uow,
  of: { readonly id: string; readonly value: string; readonly path: string; readonly budget: Budget },
): Promise<MeterProperty> {
  const locked = await lockOne(uow, meterPropertyResource, of.id)
  if (!locked) throw invalid(`${of.path}.reference`, 'The property was deleted meanwhile; send it again.')
  const values = locked.enum_values ?? []
  if (values.includes(of.value)) return locked
  if (values.length >= ENUM_VALUES_MAX)
    throw invalid(`${of.path}.value`, `The property lists ${values.length} values, and no more are added.`)
  of.budget.take(`${of.path}.value`)
  return await updateResource(uow, meterPropertyResource, of.id, { enum_values: [...values, of.value] })
}

async function saveMeter(
  uow: Uow,
  of: {
    readonly meter: Meter | null
    readonly first: MeterMention
    readonly lists: { readonly meter_values: readonly MeterEntry[]; readonly meter_properties: readonly MeterEntry[] }
    readonly budget: Budget
    readonly grown: boolean
  },
): Promise<Meter> {
  if (of.meter && !of.grown) return of.meter
  if (of.meter) return await updateResource(uow, meterResource, of.meter.id, of.lists)
  of.budget.take(`${of.first.path}meter_reference`)
  const { reference } = of.first
  return await createResource(uow, meterResource, { reference, name: reference, status: 'ACTIVE', ...of.lists })
}

/** The sum of a value that is new on a meter, named after the value, or after both where that name is taken. */
async function defineSum(
  uow: Uow,
  meter: Meter,
  value: { readonly id: string; readonly reference: string },
): Promise<void> {
  const sums = await uow.tx
    .select({ id: meterValueCalculations.id })
    .from(meterValueCalculations)
    .where(
      and(
        inThisTenant(uow, meterValueCalculations),
        eq(meterValueCalculations.meter_id, meter.id),
        eq(meterValueCalculations.meter_value_id, idOf('metv', value.id)),
        eq(meterValueCalculations.calculation_type, 'SUM'),
      ),
    )
  if (sums.length > 0) return
  const reference = await freeReference(uow, [
    value.reference,
    `${meter.reference}.${value.reference}`.slice(0, 255),
    `sum.${meter.id}.${value.id}`,
  ])
  await createResource(uow, meterValueCalculationResource, {
    reference,
    name: value.reference,
    calculation_type: 'SUM',
    meter_id: meter.id,
    meter_value_id: value.id,
  })
}

async function freeReference(uow: Uow, names: readonly string[]): Promise<string> {
  for (const name of names) {
    const [taken] = await uow.tx
      .select({ id: meterValueCalculations.id })
      .from(meterValueCalculations)
      .where(and(inThisTenant(uow, meterValueCalculations), eq(meterValueCalculations.reference, name)))
    if (!taken) return name
  }
  throw new AppError('RESOURCE_ALREADY_EXISTS', `There is a calculation ${JSON.stringify(names[0])} already.`)
}
