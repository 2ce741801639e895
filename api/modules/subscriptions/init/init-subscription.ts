// A customer, its subscription and the schedules of that in one call, from a template or in full (semantics 4.2).
import type { Uow } from '../../../../shared/database/database.ts'
import { AppError, within } from '../../../../shared/errors.ts'
import type { Id } from '../../../../shared/ids.ts'
import { formatInstant } from '../../../../shared/time.ts'
import { createResource } from '../../../resource/commands.ts'
import type { Row } from '../../../resource/define-resource.ts'
import { getOne, lockExisting } from '../../../resource/store.ts'
import { customerResource } from '../../parties/customers/resource.ts'
import type { Customer } from '../../parties/customers/table.ts'
import { listSchedules } from '../schedules/schedule.ts'
import { createSchedule, type ScheduleBody } from '../schedules/schedule-commands.ts'
import { subscriptionResource } from '../subscription.ts'
import { activateSubscription } from '../subscription-commands.ts'
import type { Schedule, Subscription } from '../table.ts'
import { subscriptionFromTemplate } from './from-template.ts'
import { CUSTOMIZATIONS, type Customization, NOT_ON_TOP, ON_TOP_OF_TEMPLATE, WITHOUT_TEMPLATE } from './schema.ts'

/** A body that `InitBody` has validated, its times in canonical text. */
export type InitRequest = Row & {
  readonly template_pricing_plan_subscription_id?: string
  readonly pricing_plan_subscription_start_at?: string
  readonly pricing_plan_schedule_customizations?: readonly Customization[]
  readonly customer?: Row
  readonly pricing_plan_subscription?: Row
  readonly pricing_plan_schedules?: readonly Row[]
  readonly enabled_pricings?: unknown
  readonly first_payment?: unknown
}

export type Initialized = {
  readonly customer: Customer | null
  readonly subscription: Subscription
  readonly schedules: readonly Schedule[]
}

/**
 * Creates a subscription with its schedules, from a template or in full, and activates it when the body says `status: ACTIVE`. All of
 * it or nothing. A customer that it creates gets the id `customerId`. Throws INVALID_FIELD by name for what the form of the body does
 * not take.
 */
export async function initSubscription(uow: Uow, body: InitRequest, customerId: Id<'cust'>): Promise<Initialized> {
  const templateId = body.template_pricing_plan_subscription_id
  const foreign = (templateId === undefined ? [...ON_TOP_OF_TEMPLATE, CUSTOMIZATIONS] : WITHOUT_TEMPLATE).find(
    name => body[name] !== undefined,
  )
  if (foreign !== undefined) {
    const message =
      templateId === undefined
        ? `${foreign} goes on top of a template alone; without one, give it within pricing_plan_subscription.`
        : `${foreign} ${NOT_ON_TOP}`
    throw new AppError('INVALID_FIELD', message, { field: foreign })
  }
  requirePermission(uow, 'PRICING_PLAN_SCHEDULE.CREATE', 'pricing_plan_schedules')
  const startAt = body.pricing_plan_subscription_start_at ?? formatInstant(uow.now)
  const made =
    templateId === undefined
      ? await inFull(uow, body, customerId)
      : await subscriptionFromTemplate(uow, {
          templateId,
          changes: onTopOf(body),
          customizations: body[CUSTOMIZATIONS] ?? [],
          startAt,
        })
  const active = made.wants === 'ACTIVE' ? await activated(uow, made.subscription, body) : made.subscription
  const customer = active.customer_id === null ? null : await getOne(uow, customerResource, active.customer_id)
  return { customer, subscription: active, schedules: await listSchedules(uow, active.id) }
}

/** Activates it. What is refused has the path that the body gives it: the schedules of a template are in none. */
async function activated(
  uow: Uow,
  subscription: Subscription,
  { template_pricing_plan_subscription_id: templateId, customer }: InitRequest,
): Promise<Subscription> {
  const ofSchedules = templateId === undefined ? 'pricing_plan_schedules' : TEMPLATE
  return await activateSubscription(uow, subscription, place => `${ofSchedules}.${place}`).catch(error => {
    const { field } = error instanceof AppError ? error.details : {}
    if (!(error instanceof AppError) || field === undefined) throw error
    if (templateId !== undefined) throw field.startsWith(`${TEMPLATE}.`) ? error.at(TEMPLATE) : error
    if (field.startsWith(`${ofSchedules}.`)) throw error
    throw customer && field === 'customer_id' ? error.at('customer') : error.within('pricing_plan_subscription')
  })
}

const TEMPLATE = 'template_pricing_plan_subscription_id'

const onTopOf = (body: InitRequest): Row =>
  Object.fromEntries(ON_TOP_OF_TEMPLATE.flatMap(name => (body[name] === undefined ? [] : [[name, body[name]]])))

type Made = { readonly subscription: Subscription; readonly wants: unknown }

async function inFull(uow: Uow, body: InitRequest, newCustomerId: Id<'cust'>): Promise<Made> {
  const { pricing_plan_subscription: given, pricing_plan_schedules: schedules = [], customer } = body
  if (given === undefined) {
    const message = 'Give the subscription, or the template it is made from in template_pricing_plan_subscription_id.'
    throw new AppError('MISSING_FIELD', message, { field: 'pricing_plan_subscription' })
  }
  const { status: wants, ...terms } = given
  const customerId = customer && (await createCustomer(uow, customer, { id: newCustomerId, terms }))
  const subscription = await within('pricing_plan_subscription', () =>
    createResource(uow, subscriptionResource, { ...terms, ...(customerId ? { customer_id: customerId } : {}) }),
  )
  let startAt: unknown = body.pricing_plan_subscription_start_at ?? formatInstant(uow.now)
  for (const [index, schedule] of schedules.entries()) {
    const path = `pricing_plan_schedules.${index}`
    const start = schedule.start_at ?? startAt
    if (typeof start !== 'string') {
      const message = 'The schedule before it runs on without an end; give that an end_at, or this one a start_at.'
      throw new AppError('MISSING_FIELD', message, { field: `${path}.start_at` })
    }
    if (index > 0 && typeof startAt === 'string' && start !== startAt) {
      const message = `The schedule before it ends at ${startAt}; start there, or leave one of the two times out.`
      throw new AppError('INVALID_FIELD', message, { field: `${path}.start_at` })
    }
    if (index === 0 && start !== startAt && body.pricing_plan_subscription_start_at !== undefined) {
      const message = 'It is another start than pricing_plan_subscription_start_at; send one of the two.'
      throw new AppError('INVALID_FIELD', message, { field: `${path}.start_at` })
    }
    const enabled = index === 0 ? enabledFirst(body, schedule) : {}
    const whole: ScheduleBody = {
      ...schedule,
      ...enabled,
      start_at: start,
      pricing_plan_subscription_id: subscription.id,
    }
    await within(path, () => createSchedule(uow, whole, { setPreviousEndAt: false, setNextStartAt: false }))
    startAt = schedule.end_at
  }
  return { subscription: await lockExisting(uow, subscriptionResource, subscription.id), wants: wants ?? 'DRAFT' }
}

/** The ADDONs given beside the schedules are those of the first. Throws INVALID_FIELD when that says its own. */
function enabledFirst({ enabled_pricings }: InitRequest, first: Row): Row {
  if (enabled_pricings === undefined) return {}
  if (first['enabled_pricings'] === undefined || first['enabled_pricings'] === null) return { enabled_pricings }
  const message = 'The first schedule has enabled_pricings of its own; send them once.'
  throw new AppError('INVALID_FIELD', message, { field: 'enabled_pricings' })
}

async function createCustomer(
  uow: Uow,
  body: Row,
  { id, terms }: { readonly id: Id<'cust'>; readonly terms: Row },
): Promise<string> {
  const named = ['customer_id', 'customer_reference'].find(name => terms[name])
  requirePermission(uow, 'CUSTOMER.CREATE', 'customer')
  if (named !== undefined) {
    const message =
      'The customer is created by this call, so the subscription cannot name one; leave one of the two out.'
    throw new AppError('INVALID_FIELD', message, { field: `pricing_plan_subscription.${named}` })
  }
  return (await within('customer', () => createResource(uow, customerResource, body, { id }))).id
}

/** What one call makes needs what the calls that it stands for need. */
export function requirePermission(uow: Uow, permission: string, field: string): void {
  if (uow.actor.may?.(permission) !== false) return
  throw new AppError('USER_NOT_ALLOWED', `To give ${field} here needs ${permission}.`, { field })
}
