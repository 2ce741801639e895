// Whether conditions can test the events of a meter.
import { and } from 'drizzle-orm'
import type { Uow } from '../../../../shared/database/database.ts'
import { anyOf } from '../../../../shared/database/statements/any-of.ts'
import { isPlainDecimal } from '../../../../shared/decimal.ts'
import { AppError } from '../../../../shared/errors.ts'
import { idsOf } from '../../../../shared/ids.ts'
import { COMPARATORS } from '../../../../shared/usage/condition.ts'
import { requireAll } from '../../../resource/store.ts'
import { inThisTenant } from '../../../resource/tenant-condition.ts'
import type { MeterPropertyVariable } from '../meter-property-variables/table.ts'
import { meterPropertyVariableResource } from '../meter-property-variables/variable.ts'
import { type Meter, type MeterProperty, meterProperties } from '../meters/table.ts'
import type { Conditions, Expression, PropertyCondition } from './schema.ts'

/** Conditions, the meter whose events they test, and where they stand. */
export type MeteredConditions = {
  readonly conditions: Conditions
  readonly meter: Pick<Meter, 'reference' | 'meter_properties'>
  readonly field: string
}

type Test = { readonly test: PropertyCondition; readonly field: string }

/** Every test of these conditions and its path below `field`. */
export function testsOf({ meter_properties, expression }: Conditions, field: string): Test[] {
  return [
    ...meter_properties.map((test, index) => ({ test, field: `${field}.meter_properties.${index}` })),
    ...(expression ? testsOfExpression(expression, `${field}.expression`) : []),
  ]
}

const testsOfExpression = ({ operands }: Expression, field: string): Test[] =>
  operands.flatMap((operand, index) => {
    const at = `${field}.operands.${index}`
    return 'meter_property' in operand
      ? [{ test: operand.meter_property, field: `${at}.meter_property` }]
      : testsOfExpression(operand.expression, `${at}.expression`)
  })

/**
 * Checks that every property is required on its meter (semantics 1.1), that its type has the comparator, and that values and
 * variables are such as the property can have. Locks the variables against deletion until commit. Throws INVALID_FIELD,
 * MISSING_FIELD or RESOURCE_NOT_FOUND with the path.
 */
export async function checkConditions(uow: Uow, all: readonly MeteredConditions[]): Promise<void> {
  const tests = all.flatMap(({ conditions, meter, field }) =>
    testsOf(conditions, field).map(entry => ({ ...entry, meter })),
  )
  if (tests.length === 0) return
  const properties = await propertiesOf(uow, tests)
  const variables = await variablesOf(uow, tests)
  for (const { test, field, meter } of tests) {
    const property = properties.get(test.id)
    if (!property) throw new Error(`the property ${test.id} of a condition is gone`)
    refuseOptional(test, meter, field)
    checkTest(test, property, field)
    const variable = variables.get(test.meter_property_variable_id ?? '')
    if (variable) checkVariable(test, variable, field)
  }
}

/** Refuses a variable of another property. */
export function checkVariable(
  test: PropertyCondition,
  variable: Pick<MeterPropertyVariable, 'meter_property_id'>,
  field: string,
): void {
  if (variable.meter_property_id === test.id) return
  throw invalid(`The variable is of another property than ${test.reference}.`, `${field}.meter_property_variable_id`)
}

async function propertiesOf(uow: Uow, tests: readonly Test[]): Promise<Map<string, MeterProperty>> {
  const ids = [...new Set(tests.map(({ test }) => test.id))]
  const rows = await uow.tx
    .select()
    .from(meterProperties)
    .where(and(inThisTenant(uow, meterProperties), anyOf(meterProperties.id, idsOf('metp', ids))))
  return new Map(rows.map(row => [row.id, row]))
}

async function variablesOf(uow: Uow, tests: readonly Test[]): Promise<Map<string, MeterPropertyVariable>> {
  const named = tests.flatMap(({ test, field }) =>
    test.meter_property_variable_id === null
      ? []
      : [{ id: test.meter_property_variable_id, field: `${field}.meter_property_variable_id` }],
  )
  const rows = await requireAll(uow, meterPropertyVariableResource, named)
  return new Map(rows.map(row => [row.id, row]))
}

/** A price may not depend on what an event can leave out (semantics 1.1). Throws INVALID_FIELD with the path of the property. */
export function refuseOptional(
  test: Pick<PropertyCondition, 'id' | 'reference'>,
  meter: MeteredConditions['meter'],
  field: string,
): void {
  const entry = meter.meter_properties.find(({ id }) => id === test.id)
  if (entry?.required) return
  const why = entry ? 'does not require' : 'does not list'
  throw invalid(`The meter ${meter.reference} ${why} ${test.reference}, so no price can depend on it.`, `${field}.id`)
}

const WANTED = { NONE: [], ONE: ['value'], ANY: ['values', 'meter_property_variable_id'] } as const

/** Refuses a comparator that this property does not have, and values that no event of it can have. */
export function checkTest(test: PropertyCondition, property: MeterProperty, field: string): void {
  const { comparator, value, values, meter_property_variable_id: variable } = test
  const rule = COMPARATORS[comparator]
  if (!rule.types.includes(property.type)) {
    throw invalid(
      `${comparator} cannot be asked of ${property.reference}, which is of type ${property.type}.`,
      `${field}.comparator`,
    )
  }
  const given = { value, values, meter_property_variable_id: variable }
  const wanted: readonly string[] = WANTED[rule.values]
  const names = Object.entries(given).flatMap(([name, each]) => (each === null ? [] : [name]))
  const odd = names.find(name => !wanted.includes(name))
  if (odd !== undefined) {
    throw invalid(`${comparator} takes ${wanted.length === 0 ? 'no value' : wanted.join(' or ')}.`, `${field}.${odd}`)
  }
  if (names.length > 1) throw invalid(`${comparator} takes one of ${wanted.join(' and ')}.`, `${field}.${names[1]}`)
  const [first] = wanted
  if (names.length === 0 && first !== undefined) {
    throw new AppError('MISSING_FIELD', `${comparator} needs ${wanted.join(' or ')}.`, { field: `${field}.${first}` })
  }
  const whole = !PARTS.includes(comparator)
  if (value !== null) checkValue({ value, whole }, property, `${field}.value`)
  for (const [index, each] of (values ?? []).entries()) {
    checkValue({ value: each, whole }, property, `${field}.values.${index}`)
  }
}

/** Comparators whose value may be a part of one. */
const PARTS: readonly string[] = ['CONTAINS', 'NOT_CONTAINS']

type Given = { readonly value: string; readonly whole: boolean }

function checkValue({ value, whole }: Given, property: MeterProperty, field: string): void {
  if (property.type === 'NUMBER' && !isPlainDecimal(value)) {
    throw invalid(`${property.reference} is a NUMBER and is compared with a decimal such as "12.5".`, field)
  }
  if (property.type === 'ENUM' && whole && !property.enum_values?.includes(value)) {
    throw invalid(`The property ${property.reference} does not list ${JSON.stringify(value)}.`, field)
  }
  if (/[\0\p{Cs}]/u.test(value)) throw invalid('NUL and lone surrogates are in no event.', field)
}

const invalid = (message: string, field: string): AppError => new AppError('INVALID_FIELD', message, { field })
