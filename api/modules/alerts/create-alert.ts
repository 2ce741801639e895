// Reports an alert by a rule: what the evaluation would have made, checked to be about what it says.
import type { Uow } from '../../../shared/database/database.ts'
import { AppError } from '../../../shared/errors.ts'
import { idOf } from '../../../shared/ids.ts'
import type { Row } from '../../resource/define-resource.ts'
import { findMany, notFound, requireAll } from '../../resource/store.ts'
import { viewOf } from '../../resource/views.ts'
import { featureResource } from '../catalog/features/feature.ts'
import { findInvoice } from '../invoices/repository.ts'
import { customerResource } from '../parties/customers/resource.ts'
import { platformResource } from '../parties/platforms/platform.ts'
import { subscriptionResource } from '../subscriptions/subscription.ts'
import { alertResource } from './alert.ts'
import { alertRuleResource } from './alert-rule.ts'
import { findAlert, saveAlert } from './save-alert.ts'
import type { AlertData } from './schema.ts'
import type { AlertRule } from './table.ts'

export type AlertRequest = {
  readonly platform_id: string
  readonly alert_rule_id: string
  readonly customer_id: string
  readonly type: 'ENTITLEMENT' | 'INVOICE'
  readonly data_trigger_reference?: string | null
  readonly alert_data: AlertData
}

const refuse = (field: string, message: string): never => {
  throw new AppError('INVALID_FIELD', message, { field })
}

/**
 * The view of the alert. One that names what set the rule off, and did so before, is answered with the alert of then, as a
 * repeat of an event is. Throws RESOURCE_NOT_FOUND, MISSING_FIELD, INVALID_FIELD or INVALID_OPERATION with the field.
 */
export async function createAlert(uow: Uow, body: AlertRequest): Promise<Row> {
  const { platform_id, alert_rule_id, customer_id, type, alert_data } = body
  // The same for another's platform as for none.
  if (platform_id !== uow.tenant.platformId) throw notFound(platformResource, platform_id, 'platform_id')
  const asked = [{ id: alert_rule_id, field: 'alert_rule_id' }]
  const [rule] = await requireAll(uow, alertRuleResource, asked)
  if (!rule) throw notFound(alertRuleResource, alert_rule_id, 'alert_rule_id')
  const data_trigger_reference = body.data_trigger_reference ?? null
  const before = await findAlert(uow, rule.id, data_trigger_reference)
  if (before) return await viewOf(uow, alertResource, before)
  await requireAll(uow, customerResource, [{ id: customer_id, field: 'customer_id' }])
  checkRuleIsFor(rule, body)
  if (rule.type === 'ENTITLEMENT') await checkEntitlementData(uow, rule, body)
  else await checkInvoiceData(uow, body)
  const of = { alert_rule_id: rule.id, customer_id: idOf('cust', customer_id) }
  return (await saveAlert(uow, { ...of, type, data_trigger_reference, alert_data })).view
}

function checkRuleIsFor(rule: AlertRule, { type, customer_id }: AlertRequest): void {
  if (rule.status !== 'ACTIVE') {
    const message = `The alert rule is ${rule.status}; only an ACTIVE one makes alerts.`
    throw new AppError('INVALID_OPERATION', message, { field: 'alert_rule_id' })
  }
  if (type !== rule.type) refuse('type', `The alert rule is of type ${rule.type}, and so are its alerts.`)
  if (rule.customer_ids.length > 0 && !rule.customer_ids.includes(customer_id))
    refuse('customer_id', 'The alert rule does not look at this customer.')
}

/** Throws unless the part of the type is there and the other is not. */
function requireOwnPart(alert_data: AlertData, own: 'entitlement' | 'invoice'): void {
  const other = own === 'invoice' ? 'entitlement' : 'invoice'
  const type = own.toUpperCase()
  if (alert_data[other] != null)
    refuse(`alert_data.${other}`, `An alert of type ${type} has no ${other} in its alert_data.`)
  if (alert_data[own] == null) {
    const field = `alert_data.${own}`
    throw new AppError('MISSING_FIELD', `An alert of type ${type} needs ${field}.`, { field })
  }
}

async function checkEntitlementData(uow: Uow, rule: AlertRule, body: AlertRequest): Promise<void> {
  requireOwnPart(body.alert_data, 'entitlement')
  const { entitlement } = body.alert_data
  if (entitlement == null) return
  const field = 'alert_data.entitlement.pricing_plan_subscription_id'
  const id = entitlement.pricing_plan_subscription_id
  const [subscription] = await requireAll(uow, subscriptionResource, [{ id, field }])
  if (subscription?.['customer_id'] !== body.customer_id) refuse(field, 'The subscription is of another customer.')
  const [feature] = await findMany(uow, featureResource, [rule.entitlement?.feature_id ?? ''])
  const kind = feature?.type === 'AMOUNT' ? 'amount' : 'number'
  const other = kind === 'amount' ? 'number' : 'amount'
  for (const name of ['entitlement_value', 'threshold_value', 'used_value'] as const) {
    const value = entitlement[name]
    if (value == null || (value[kind] != null && value[other] == null)) continue
    refuse(`alert_data.entitlement.${name}`, `The rule targets a feature of type ${feature?.type}; give ${kind} alone.`)
  }
}

async function checkInvoiceData(uow: Uow, body: AlertRequest): Promise<void> {
  requireOwnPart(body.alert_data, 'invoice')
  const field = 'alert_data.invoice.id'
  const id = body.alert_data.invoice?.id ?? ''
  const invoice = await findInvoice(uow, idOf('invo', id))
  if (!invoice) {
    const message = `There is no INVOICE ${JSON.stringify(id)}.`
    throw new AppError('RESOURCE_NOT_FOUND', message, { field, resourceType: 'INVOICE' })
  }
  if (invoice.customer_id !== body.customer_id) refuse(field, 'The invoice is of another customer.')
}
