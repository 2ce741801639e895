// Wire shapes of conditions on meter properties, and the canonical form they are stored and shown in (contract: Meter property
// variable and condition; semantics 3.1). A member that is not here is refused by name.
import Type from 'typebox'
import type { PropertyComparator } from '../../../../shared/usage/condition.ts'
import { IdText, Included, Name, Nullable, OneOf, Optional, Reference, Shape } from '../../../resource/shapes.ts'

/** Conditions in one list, and operands of one operator. */
const LIST_MAX = 50
/** Values a condition names itself; longer lists belong into a variable. */
const VALUES_MAX = 1_000
/** Operators within operators. */
const DEPTH_MAX = 5

const Given = <T extends Type.TSchema>(schema: T) => Optional(Nullable(schema))
const Value = Type.String({ maxLength: 1_000 })

/** As the interface names them wherever something is compared. */
export const Comparator = OneOf(
  'EQUALS',
  'NOT_EQUALS',
  'IN',
  'NOT_IN',
  'GREATER_THAN',
  'GREATER_THAN_OR_EQUALS',
  'LESS_THAN',
  'LESS_THAN_OR_EQUALS',
  'EMPTY',
  'NOT_EMPTY',
  'CONTAINS',
  'NOT_CONTAINS',
)

const PropertyCondition = Shape(
  {
    id: Given(IdText('meter property')),
    reference: Given(Reference),
    comparator: Comparator,
    value: Given(Value),
    values: Given(Type.Array(Value, { maxItems: VALUES_MAX })),
    meter_property_variable_id: Given(IdText('meter property variable')),
    meter_property_variable: Given(Included('MeterPropertyVariable')),
    meter_property: Given(Included('MeterProperty')),
  },
  { title: 'PropertyCondition' },
)

const Operator = OneOf('AND', 'OR', 'XOR')

/** Expressions nest to a fixed depth, so the shape is written out that deep. */
function expressionShape(depth: number): Type.TSchema {
  const operand: Type.TProperties = { meter_property: Given(PropertyCondition) }
  if (depth > 1) operand.expression = Given(expressionShape(depth - 1))
  const operands = Type.Array(Shape(operand, { title: 'ConditionOperand' }), { minItems: 1, maxItems: LIST_MAX })
  return Shape({ operator: Operator, operands }, { title: 'ConditionExpression' })
}

const flat = { name: Given(Name), meter_properties: Given(Type.Array(PropertyCondition, { maxItems: LIST_MAX })) }

/** Conditions of a price: all of the list must hold. */
export const ConfigConditions = Shape(flat, { title: 'PriceConditions' })
/** Conditions of a product item: a list of which all must hold, or an expression. */
export const ItemConditions = Shape(
  { ...flat, expression: Given(expressionShape(DEPTH_MAX)) },
  { title: 'ItemConditions' },
)

/** Conditions that say which events count for the tier: an expression only (semantics 3.1). */
export const TieringConditions = Shape(
  { name: Given(Name), expression: expressionShape(DEPTH_MAX) },
  { title: 'TieringConditions' },
)

type Maybe<T> = T | null | undefined
/** What a request may say of one property. */
export type PropertyConditionInput = {
  readonly id?: Maybe<string>
  readonly reference?: Maybe<string>
  readonly comparator: PropertyComparator
  readonly value?: Maybe<string>
  readonly values?: Maybe<readonly string[]>
  readonly meter_property_variable_id?: Maybe<string>
}
export type ExpressionInput = {
  readonly operator: 'AND' | 'OR' | 'XOR'
  readonly operands: readonly {
    readonly meter_property?: Maybe<PropertyConditionInput>
    readonly expression?: Maybe<ExpressionInput>
  }[]
}
export type ConditionsInput = {
  readonly name?: Maybe<string>
  readonly meter_properties?: Maybe<readonly PropertyConditionInput[]>
  readonly expression?: Maybe<ExpressionInput>
}

/** A condition as stored and shown: the property by both of its names, and every member there. */
export type PropertyCondition = {
  id: string
  reference: string
  comparator: PropertyComparator
  value: string | null
  values: string[] | null
  meter_property_variable_id: string | null
}
/** Each operand is one of the two. */
export type Expression = {
  operator: 'AND' | 'OR' | 'XOR'
  operands: ({ meter_property: PropertyCondition } | { expression: Expression })[]
}
export type Conditions = {
  name: string | null
  meter_properties: PropertyCondition[]
  /** On product items, and for tiers. */
  expression?: Expression
}
