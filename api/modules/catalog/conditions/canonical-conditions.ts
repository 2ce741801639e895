// Conditions in their canonical form, with the properties they name found.
import { and, or } from 'drizzle-orm'
import type { Uow } from '../../../../shared/database/database.ts'
import { anyOf } from '../../../../shared/database/statements/any-of.ts'
import { AppError } from '../../../../shared/errors.ts'
import { idsOf } from '../../../../shared/ids.ts'
import { notFound } from '../../../resource/store.ts'
import { inThisTenant } from '../../../resource/tenant-condition.ts'
import { meterPropertyResource } from '../meters/meter-property.ts'
import { meterProperties } from '../meters/table.ts'
import type {
  Conditions,
  ConditionsInput,
  Expression,
  ExpressionInput,
  PropertyCondition,
  PropertyConditionInput,
} from './schema.ts'

/** Conditions as sent and where they stand in the request. */
export type Placed = { readonly conditions: ConditionsInput; readonly field: string }

/**
 * Each of these in canonical form. Properties are named by id or reference. Throws RESOURCE_NOT_FOUND, MISSING_FIELD or
 * INVALID_FIELD with the path of the first that is wrong.
 */
export async function canonicalConditions(uow: Uow, placed: readonly Placed[]): Promise<Conditions[]> {
  const find = await propertyFinder(
    uow,
    placed.flatMap(({ conditions }) => namesIn(conditions)),
  )
  return placed.map(each => canonicalForm(each, find))
}

/** The same of one, by properties that are known. */
export function canonicalForm({ conditions, field }: Placed, find: PropertyFinder): Conditions {
  const list = conditions.meter_properties ?? []
  if (conditions.expression && list.length > 0) {
    throw new AppError('INVALID_FIELD', 'An expression replaces meter_properties; send one of them.', {
      field: `${field}.expression`,
    })
  }
  if (!conditions.expression && list.length === 0) {
    throw new AppError('MISSING_FIELD', 'Conditions must test at least one property; leave them out to test none.', {
      field: `${field}.meter_properties`,
    })
  }
  return {
    name: conditions.name ?? null,
    meter_properties: list.map((test, index) => canonicalTest(test, `${field}.meter_properties.${index}`, find)),
    ...(conditions.expression
      ? { expression: canonicalExpression(conditions.expression, `${field}.expression`, find) }
      : {}),
  }
}

type Found = { readonly id: string; readonly reference: string }
/** The property of this id or reference. */
export type PropertyFinder = (idOrReference: string) => Found | undefined

function namesIn({ meter_properties, expression }: ConditionsInput): string[] {
  const ofTest = (test: PropertyConditionInput): string[] =>
    [test.id, test.reference].filter(name => typeof name === 'string')
  const ofExpression = ({ operands }: ExpressionInput): string[] =>
    operands.flatMap(operand => [
      ...(operand.meter_property ? ofTest(operand.meter_property) : []),
      ...(operand.expression ? ofExpression(operand.expression) : []),
    ])
  return [...(meter_properties ?? []).flatMap(ofTest), ...(expression ? ofExpression(expression) : [])]
}

/** Finds meter properties by id or reference. Locks what it finds against deletion until commit. */
export async function propertyFinder(uow: Uow, names: readonly string[]): Promise<PropertyFinder> {
  if (names.length === 0) return () => undefined
  const { id, reference } = meterProperties
  const named = or(anyOf(id, idsOf('metp', names)), anyOf(reference, [...names]))
  const rows = await uow.tx
    .select({ id, reference })
    .from(meterProperties)
    .where(and(inThisTenant(uow, meterProperties), named))
    .for('key share')
  return name => rows.find(row => row.id === name || row.reference === name)
}

/** A property by both of its names. Throws RESOURCE_NOT_FOUND, MISSING_FIELD or INVALID_FIELD with its path. */
export function canonicalProperty(
  test: Pick<PropertyConditionInput, 'id' | 'reference'>,
  field: string,
  find: PropertyFinder,
): Found {
  const given = test.id ?? test.reference
  if (!given) {
    throw new AppError('MISSING_FIELD', 'Name the meter property by its id or its reference.', { field: `${field}.id` })
  }
  const found = find(given)
  if (!found) throw notFound(meterPropertyResource, given, `${field}.${test.id ? 'id' : 'reference'}`)
  if (test.id && test.reference && found.reference !== test.reference) {
    throw new AppError('INVALID_FIELD', 'id and reference name different properties.', { field: `${field}.reference` })
  }
  return { id: found.id, reference: found.reference }
}

function canonicalTest(test: PropertyConditionInput, field: string, find: PropertyFinder): PropertyCondition {
  return {
    ...canonicalProperty(test, field, find),
    comparator: test.comparator,
    value: test.value ?? null,
    values: test.values ? [...test.values] : null,
    meter_property_variable_id: test.meter_property_variable_id ?? null,
  }
}

function canonicalExpression({ operator, operands }: ExpressionInput, field: string, find: PropertyFinder): Expression {
  return {
    operator,
    operands: operands.map((operand, index) => {
      const at = `${field}.operands.${index}`
      const { meter_property: test, expression } = operand
      if (test && !expression) return { meter_property: canonicalTest(test, `${at}.meter_property`, find) }
      if (expression && !test) return { expression: canonicalExpression(expression, `${at}.expression`, find) }
      throw new AppError('INVALID_FIELD', 'An operand is one meter_property or one expression.', { field: at })
    }),
  }
}
