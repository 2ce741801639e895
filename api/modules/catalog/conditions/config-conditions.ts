// Which events each config of a pricing item rates (semantics 1.3). Pure; billing asks usage for the answer, the trace asks
// it of one event, so that both say the same.
import type { UsageCondition, UsageProperty } from '../../../../shared/usage/condition.ts'
import type { Conditions, Expression, PropertyCondition } from './schema.ts'

/** What conditions name, resolved. */
export type ConditionNames = {
  /** By id; with the reference events carry. */
  readonly properties: ReadonlyMap<string, UsageProperty>
  /** The values of variables by id. */
  readonly variables: ReadonlyMap<string, readonly string[]>
}
type Config = { readonly id: string; readonly order?: number | null; readonly conditions?: Conditions | null }

/** Conditions as a question of usage. Throws when something they name is not in `names`: whoever loads them loads both. */
export function usageConditionOf({ meter_properties, expression }: Conditions, names: ConditionNames): UsageCondition {
  if (expression) return ofExpression(expression, names)
  return { operator: 'AND', operands: meter_properties.map(test => ofTest(test, names)) }
}

const ofExpression = ({ operator, operands }: Expression, names: ConditionNames): UsageCondition => ({
  operator,
  operands: operands.map(operand =>
    'meter_property' in operand ? ofTest(operand.meter_property, names) : ofExpression(operand.expression, names),
  ),
})

function ofTest(test: PropertyCondition, { properties, variables }: ConditionNames): UsageCondition {
  const { id, comparator, value, values, meter_property_variable_id: variable } = test
  const property = properties.get(id)
  if (!property) throw new Error(`the property ${id} of a condition was not loaded`)
  const listed = variable === null ? values : variables.get(variable)
  if (listed === undefined) throw new Error(`the variable ${variable} of a condition was not loaded`)
  return { property, comparator, values: value === null ? (listed ?? []) : [value] }
}

/**
 * For each config, by id, which events it rates; null for all of them. The conditions of the product item must hold, and of
 * the configs the first by `order` whose own conditions hold takes the event. A config without conditions is the default: it
 * takes what no other takes, wherever it stands in the order. So no event is rated twice, and with a default none is left out.
 */
export function configConditions(
  item: Conditions | null,
  configs: readonly Config[],
  names: ConditionNames,
): ReadonlyMap<string, UsageCondition | null> {
  const shared = item === null ? [] : [usageConditionOf(item, names)]
  const taken: UsageCondition[] = []
  const found = new Map<string, UsageCondition | null>()
  for (const config of inTurn(configs)) {
    const own = config.conditions ? usageConditionOf(config.conditions, names) : null
    const operands = [...shared, ...(own === null ? [] : [own]), ...taken.map(not)]
    found.set(config.id, operands.length === 0 ? null : { operator: 'AND', operands })
    if (own !== null) taken.push(own)
  }
  return found
}

const inTurn = (configs: readonly Config[]): Config[] =>
  configs.toSorted((a, b) => Number(!a.conditions) - Number(!b.conditions) || (a.order ?? LAST) - (b.order ?? LAST))
const LAST = Number.MAX_SAFE_INTEGER

const not = (condition: UsageCondition): UsageCondition => ({ operator: 'NOT', operands: [condition] })
