// What a question of usage names, found in the catalog: calculations, the properties it is split by, and conditions.
import { and, asc, eq } from 'drizzle-orm'
import type { Static } from 'typebox'
import type { ReadUow } from '../../../../shared/database/database.ts'
import { anyOf } from '../../../../shared/database/statements/any-of.ts'
import { AppError } from '../../../../shared/errors.ts'
import { idOf, idsOf } from '../../../../shared/ids.ts'
import type { UsageCondition } from '../../../../shared/usage/condition.ts'
import { readJson } from '../../../http/body/read-json.ts'
import { validatorCompiler } from '../../../http/body/validation.ts'
import { listOf } from '../../../http/pagination.ts'
import { findMany, findOne, notFound } from '../../../resource/store.ts'
import { inThisTenant } from '../../../resource/tenant-condition.ts'
import type { CalculationInput } from '../../billing/terms/billing-inputs.ts'
import { calculationsById } from '../../billing/terms/load/load-catalog.ts'
import { canonicalForm, type PropertyFinder } from '../../catalog/conditions/canonical-conditions.ts'
import { checkTest, checkVariable, testsOf } from '../../catalog/conditions/check-conditions.ts'
import { usageConditionOf } from '../../catalog/conditions/config-conditions.ts'
import { conditionNamesOf, loadConditionNames } from '../../catalog/conditions/load-names.ts'
import { type ConditionsInput, ItemConditions } from '../../catalog/conditions/schema.ts'
import { meterPropertyVariableResource } from '../../catalog/meter-property-variables/variable.ts'
import { meterResource } from '../../catalog/meters/meter.ts'
import { meterValueCalculationResource } from '../../catalog/meters/meter-value-calculation.ts'
import { type Meter, type MeterProperty, meterProperties, meterValueCalculations } from '../../catalog/meters/table.ts'
import type { UsageQueryShape } from './schema.ts'

export type UsageRequest = Static<typeof UsageQueryShape>

export type Measured = {
  readonly calculations: readonly CalculationInput[]
  readonly groupBy: readonly MeterProperty[]
  readonly condition: UsageCondition | null
}

/** What the request measures. Throws INVALID_FIELD, MISSING_FIELD or RESOURCE_NOT_FOUND with the name of the parameter. */
export async function loadMeasured(uow: ReadUow, request: UsageRequest): Promise<Measured> {
  const { meter, calculations } = await calculationsOf(uow, request)
  const properties = await propertiesOf(uow, meter)
  const find = (name: string): MeterProperty | undefined =>
    properties.find(({ id, reference }) => id === name || reference === name)
  return {
    calculations,
    groupBy: groupBy(request, meter, find),
    condition: request.conditions === undefined ? null : await conditionOf(uow, request.conditions, find),
  }
}

async function calculationsOf(
  uow: ReadUow,
  { meter_value_calculation_id: id, meter_id: meterId }: UsageRequest,
): Promise<{ meter: Meter; calculations: CalculationInput[] }> {
  if (id !== undefined && meterId !== undefined)
    throw new AppError('INVALID_FIELD', 'Give meter_id or meter_value_calculation_id, not both.', { field: 'meter_id' })
  if (id !== undefined) {
    const calculation = await findOne(uow, meterValueCalculationResource, id)
    if (!calculation) throw notFound(meterValueCalculationResource, id, 'meter_value_calculation_id')
    const meter = await findOne(uow, meterResource, calculation.meter_id)
    if (!meter) throw notFound(meterResource, calculation.meter_id)
    return { meter, calculations: await calculationsById(uow, [id]) }
  }
  if (meterId === undefined)
    throw new AppError('MISSING_FIELD', 'meter_value_calculation_id or meter_id is required.', {
      field: 'meter_value_calculation_id',
    })
  const meter = await findOne(uow, meterResource, meterId)
  if (!meter) throw notFound(meterResource, meterId, 'meter_id')
  const c = meterValueCalculations
  const rows = await uow.tx
    .select({ id: c.id })
    .from(c)
    .where(and(inThisTenant(uow, c), eq(c.meter_id, meter.id)))
    .orderBy(asc(c.id))
    .limit(CALCULATIONS_MAX + 1)
  if (rows.length === 0 || rows.length > CALCULATIONS_MAX) {
    const many = rows.length === 0 ? 'no' : `more than ${CALCULATIONS_MAX}`
    const message = `The meter has ${many} calculations: name one by meter_value_calculation_id.`
    throw new AppError('INVALID_FIELD', message, { field: 'meter_id' })
  }
  const calculations = await calculationsById(
    uow,
    rows.map(row => row.id),
  )
  return { meter, calculations }
}
const CALCULATIONS_MAX = 20

async function propertiesOf(uow: ReadUow, { meter_properties: entries }: Meter): Promise<MeterProperty[]> {
  if (entries.length === 0) return []
  const ids = entries.map(({ id }) => id)
  return await uow.tx
    .select()
    .from(meterProperties)
    .where(and(inThisTenant(uow, meterProperties), anyOf(meterProperties.id, idsOf('metp', ids))))
}

type Find = (name: string) => MeterProperty | undefined

function groupBy(request: UsageRequest, meter: Meter, find: Find): MeterProperty[] {
  const names = listOf(request['group_by[]'])
  return names.map((name, index) => {
    const field = `group_by[].${index}`
    const found = find(name)
    if (!found) {
      const message = `The meter ${meter.reference} does not list the property ${JSON.stringify(name)}.`
      throw new AppError('INVALID_FIELD', message, { field })
    }
    if (names.slice(0, index).some(other => find(other) === found))
      throw new AppError('INVALID_FIELD', 'This property is given twice.', { field })
    return found
  })
}

const FIELD = 'conditions'
const validate = validatorCompiler({ schema: ItemConditions })

async function conditionOf(uow: ReadUow, text: string, find: Find): Promise<UsageCondition> {
  const tested: PropertyFinder = find
  const conditions = canonicalForm({ conditions: parse(text), field: FIELD }, tested)
  const tests = testsOf(conditions, FIELD)
  const wanted = [...new Set(tests.flatMap(({ test }) => test.meter_property_variable_id ?? []))]
  const variables = new Map((await findMany(uow, meterPropertyVariableResource, wanted)).map(row => [row.id, row]))
  for (const { test, field } of tests) {
    const property = find(test.id)
    if (!property) throw new Error('a condition names only properties that were found')
    checkTest(test, property, field)
    const { meter_property_variable_id: id } = test
    const variable = id === null ? null : variables.get(idOf('mepv', id))
    if (id !== null && !variable)
      throw notFound(meterPropertyVariableResource, id, `${field}.meter_property_variable_id`)
    if (variable) checkVariable(test, variable, field)
  }
  return usageConditionOf(conditions, conditionNamesOf(await loadConditionNames(uow, [conditions])))
}

function parse(text: string): ConditionsInput {
  const value = read(text)
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    const message = 'conditions must be a JSON object, such as {"meter_properties":[…]}.'
    throw new AppError('INVALID_FIELD', message, { field: FIELD })
  }
  const checked = validate(value)
  if (checked !== true) throw checked.error.within(FIELD)
  return value as ConditionsInput
}

/** As strictly as a body. */
function read(text: string): unknown {
  try {
    return readJson(text, 'value of conditions')
  } catch (error) {
    throw error instanceof AppError ? new AppError('INVALID_FIELD', error.message, { field: FIELD }) : error
  }
}
