// Conditions on the properties of an event: what they are, and the one plain evaluator of them. The SQL of a usage query
// says the same (api/usage/condition-sql.ts); a property-based test holds the two together.
import { type Decimal, decimal, isPlainDecimal, plain } from '../decimal.ts'
import { assertNever } from '../errors.ts'

export type PropertyType = 'NUMBER' | 'ENUM' | 'STRING'
/** A meter property as usage needs it: NUMBER properties are compared as numbers, the others as text. */
export type UsageProperty = { readonly reference: string; readonly type: PropertyType }

export type PropertyComparator =
  | 'EQUALS'
  | 'NOT_EQUALS'
  | 'IN'
  | 'NOT_IN'
  | 'GREATER_THAN'
  | 'GREATER_THAN_OR_EQUALS'
  | 'LESS_THAN'
  | 'LESS_THAN_OR_EQUALS'
  | 'EMPTY'
  | 'NOT_EMPTY'
  | 'CONTAINS'
  | 'NOT_CONTAINS'

export type PropertyTest = {
  readonly property: UsageProperty
  readonly comparator: PropertyComparator
  readonly values: readonly string[]
}
/** XOR holds when an odd number of its operands does. NOT has one operand. AND of nothing holds, OR and XOR of nothing do not. */
export type UsageCondition =
  | PropertyTest
  | { readonly operator: 'AND' | 'OR' | 'XOR' | 'NOT'; readonly operands: readonly UsageCondition[] }

type ComparatorRule = {
  /** How many values it takes. */
  readonly values: 'NONE' | 'ONE' | 'ANY'
  readonly types: readonly PropertyType[]
}
const ALL: readonly PropertyType[] = ['NUMBER', 'ENUM', 'STRING']
const TEXTS: readonly PropertyType[] = ['ENUM', 'STRING']

/** What each comparator takes (shapes: DiscountConditionComparator; semantics 3.1: order is of NUMBER properties alone). */
export const COMPARATORS: Readonly<Record<PropertyComparator, ComparatorRule>> = {
  EQUALS: { values: 'ONE', types: ALL },
  NOT_EQUALS: { values: 'ONE', types: ALL },
  IN: { values: 'ANY', types: ALL },
  NOT_IN: { values: 'ANY', types: ALL },
  GREATER_THAN: { values: 'ONE', types: ['NUMBER'] },
  GREATER_THAN_OR_EQUALS: { values: 'ONE', types: ['NUMBER'] },
  LESS_THAN: { values: 'ONE', types: ['NUMBER'] },
  LESS_THAN_OR_EQUALS: { values: 'ONE', types: ['NUMBER'] },
  EMPTY: { values: 'NONE', types: ALL },
  NOT_EMPTY: { values: 'NONE', types: ALL },
  CONTAINS: { values: 'ONE', types: TEXTS },
  NOT_CONTAINS: { values: 'ONE', types: TEXTS },
}

/** Operators within operators, and tests, in one condition. */
export const CONDITION_DEPTH_MAX = 32
export const CONDITION_TESTS_MAX = 1_000

/**
 * Throws RangeError on a condition that means nothing: a comparator with too few or too many values or of another type of
 * property, a value of a NUMBER property that is no decimal, a NOT of several, or more than the bounds allow. Who takes
 * conditions from outside refuses these by field first.
 */
export function checkCondition(condition: UsageCondition): void {
  let tests = 0
  const check = (node: UsageCondition, depth: number): void => {
    if (depth > CONDITION_DEPTH_MAX) throw new RangeError(`a condition nests at most ${CONDITION_DEPTH_MAX} deep`)
    if ('operator' in node) {
      if (node.operator === 'NOT' && node.operands.length !== 1) throw new RangeError('NOT takes one operand')
      for (const operand of node.operands) check(operand, depth + 1)
      return
    }
    tests += 1
    if (tests > CONDITION_TESTS_MAX) throw new RangeError(`a condition has at most ${CONDITION_TESTS_MAX} tests`)
    checkTest(node)
  }
  check(condition, 1)
}

function checkTest({ property, comparator, values }: PropertyTest): void {
  const rule = COMPARATORS[comparator]
  if (!rule.types.includes(property.type)) throw new RangeError(`${comparator} is not of ${property.type} properties`)
  const wanted = rule.values === 'ONE' ? 1 : 0
  if (rule.values !== 'ANY' && values.length !== wanted) {
    throw new RangeError(`${comparator} takes ${wanted === 1 ? 'one value' : 'no values'}, not ${values.length}`)
  }
  if (property.type === 'NUMBER' && !values.every(isPlainDecimal)) {
    throw new RangeError(`${property.reference} is compared with decimals`)
  }
}

/** The properties of one event, as stored: texts by reference. */
export type EventProperties = Readonly<Record<string, string>>

/** The property with this reference; undefined where the event has none, also for a reference such as `constructor`. */
export const propertyOf = (properties: EventProperties, reference: string): string | undefined =>
  Object.hasOwn(properties, reference) ? properties[reference] : undefined

/** Whether the event fulfils the condition. Throws as `checkCondition`. To ask it of many events, use `matcherOf`. */
export const matches = (condition: UsageCondition, properties: EventProperties): boolean =>
  matcherOf(condition)(properties)

/**
 * A condition made ready for many events: the values of an IN stand in a set.
 *
 * A property that is absent is EMPTY, as is one of an empty text; it equals nothing, contains nothing and is greater or
 * less than nothing, and the comparators with NOT hold exactly where their counterparts do not. A NUMBER property is
 * compared by its value ("1.0" equals "1", "10" is greater than "9"); a text that is no plain decimal is no number.
 */
export function matcherOf(condition: UsageCondition): (properties: EventProperties) => boolean {
  checkCondition(condition)
  return compile(condition)
}

type Matcher = (properties: EventProperties) => boolean

function compile(condition: UsageCondition): Matcher {
  if (!('operator' in condition)) return compileTest(condition)
  const operands = condition.operands.map(compile)
  switch (condition.operator) {
    case 'AND':
      return properties => operands.every(holds => holds(properties))
    case 'OR':
      return properties => operands.some(holds => holds(properties))
    case 'XOR':
      return properties => operands.filter(holds => holds(properties)).length % 2 === 1
    case 'NOT':
      return properties => !operands.some(holds => holds(properties))
    default:
      return assertNever(condition.operator)
  }
}

function compileTest({ property, comparator, values }: PropertyTest): Matcher {
  const { reference, type } = property
  const holds = type === 'NUMBER' ? numberTest(comparator, values) : textTest(comparator, values)
  return properties => holds(propertyOf(properties, reference))
}

type ValueTest = (value: string | undefined) => boolean
const not =
  (test: ValueTest): ValueTest =>
  value =>
    !test(value)
const isEmpty: ValueTest = value => value === undefined || value === ''

function textTest(comparator: PropertyComparator, values: readonly string[]): ValueTest {
  const listed = new Set(values)
  const within: ValueTest = value => value !== undefined && listed.has(value)
  const contained: ValueTest = value => value !== undefined && values.every(part => value.includes(part))
  switch (comparator) {
    case 'EQUALS':
    case 'IN':
      return within
    case 'NOT_EQUALS':
    case 'NOT_IN':
      return not(within)
    case 'EMPTY':
      return isEmpty
    case 'NOT_EMPTY':
      return not(isEmpty)
    case 'CONTAINS':
      return contained
    case 'NOT_CONTAINS':
      return not(contained)
    case 'GREATER_THAN':
    case 'GREATER_THAN_OR_EQUALS':
    case 'LESS_THAN':
    case 'LESS_THAN_OR_EQUALS':
      throw new RangeError(`${comparator} is not of texts`)
    default:
      return assertNever(comparator)
  }
}

function numberTest(comparator: PropertyComparator, values: readonly string[]): ValueTest {
  const listed = new Set(values.map(value => plain(decimal(value))))
  const within: ValueTest = value => isNumber(value) && listed.has(plain(decimal(value)))
  const compared =
    (holds: (value: Decimal, limit: Decimal) => boolean): ValueTest =>
    value =>
      isNumber(value) && values.every(limit => holds(decimal(value), decimal(limit)))
  switch (comparator) {
    case 'EQUALS':
    case 'IN':
      return within
    case 'NOT_EQUALS':
    case 'NOT_IN':
      return not(within)
    case 'GREATER_THAN':
      return compared((value, limit) => value.gt(limit))
    case 'GREATER_THAN_OR_EQUALS':
      return compared((value, limit) => value.gte(limit))
    case 'LESS_THAN':
      return compared((value, limit) => value.lt(limit))
    case 'LESS_THAN_OR_EQUALS':
      return compared((value, limit) => value.lte(limit))
    case 'EMPTY':
      return isEmpty
    case 'NOT_EMPTY':
      return not(isEmpty)
    case 'CONTAINS':
    case 'NOT_CONTAINS':
      throw new RangeError(`${comparator} is not of numbers`)
    default:
      return assertNever(comparator)
  }
}

const isNumber = (value: string | undefined): value is string => value !== undefined && isPlainDecimal(value)

/** The text by which values of a property are compared: that of the number for a NUMBER property, else as sent. */
export const distinctText = (type: PropertyType, value: string): string =>
  type === 'NUMBER' && isPlainDecimal(value) ? plain(decimal(value)) : value
