// What a custom field may be, and how it may change while resources have values of it. A change holds the row of the field, and
// whoever saves a value holds it against that, so neither misses the other.
import { and, count, eq, gt, notInArray, sql } from 'drizzle-orm'
import type { Uow } from '../../../shared/database/database.ts'
import { AppError } from '../../../shared/errors.ts'
import { FIELDS_MAX } from '../../resource/custom-fields/schema.ts'
import {
  type CustomField,
  customFields,
  customFieldUses,
  customFieldValues,
} from '../../resource/custom-fields/table.ts'
import { inThisTenant } from '../../resource/tenant-condition.ts'

const OBJECT_TYPE = 'CUSTOM_FIELD'
const v = customFieldValues

/** Throws INVALID_FIELD, MISSING_FIELD or CUSTOM_FIELD_VALUE_ALREADY_EXISTS for a field that cannot be, or cannot become so. */
export async function checkDefinition(uow: Uow, row: CustomField, previous: CustomField | null): Promise<void> {
  checkReference(row.reference)
  checkEnum(row)
  if (row.resource_type === 'INVOICE' && row.copy_value_to_invoice) {
    throw new AppError(
      'INVALID_FIELD',
      'The values of an INVOICE are on the invoice; only those of others are copied.',
      {
        field: 'copy_value_to_invoice',
      },
    )
  }
  if (!previous) return await refuseTooMany(uow, row)
  if (row.reference !== previous.reference) await refuseNewReference(uow, row)
  await refuseLostMeaning(uow, row, previous)
  if (row.unique_value && !previous.unique_value) await refuseRepeated(uow, row)
}

/** Filters and prefixes of invoice numbers separate by these. References of the service's own have a colon. */
function checkReference(reference: string): void {
  if (!/[:[\]{}]/.test(reference)) return
  throw new AppError('INVALID_FIELD', 'The reference of a custom field cannot contain : [ ] { }; choose another.', {
    field: 'reference',
  })
}

function checkEnum({ type, enum_values }: CustomField): void {
  if ((type === 'ENUM') === (enum_values !== null)) return
  throw type === 'ENUM'
    ? new AppError('MISSING_FIELD', 'A field of type ENUM lists its values.', { field: 'enum_values' })
    : new AppError('INVALID_FIELD', 'enum_values belongs to type ENUM.', { field: 'enum_values' })
}

/** Creations of one tenant count one after the other, so that together they do not pass the limit. */
async function refuseTooMany(uow: Uow, { resource_type }: CustomField): Promise<void> {
  const { platformId, environment } = uow.tenant
  const key = `custom fields ${platformId} ${environment} ${resource_type}`
  await uow.tx.execute(sql`select pg_advisory_xact_lock(hashtextextended(${key}, 0))`)
  const of = and(inThisTenant(uow, customFields), eq(customFields.resource_type, resource_type))
  if ((await uow.tx.$count(customFields, of)) < FIELDS_MAX) return
  throw new AppError('INVALID_OPERATION', `A ${resource_type} has at most ${FIELDS_MAX} custom fields.`, {
    field: 'resource_type',
  })
}

/** What names the field by its reference would name nothing (contract: Tax and invoices). */
async function refuseNewReference(uow: Uow, row: CustomField): Promise<void> {
  const user = await userOf(uow, row.id)
  if (user === null) return
  throw new AppError('INVALID_FIELD', `${user} names the field by its reference; change that first.`, {
    field: 'reference',
    resourceId: row.id,
    resourceType: OBJECT_TYPE,
  })
}

/** The values that there are must go on meaning what they mean. */
async function refuseLostMeaning(uow: Uow, row: CustomField, previous: CustomField): Promise<void> {
  const refuse = (field: string, message: string): AppError =>
    new AppError('INVALID_FIELD', message, { field, resourceId: row.id, resourceType: OBJECT_TYPE })
  const newType = row.type !== previous.type
  const single = previous.multiple_values && !row.multiple_values
  if ((newType || single) && (await someHolder(uow, row)) !== null) {
    const field = newType ? 'type' : 'multiple_values'
    throw refuse(field, `Some ${row.resource_type} has a value of it; take the values away first, or make a new field.`)
  }
  if (!previous.multiple_values && row.multiple_values) {
    const user = await userOf(uow, row.id)
    if (user !== null) throw refuse('multiple_values', `${user} needs one value of it; change that first.`)
  }
  if (newType || row.enum_values === null) return
  const lost = await valueBeside(uow, row, row.enum_values)
  if (lost !== null) throw refuse('enum_values', `Some ${row.resource_type} has the value ${JSON.stringify(lost)}.`)
}

/** Throws when two resources have one value of a field that is to hold each value once. */
async function refuseRepeated(uow: Uow, row: CustomField): Promise<void> {
  const [repeated] = await uow.tx
    .select({ value: v.value })
    .from(v)
    .where(and(inThisTenant(uow, v), eq(v.custom_field_id, row.id)))
    .groupBy(v.value)
    .having(gt(count(), 1))
    .limit(1)
  if (!repeated) return
  const message = `More than one ${row.resource_type} has the value ${JSON.stringify(repeated.value)}; change all but one.`
  throw new AppError('CUSTOM_FIELD_VALUE_ALREADY_EXISTS', message, {
    field: 'unique_value',
    resourceId: row.id,
    resourceType: OBJECT_TYPE,
  })
}

/** Lets the database hold each value once, or no longer. */
export async function restrictValues(uow: Uow, row: CustomField, previous: CustomField | null): Promise<void> {
  if (!previous || previous.unique_value === row.unique_value) return
  await uow.tx
    .update(v)
    .set({ is_unique: row.unique_value })
    .where(and(inThisTenant(uow, v), eq(v.custom_field_id, row.id)))
}

/** Throws COULD_NOT_DELETE_RESOURCE while a resource has a value of the field, or something names it. */
export async function refuseWhileUsed(uow: Uow, row: CustomField): Promise<void> {
  const user = await userOf(uow, row.id)
  const holder = await someHolder(uow, row)
  const reason =
    user !== null
      ? `${user} names it`
      : holder !== null
        ? `${row.resource_type} ${holder} has a value of it, and there may be others`
        : null
  if (reason === null) return
  throw new AppError('COULD_NOT_DELETE_RESOURCE', `${reason}; change that first.`, {
    resourceId: row.id,
    resourceType: OBJECT_TYPE,
  })
}

async function someHolder(uow: Uow, { id }: CustomField): Promise<string | null> {
  const [holder] = await uow.tx
    .select({ id: v.resource_id })
    .from(v)
    .where(and(inThisTenant(uow, v), eq(v.custom_field_id, id)))
    .limit(1)
  return holder?.id ?? null
}

/** A value that some resource has and the list does not. */
async function valueBeside(uow: Uow, { id }: CustomField, listed: readonly string[]): Promise<string | null> {
  const [found] = await uow.tx
    .select({ value: v.value })
    .from(v)
    .where(and(inThisTenant(uow, v), eq(v.custom_field_id, id), notInArray(v.value, [...listed])))
    .limit(1)
  return found?.value ?? null
}

async function userOf(uow: Uow, id: string): Promise<string | null> {
  const u = customFieldUses
  const [use] = await uow.tx
    .select({ type: u.resource_type, id: u.resource_id })
    .from(u)
    .where(and(inThisTenant(uow, u), eq(u.custom_field_id, id)))
    .limit(1)
  return use ? `The ${use.type} ${use.id}` : null
}
