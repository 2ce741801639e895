// What a subscription may not be. Schedules and activation have rules of their own.
import type { Uow } from '../../../../shared/database/database.ts'
import { decimal, HUNDRED, ZERO } from '../../../../shared/decimal.ts'
import { AppError } from '../../../../shared/errors.ts'
import type { Resource, StoredRow } from '../../../resource/define-resource.ts'
import { getOne } from '../../../resource/store.ts'
import { billingEntityResource } from '../../parties/billing-entities/billing-entity.ts'
import { whyGone } from '../../parties/customers/customer-status.ts'
import { customerResource } from '../../parties/customers/resource.ts'
import { requireOfOwner, subscriptionGroupResource } from '../groups/group.ts'
import type { Subscription } from '../table.ts'

const GROUP = 'pricing_plan_subscription_group_id'

/** Throws MISSING_FIELD, INVALID_FIELD or INVALID_OPERATION for a row that may not be saved over `previous`. */
export async function checkSubscription(uow: Uow, row: Subscription, previous: Subscription | null): Promise<void> {
  checkType(row)
  for (const name of ['billing_entity_id', 'billing_currency'] as const) {
    if (!row[name]) throw new AppError('MISSING_FIELD', `${name} is required.`, { field: name })
  }
  checkTerms(row, previous)
  if (previous === null && row.status !== 'DRAFT') {
    const message = 'A subscription is created DRAFT. Give it a schedule, then PATCH its status to ACTIVE.'
    throw new AppError('INVALID_FIELD', message, { field: 'status' })
  }
  if (row.status === 'ARCHIVED' && previous !== null) checkArchiving(previous)
  const { type, period } = row.due_date_configuration
  if (type === 'PERIOD_AFTER_INVOICE_DATE' && !period) {
    const field = 'due_date_configuration.period'
    throw new AppError('MISSING_FIELD', 'PERIOD_AFTER_INVOICE_DATE needs a period.', { field })
  }
  if (row.billing_anchor !== null && row.billing_time !== 'EXACT') {
    const message =
      'Only an EXACT subscription has a billing day of its own; CALENDAR periods start with the calendar. Set billing_time to EXACT, or leave billing_anchor out.'
    throw new AppError('INVALID_FIELD', message, { field: 'billing_anchor' })
  }
  if (row.template !== null && row.type !== 'TEMPLATE')
    throw new AppError('INVALID_FIELD', `A ${row.type} has no template settings; leave them out.`, {
      field: 'template',
    })
  checkPercentage(row.sales_tax_percentage)
  if (row.customer_id !== null && row.customer_id !== previous?.customer_id)
    await refuseGone(uow, customerResource, 'customer_id', row.customer_id)
  if (row[GROUP] !== null && (row[GROUP] !== previous?.[GROUP] || row.customer_id !== previous.customer_id)) {
    const group = await getOne(uow, subscriptionGroupResource, row[GROUP])
    await requireOfOwner(uow, group, { customerId: row.customer_id, field: GROUP })
  }
  if (row.billing_entity_id !== previous?.billing_entity_id) {
    await refuseGone(uow, billingEntityResource, 'billing_entity_id', row.billing_entity_id)
  }
}

/** A TEMPLATE is for any customer, and every other subscription is for one. */
function checkType(row: Subscription): void {
  const isTemplate = row.type === 'TEMPLATE'
  if (isTemplate && row.customer_id !== null) {
    const message = 'A TEMPLATE has no customer; name it when you create a subscription from the template.'
    throw new AppError('INVALID_FIELD', message, { field: 'customer_id' })
  }
  if (!isTemplate && row.customer_id === null)
    throw new AppError('MISSING_FIELD', 'customer_id is required.', { field: 'customer_id' })
}

function checkTerms(row: Subscription, previous: Subscription | null): void {
  if (row.renewal_term === null || row.initial_term !== null) return
  if (previous !== null && previous.status !== 'DRAFT' && previous.initial_term === null) {
    const message = `The ${previous.status} subscription has no initial_term that a renewal could follow, and takes none any more; leave renewal_term out.`
    throw new AppError('INVALID_FIELD', message, { field: 'renewal_term' })
  }
  const message = 'A renewal_term follows an initial_term; give that too.'
  throw new AppError('MISSING_FIELD', message, { field: 'initial_term' })
}

/** An archived subscription is never billed again, so what it still owes would be lost. */
function checkArchiving(previous: Subscription): void {
  const advice = archivingAdvice(previous)
  if (advice === null) return
  const { status } = previous
  const message = `A PRICING_PLAN_SUBSCRIPTION that is ${status} cannot become ARCHIVED now. ${advice}`
  throw new AppError('INVALID_OPERATION', message, { field: 'status' })
}

/** What may be done with a subscription instead of a change to this status, or of its deletion. */
export function statusAdvice(subscription: Subscription, to: string | null): string | null {
  const isOver = subscription.status !== 'DRAFT' && subscription.status !== 'ACTIVE'
  if (to === null || to === 'ARCHIVED' || !isOver) return archivingAdvice(subscription)
  return 'What is over stays so: copy it with POST /v1/pricing-plan-subscriptions/{id}/copy, and activate the copy.'
}

/** What comes before archiving a subscription; null where it can be archived. */
function archivingAdvice({ status, type, next_billing_at }: Subscription): string | null {
  if (status === 'ACTIVE' && type !== 'TEMPLATE')
    return 'Cancel it first; it can be archived once its last invoice is FINAL.'
  return next_billing_at === null ? null : 'Its last invoice is not FINAL yet; it can be archived after that.'
}

function checkPercentage(text: string | null): void {
  if (text === null) return
  const percentage = decimal(text)
  if (percentage.gte(ZERO) && percentage.lte(HUNDRED)) return
  throw new AppError('INVALID_FIELD', 'sales_tax_percentage is from 0 to 100; "21" is 21 %.', {
    field: 'sales_tax_percentage',
  })
}

async function refuseGone(
  uow: Uow,
  resource: Resource<StoredRow & { readonly status: string; readonly forgotten_at?: string | null }>,
  field: string,
  id: string,
): Promise<void> {
  requireThere(resource, await getOne(uow, resource, id), field)
}

/** Throws INVALID_FIELD for a customer or a billing entity that takes no new subscription. */
export function requireThere(
  resource: Pick<Resource<StoredRow>, 'objectType'>,
  party: Parameters<typeof whyGone>[0],
  field: string,
): void {
  const gone = whyGone(party)
  if (!gone) return
  const message = `This ${resource.objectType} is ${gone} and takes no new subscription.`
  throw new AppError('INVALID_FIELD', message, { field })
}
