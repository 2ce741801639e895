// Alerts: what a rule found, or what a user reports by one. An alert is never changed and never deleted.
import Type from 'typebox'
import { defineResource, type Resource, readOnly } from '../../resource/define-resource.ts'
import { IdText } from '../../resource/shapes.ts'
import { customerResource } from '../parties/customers/resource.ts'
import { subscriptionResource } from '../subscriptions/subscription.ts'
import { alertRuleResource } from './alert-rule.ts'
import { AlertData, AlertType } from './schema.ts'
import { type Alert, alerts } from './table.ts'

/** Creation is a call of its own (routes.ts), since a repeat is answered with the alert that is there. */
export const alertResource: Resource<Alert> = defineResource<Alert>({
  objectType: 'ALERT',
  shapeName: 'Alert',
  idPrefix: 'aler',
  path: 'alerts',
  table: alerts,
  fields: {
    platform_id: readOnly(IdText('platform')),
    alert_rule_id: readOnly(IdText('alert rule')),
    customer_id: readOnly(IdText('customer')),
    type: readOnly(AlertType),
    data_trigger_reference: readOnly(Type.String({ description: 'What set the rule off; once for the same thing.' })),
    alert_data: readOnly(AlertData),
  },
  operations: ['list', 'get'],
  byReference: false,
  // Alerts are only read.
  testClockOf: null,
  filters: { customer_id: { kind: 'equals', column: 'customer_id' } },
  expand: {
    alert_rule: { by: 'alert_rule_id', to: () => alertRuleResource },
    customer: { by: 'customer_id', to: () => customerResource },
  },
  fixture: {
    create: async seed => {
      const rule = await seed.make(alertRuleResource)
      const subscription = await seed.make(subscriptionResource)
      return {
        platform_id: seed.platformId,
        alert_rule_id: rule.id,
        customer_id: subscription.customer_id,
        type: 'ENTITLEMENT',
        data_trigger_reference: seed.unique('reported'),
        alert_data: {
          entitlement: { pricing_plan_subscription_id: subscription.id, used_value: { number: '90' } },
        },
      }
    },
    update: null,
  },
})
