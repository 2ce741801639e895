// What conditions name, as it is now: the properties with the references events carry, and the values of variables.
import { and, asc } from 'drizzle-orm'
import type { ReadUow } from '../../../../shared/database/database.ts'
import { anyOf } from '../../../../shared/database/statements/any-of.ts'
import { idsOf } from '../../../../shared/ids.ts'
import type { UsageProperty } from '../../../../shared/usage/condition.ts'
import { inThisTenant } from '../../../resource/tenant-condition.ts'
import { valuesOfVariables } from '../meter-property-variables/list-values.ts'
import { meterProperties } from '../meters/table.ts'
import { testsOf } from './check-conditions.ts'
import type { ConditionNames } from './config-conditions.ts'
import type { Conditions } from './schema.ts'

/** Plain values in a fixed order, so that they can be hashed and compared. */
export type ConditionNamesInput = {
  readonly properties: readonly (UsageProperty & { readonly id: string })[]
  readonly variables: readonly { readonly id: string; readonly values: readonly string[] }[]
}

/** What these conditions name. */
export async function loadConditionNames(uow: ReadUow, all: readonly Conditions[]): Promise<ConditionNamesInput> {
  const tests = all.flatMap(conditions => testsOf(conditions, '').map(({ test }) => test))
  if (tests.length === 0) return { properties: [], variables: [] }
  const { id, reference, type } = meterProperties
  const ids = [...new Set(tests.map(test => test.id))]
  const properties = await uow.tx
    .select({ id, reference, type })
    .from(meterProperties)
    .where(and(inThisTenant(uow, meterProperties), anyOf(id, idsOf('metp', ids))))
    .orderBy(asc(id))
  const variables = await valuesOfVariables(
    uow,
    [...new Set(tests.flatMap(test => test.meter_property_variable_id ?? []))].sort(),
  )
  return { properties, variables: [...variables].map(([variable, values]) => ({ id: variable, values })) }
}

/** Of what was read for many conditions at once what these name; the same as reading it for them alone. */
export function namesIn(
  { properties, variables }: ConditionNamesInput,
  all: readonly Conditions[],
): ConditionNamesInput {
  const tests = all.flatMap(conditions => testsOf(conditions, '').map(({ test }) => test))
  const [ofProperties, ofVariables] = [
    new Set(tests.map(test => test.id)),
    new Set(tests.flatMap(test => test.meter_property_variable_id ?? [])),
  ]
  return {
    properties: properties.filter(({ id }) => ofProperties.has(id)),
    variables: variables.filter(({ id }) => ofVariables.has(id)),
  }
}

/** What is named now, with the values that variables had then. */
export const namesAsOf = (now: ConditionNamesInput, then: ConditionNamesInput): ConditionNamesInput => ({
  properties: byId([...now.properties, ...then.properties]),
  variables: byId([...now.variables, ...then.variables]),
})

/** Each once; of two with one id the later. */
const byId = <T extends { readonly id: string }>(list: readonly T[]): T[] => [
  ...new Map(list.map(each => [each.id, each])).values(),
]

export const conditionNamesOf = ({ properties, variables }: ConditionNamesInput): ConditionNames => ({
  properties: new Map(properties.map(({ id, reference, type }) => [id, { reference, type }])),
  variables: new Map(variables.map(({ id, values }) => [id, values])),
})
