// The wire shapes of approval policies and approval requests.
import Type, { type Static } from 'typebox'
import { Amount, IdText, Nullable, OneOf, Optional, Shape, Timestamp } from '../../resource/shapes.ts'

export const SourceType = OneOf('QUOTE_VERSION', 'INVOICE', 'PRICING_PLAN_SCHEDULE')
export type SourceType = Static<typeof SourceType>

export const ApprovalType = OneOf('GROUP', 'LEVEL')
export type ApprovalType = Static<typeof ApprovalType>

export const Strategy = OneOf(
  'EVERYONE_HAS_TO_APPROVE',
  'ANYONE_CAN_DECIDE',
  'ALL_LEVELS_MUST_APPROVE',
  'HIGHER_LEVEL_CAN_OVERRIDE',
)
export type Strategy = Static<typeof Strategy>

const GROUPS_MAX = 20
const APPROVERS_MAX = 50
const RULE_GROUPS_MAX = 20
const RULES_MAX = 20
const LEVEL_MAX = 100

const Approver = Shape(
  {
    type: Optional(OneOf('USER')),
    user: Shape({ id: IdText('user') }, { title: 'ApprovalPolicyUser' }),
  },
  { title: 'ApprovalPolicyApprover' },
)
const ApprovalGroup = Shape(
  {
    level: Optional(Nullable(Type.Integer({ minimum: 1, maximum: LEVEL_MAX }))),
    approvers: Type.Array(Approver, { minItems: 1, maxItems: APPROVERS_MAX }),
  },
  { title: 'ApprovalGroup' },
)
export const Approvers = Shape(
  {
    type: Optional(Nullable(Strategy)),
    approval_groups: Type.Array(ApprovalGroup, { minItems: 1, maxItems: GROUPS_MAX }),
  },
  { title: 'Approvers' },
)
export type Approvers = Static<typeof Approvers>

export const RuleComparator = OneOf(
  'LESS_THAN',
  'LESS_THAN_OR_EQUALS',
  'EQUALS',
  'GREATER_THAN_OR_EQUALS',
  'GREATER_THAN',
)
export type RuleComparator = Static<typeof RuleComparator>

const given = <T extends Type.TSchema>(schema: T) => Optional(Nullable(schema))
const IsCustom = given(Shape({ is_custom: Type.Boolean() }, { title: 'ApprovalPolicyDefault' }))

const Percentage = Type.String({ format: 'decimal', maxLength: 40, description: 'A percentage: "10" is ten percent.' })

const Rule = Shape(
  {
    type: OneOf(
      'ALWAYS_APPROVE',
      'DISCOUNT',
      'COMMITMENT',
      'PRICING',
      'CUSTOM_FIELD',
      'BILLING_ENTITY',
      'BILLING_PERIOD',
      'DUE_DATE',
      'PAYMENT_ACCEPTOR',
    ),
    comparator: given(RuleComparator),
    discount: given(
      Shape({ percentage: given(Percentage), amount: given(Amount) }, { title: 'ApprovalPolicyDiscount' }),
    ),
    commitment: given(Shape({ amount: Amount })),
    pricing: given(Shape({ has_override: Type.Boolean() }, { title: 'ApprovalPolicyPricing' })),
    custom_field: given(
      Shape(
        { id: IdText('custom field'), value: Type.String({ maxLength: 500 }) },
        { title: 'ApprovalPolicyCustomField' },
      ),
    ),
    billing_entity: IsCustom,
    billing_period: IsCustom,
    due_date: IsCustom,
    payment_acceptor: IsCustom,
  },
  { title: 'ApprovalPolicyRule' },
)
export type Rule = Static<typeof Rule>

export const RuleGroups = Type.Array(
  Shape({ rules: Type.Array(Rule, { maxItems: RULES_MAX }) }, { title: 'ApprovalPolicyRuleGroup' }),
  { maxItems: RULE_GROUPS_MAX },
)
export type RuleGroups = Static<typeof RuleGroups>

export const RequestStatus = OneOf('PENDING_REVIEW', 'APPROVED', 'DECLINED', 'CANCELLED')
export type RequestStatus = Static<typeof RequestStatus>

export const Reviewer = Type.Object(
  {
    id: Type.String(),
    status: OneOf('PENDING_REVIEW', 'APPROVED', 'DECLINED'),
    reviewed_at: Nullable(Timestamp),
    level: Nullable(Type.Integer()),
  },
  { title: 'Reviewer' },
)
export type Reviewer = Static<typeof Reviewer>
