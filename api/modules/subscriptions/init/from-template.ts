// A subscription made from a template: its words, and its schedules moved to another start (semantics 4.2).

import { daysBetween, localDateOf, type Zone } from '../../../../shared/billing/local-days.ts'
import { addPeriodAt } from '../../../../shared/billing/periods.ts'
import type { Uow } from '../../../../shared/database/database.ts'
import { AppError } from '../../../../shared/errors.ts'
import { at, formatInstant, type Instant, instantOf } from '../../../../shared/time.ts'
import type { Row } from '../../../resource/define-resource.ts'
import { findOne, lockOne, notFound } from '../../../resource/store.ts'
import { entityForSale } from '../../parties/billing-entities/choose-entity.ts'
import { customerResource } from '../../parties/customers/resource.ts'
import { zoneOfSubscription } from '../billing-time/billing-calendar.ts'
import { cloneSchedule, cloneSubscription } from '../clone.ts'
import { listSchedules } from '../schedules/schedule.ts'
import { statedAt } from '../stated-times.ts'
import { subscriptionResource } from '../subscription.ts'
import type { Schedule, Subscription } from '../table.ts'
import { withLatestVersion } from './latest-version.ts'
import { CUSTOMIZATIONS, type Customization } from './schema.ts'

const FIELD = 'template_pricing_plan_subscription_id'

type FromTemplate = {
  readonly templateId: string
  readonly changes: Row
  readonly customizations: readonly Customization[]
  readonly startAt: string
}

/** The template, locked unless it is a dry run. Throws for one that is not there, or of which nothing can be sold now. */
export async function lockTemplate(uow: Uow, templateId: string): Promise<Subscription> {
  const template = await lockOne(uow, subscriptionResource, templateId)
  if (!template) throw notFound(subscriptionResource, templateId, FIELD)
  if (template.type === 'TEMPLATE' && template.status === 'ACTIVE') return template
  const message = `It is a ${template.type} that is ${template.status}; only an ACTIVE TEMPLATE can be used.`
  throw new AppError('INVALID_FIELD', message, { field: FIELD })
}

/** Creates a DRAFT with the words of an ACTIVE template and those of `changes`. Its schedules keep their lengths. */
export async function subscriptionFromTemplate(
  uow: Uow,
  { templateId, changes, customizations, startAt }: FromTemplate,
): Promise<{ readonly subscription: Subscription; readonly wants: unknown }> {
  // Locked, so that its schedules stand still meanwhile.
  const template = await lockTemplate(uow, templateId)
  const { status: wants, ...rest } = changes
  const { template: _settings, ...terms } = template
  const given = { ...(await chosenEntity(uow, template, rest)), ...rest }
  const subscription = await cloneSubscription(
    uow,
    { ...terms, template: null },
    { type: 'BILLING', ...acceptorsFor(template, given), ...given },
  )
  const schedules = await listSchedules(uow, template.id)
  checkCustomizations(customizations, schedules)
  const from = schedules[0]?.start_at ?? startAt
  const zone = await zoneOfSubscription(uow, subscription)
  const moved = (time: string): string => formatInstant(movedTime(at(time), { from: at(from), to: at(startAt), zone }))
  for (const stored of schedules) {
    const place = customizations.findIndex(each => each.pricing_plan_schedule_id === stored.id)
    const given = customizations[place]
    const named = <T>(error: T): T | AppError => {
      if (!(error instanceof AppError)) return error
      if (place >= 0 && error.details.field?.startsWith('units')) return error.within(`${CUSTOMIZATIONS}.${place}`)
      // The rest of the schedule is that of the template.
      const message = `The schedule ${stored.id} of the template cannot be sold now. ${error.message}`
      return new AppError(error.code, message, { ...error.details, field: FIELD, cause: error })
    }
    const customized = { ...stored, units: mergedUnits(stored, given) }
    const schedule = await withLatestVersion(uow, customized, given?.units ?? []).catch(error => {
      throw named(error)
    })
    const end_at = schedule.end_at === null ? null : moved(schedule.end_at)
    const placed = { start_at: moved(schedule.start_at), end_at }
    await cloneSchedule(uow, subscription, schedule, {
      ...placed,
      ...statedAt(schedule, moved),
    }).catch(error => {
      throw named(error)
    })
  }
  return { subscription: (await lockOne(uow, subscriptionResource, subscription.id)) ?? subscription, wants }
}

/** Payment acceptors are of one billing entity: with another one, the invoices show those that are ACTIVE of that. */
const acceptorsFor = (template: Subscription, { billing_entity_id: id }: Row): Row =>
  typeof id !== 'string' || id === template.billing_entity_id ? {} : { payment_acceptor_ids: [] }

/** The billing entity for the customer, where the template has it chosen and the call names none; absent when no selectors name it. */
async function chosenEntity(uow: Uow, template: Subscription, changes: Row): Promise<Row> {
  if (!template.template?.apply_billing_entity_selector || changes['billing_entity_id']) return {}
  const id = changes['customer_id']
  const customer = typeof id === 'string' ? await findOne(uow, customerResource, id) : null
  // An unknown one is refused where the subscription is created.
  if (!customer) return {}
  const { organization, individual } = customer
  const country = (organization?.registered_address ?? individual?.residential_address)?.country ?? null
  const currency =
    typeof changes['billing_currency'] === 'string' ? changes['billing_currency'] : template.billing_currency
  const entityId = await entityForSale(uow, { country, currency })
  return entityId === null ? {} : { billing_entity_id: entityId }
}

/** Each schedule of the template is customized once at most. */
function checkCustomizations(customizations: readonly Customization[], schedules: readonly Schedule[]): void {
  for (const [index, { pricing_plan_schedule_id: id }] of customizations.entries()) {
    const field = `${CUSTOMIZATIONS}.${index}.pricing_plan_schedule_id`
    if (!schedules.some(schedule => schedule.id === id)) {
      const message = `The template has no schedule ${id}; name one of its schedules.`
      throw new AppError('RESOURCE_NOT_FOUND', message, { field })
    }
    if (customizations.findIndex(each => each.pricing_plan_schedule_id === id) < index)
      throw new AppError('INVALID_FIELD', 'The schedule is customized twice; give its units together.', { field })
  }
}

/** The units that a customization gives, and those of the template for the other prices. */
export function mergedUnits({ units }: Pick<Schedule, 'units'>, given: Customization | undefined): Schedule['units'] {
  const named = given?.units ?? []
  const isNamed = (id: string): boolean => named.some(each => each.pricing_item_config_id === id)
  return [...named, ...units.filter(each => !isNamed(each.pricing_item_config_id))]
}

/**
 * `time` moved as `from` is to `to`: as many local days later, and the rest to the second. So what lasted fourteen days does, also over
 * a change of the clocks. Pure.
 */
export function movedTime(
  time: Instant,
  { from, to, zone }: { readonly from: Instant; readonly to: Instant; readonly zone: Zone },
): Instant {
  const day = { type: 'DAY', value: 1 } as const
  const days = daysBetween(localDateOf(from, zone), localDateOf(time, zone))
  const rest = time - addPeriodAt(from, day, zone, days)
  return instantOf(addPeriodAt(to, day, zone, days) + rest)
}
