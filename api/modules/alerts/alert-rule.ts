// Alert rules: what to look out for, of what is used of an entitlement or of invoices that are not paid (semantics 9.3).
import Type from 'typebox'
import { defineResource, field, LIFECYCLE_RULES, type Resource } from '../../resource/define-resource.ts'
import { Description, IdText, LifecycleStatus, Name, OneOf, Reference } from '../../resource/shapes.ts'
import { featureResource } from '../catalog/features/feature.ts'
import { customerResource } from '../parties/customers/resource.ts'
import { checkRule } from './check-rule.ts'
import { AlertType, RuleEntitlement, RuleInvoice, ShownRuleEntitlement } from './schema.ts'
import { type AlertRule, alertRules } from './table.ts'

const CUSTOMERS_MAX = 1_000

export const alertRuleResource: Resource<AlertRule> = defineResource<AlertRule>({
  objectType: 'ALERT_RULE',
  shapeName: 'AlertRule',
  idPrefix: 'alru',
  path: 'alert-rules',
  table: alertRules,
  fields: {
    reference: field(Reference, { create: 'required' }),
    name: field(Name),
    description: field(Description),
    status: field(LifecycleStatus),
    customer_ids: field(
      Type.Array(IdText('customer'), {
        maxItems: CUSTOMERS_MAX,
        uniqueItems: true,
        description: 'Ids of the customers that it watches. Empty: all.',
      }),
    ),
    // What an alert of the rule is goes by it.
    type: field(AlertType, { create: 'required', change: 'never' }),
    trigger_type: field(OneOf('STATIC', 'DYNAMIC')),
    entitlement: field(RuleEntitlement),
    invoice: field(RuleInvoice),
  },
  operations: ['create', 'list', 'get', 'update', 'delete'],
  byReference: true,
  // A rule looks at many customers, each in its own time.
  testClockOf: null,
  statuses: LIFECYCLE_RULES,
  orderBy: ['reference', 'name'],
  expand: {
    customers: { by: 'customer_ids', to: () => customerResource },
    feature: { by: 'feature_id', to: () => featureResource, within: 'entitlement' },
  },
  references: { customer_ids: () => customerResource },
  computed: { entitlement: ShownRuleEntitlement },
  // A copy, since the feature is filled into what is shown and never into the row.
  derive: ({ entitlement }) => ({ entitlement: entitlement && { ...entitlement } }),
  defaults: (_uow, row) => ({
    customer_ids: [],
    trigger_type: row.entitlement?.threshold.percentage == null ? 'STATIC' : 'DYNAMIC',
  }),
  check: checkRule,
  fixture: {
    create: async seed => ({
      reference: seed.unique('nearly-used'),
      name: seed.unique('Nearly used'),
      status: 'ACTIVE',
      type: 'ENTITLEMENT',
      trigger_type: 'DYNAMIC',
      entitlement: {
        feature_id: (await seed.make(featureResource)).id,
        comparator: 'GREATER_THAN_OR_EQUALS',
        threshold: { percentage: '80' },
      },
    }),
    update: { description: 'Four fifths are used.' },
  },
})
