// The wire shapes of alert rules and alerts.
import Type, { type Static } from 'typebox'
import {
  Amount,
  DecimalText,
  IdText,
  Included,
  Nullable,
  OneOf,
  Optional,
  Period,
  Shape,
  Timestamp,
} from '../../resource/shapes.ts'
import { Comparator } from '../catalog/conditions/schema.ts'

export const Threshold = Shape({
  number: Optional(Nullable(DecimalText)),
  percentage: Optional(
    Nullable(Type.String({ format: 'decimal', description: 'Of what is granted: "10" is ten percent of it.' })),
  ),
  amount: Optional(Nullable(Amount)),
})
// Each type of rule takes some of the comparators (check-rule.ts).
const entitlement = { feature_id: IdText('feature'), comparator: Comparator, threshold: Threshold }
export const RuleEntitlement = Shape(entitlement)
/** As it is shown: with the feature, when it is expanded. */
export const ShownRuleEntitlement = Type.Object({
  ...entitlement,
  feature: Optional(Nullable(Included('Feature'))),
})
export const RuleInvoice = Shape({
  variant: OneOf('OVERDUE'),
  overdue: Shape({ comparator: Comparator, threshold: Period }),
})

export const AlertType = OneOf('ENTITLEMENT', 'INVOICE')

const Value = Optional(Nullable(Shape({ number: Optional(Nullable(DecimalText)), amount: Optional(Nullable(Amount)) })))
export const AlertData = Shape({
  entitlement: Optional(
    Nullable(
      Shape({
        pricing_plan_subscription_id: IdText('subscription'),
        entitlement_value: Value,
        threshold_value: Value,
        used_value: Value,
      }),
    ),
  ),
  invoice: Optional(
    Nullable(
      Shape({
        id: IdText('invoice'),
        overdue: Optional(
          Nullable(Shape({ due_date: Optional(Nullable(Timestamp)), overdue_period: Optional(Nullable(Period)) })),
        ),
      }),
    ),
  ),
})

export type RuleEntitlement = Static<typeof RuleEntitlement>
export type RuleInvoice = Static<typeof RuleInvoice>
export type AlertData = Static<typeof AlertData>
