// Wire shapes of entitlements: how much of a feature a pricing or a schedule grants, and what a customer has in all.
import Type, { type Static } from 'typebox'
import {
  Amount,
  DecimalText,
  IdText,
  Included,
  Nullable,
  Optional,
  Reference,
  Shape,
} from '../../../resource/shapes.ts'

const ENTITLEMENTS_MAX = 200
const Given = <T extends Type.TSchema>(schema: T) => Optional(Nullable(schema))
const REPLACES = 'Takes the place of what else grants the feature, instead of adding to it.'

const EntitlementShape = Shape({
  feature_id: Given(IdText('feature; give it, or feature_reference')),
  feature_reference: Given(Reference),
  feature: Given(Included('Feature')),
  override: Given(Type.Boolean({ description: REPLACES })),
  overwrite: Given(Type.Boolean({ description: 'The same as override.' })),
  number: Given(DecimalText),
  switch: Given(Type.Boolean()),
  amount: Given(Amount),
  enum: Given(Type.String({ minLength: 1, maxLength: 255 })),
  string: Given(Type.String({ minLength: 1, maxLength: 1_000 })),
})
export const EntitlementsShape = Type.Array(EntitlementShape, {
  maxItems: ENTITLEMENTS_MAX,
  description: 'What is granted of features, each with the value that the type of its feature names.',
})

const Summary = Type.Array(
  Type.Object({
    feature_reference: Type.String(),
    feature_id: Type.String(),
    overwrite: Type.Boolean(),
    override: Type.Boolean(),
    number: Nullable(DecimalText),
    switch: Nullable(Type.Boolean()),
    amount: Nullable(Amount),
    enums: Nullable(Type.Array(Type.String())),
    strings: Nullable(Type.Array(Type.String())),
  }),
)
/** What a customer has: of all its subscriptions together, and of each of them. */
export const CustomerEntitlementsShape = Type.Object(
  {
    entitlements: Summary,
    pricing_plan_subscription_entitlements: Type.Array(
      Type.Object({ pricing_plan_subscription_id: Type.String(), entitlements: Summary }),
    ),
  },
  { title: 'Entitlements' },
)

/** What a request may say of one entitlement. */
export type EntitlementInput = Static<typeof EntitlementShape>

/** An entitlement as stored and shown: its feature by both names, and of the values the one of the feature's type. */
export type Entitlement = {
  feature_id: string
  feature_reference: string
  override: boolean
  overwrite: boolean
  number: string | null
  switch: boolean | null
  amount: Static<typeof Amount> | null
  enum: string | null
  string: string | null
}

/** What is granted of one feature in all; of an AMOUNT, in one currency. */
export type Grant = Omit<Entitlement, 'enum' | 'string'> & { enums: string[] | null; strings: string[] | null }
