// POST /v1/invoices/preview of a template: the invoices of a subscription that is made from it for the preview alone, with its
// customer. Both are made as `init` makes them, in a transaction that is rolled back.
import type { Uow } from '../../../../shared/database/database.ts'
import { inDryRun } from '../../../../shared/database/dry-run.ts'
import { AppError, within } from '../../../../shared/errors.ts'
import { idOf } from '../../../../shared/ids.ts'
import type { Tenant } from '../../../../shared/tenant.ts'
import { at, formatInstant } from '../../../../shared/time.ts'
import { createResource } from '../../../resource/commands.ts'
import type { Row } from '../../../resource/define-resource.ts'
import { customerResource } from '../../parties/customers/resource.ts'
import { lockTemplate, subscriptionFromTemplate } from '../../subscriptions/init/from-template.ts'
import { chosenInLatest } from '../../subscriptions/init/latest-version.ts'
import { CUSTOMIZATIONS } from '../../subscriptions/init/schema.ts'
import { listSchedules } from '../../subscriptions/schedules/schedule.ts'
import { type ScheduleBody, updateSchedule } from '../../subscriptions/schedules/schedule-commands.ts'
import type { Schedule, Subscription } from '../../subscriptions/table.ts'
import type { BillingDeps } from '../run/compute-invoice.ts'
import type { TemplatePreview } from './preview-body.ts'
import { type Preview, previewsOf } from './preview-invoices.ts'
import { loadPreviewStates, type PreviewState } from './price-previews.ts'

/** The customer of a preview without customer_details. Without a country, it is taxed as in the country of the seller. */
const ANONYMOUS: Row = { type: 'INDIVIDUAL' }

/**
 * The first invoices of each schedule of a template, were it sold from `start_at` on, which is now unless given. Throws as `init` and
 * changes of schedules do, with the field. A tax engine is not asked about a customer who is imagined.
 */
export async function previewTemplate(deps: BillingDeps, tenant: Tenant, request: TemplatePreview): Promise<Preview> {
  const { state, ids } = await inDryRun(deps.database, tenant, uow => makeFromTemplate(uow, request))
  const from = state.inputs.schedules[0] ? at(state.inputs.schedules[0].start_at) : deps.database.clock.now()
  const perSchedule = request.invoices_per_schedule ?? 1
  const preview = await previewsOf(deps, tenant, state, { from, perSchedule, isImagined: true })
  return withIds(preview, ids, state.inputs.customer.id)
}

type Made = {
  readonly state: PreviewState
  /** What stands for a made id in the answer: that of the template or of its schedule. */
  readonly ids: ReadonlyMap<string, string>
}

async function makeFromTemplate(uow: Uow, request: TemplatePreview): Promise<Made> {
  const { template_pricing_plan_subscription_id: templateId, [CUSTOMIZATIONS]: customizations = [] } = request
  // Before anything is written: what is refused then has no number of a transaction, which would hold up the outbox.
  requireAllowedCodes(await lockTemplate(uow, templateId), customizations)
  // A reference is left out: another customer may have it already.
  const { reference: _reference, ...details } = (request.customer_details ?? ANONYMOUS) as Row
  const customer = await within('customer_details', () => createResource(uow, customerResource, details))
  const currency = customizations.find(each => each.pricing_currency)?.pricing_currency
  const { subscription } = await subscriptionFromTemplate(uow, {
    templateId,
    changes: { customer_id: customer.id, ...(currency ? { billing_currency: currency } : {}) },
    customizations: customizations.map(({ pricing_plan_schedule_id, units = [] }) => ({
      pricing_plan_schedule_id,
      units,
    })),
    startAt: request.start_at ?? formatInstant(uow.now),
  })
  const sold = await listSchedules(uow, idOf('ppsu', templateId))
  const made = await listSchedules(uow, subscription.id)
  const pair = (place: number): Pair => ({ stored: sold[place], schedule: made[place] })
  for (const [place, { pricing_plan_schedule_id: id, units: _units, ...changes }] of customizations.entries()) {
    const of = pair(sold.findIndex(schedule => schedule.id === id))
    await customize(uow, of, changes, `${CUSTOMIZATIONS}.${place}`)
  }
  if (request.enabled_pricings) await customize(uow, pair(0), { enabled_pricings: request.enabled_pricings }, null)
  const state = (await loadPreviewStates(uow, [subscription.id])).get(subscription.id)
  if (!state) throw new Error('the subscription was made')
  // An engine decides the tax of customers that are there.
  const { tax_answers: _answers, ...inputs } = state.inputs
  const ids = new Map([
    [subscription.id, templateId],
    ...made.map(({ id }, place): [string, string] => [id, sold[place]?.id ?? id]),
  ])
  return { state: { ...state, inputs }, ids }
}

type Customizations = NonNullable<TemplatePreview[typeof CUSTOMIZATIONS]>

/** Throws INVALID_FIELD for more promotion codes than the template allows. One code for several schedules is one. */
function requireAllowedCodes({ template }: Subscription, customizations: Customizations): void {
  const allowed = template?.allow_promotion_codes ?? null
  if (allowed === null) return
  const given = new Set<string>()
  for (const [place, { promotion_codes = [] }] of customizations.entries()) {
    for (const code of promotion_codes) given.add(code.toUpperCase())
    if (given.size <= (allowed === 'SINGLE' ? 1 : 0)) continue
    const message =
      allowed === 'SINGLE'
        ? 'The template takes one promotion code (allow_promotion_codes); send one.'
        : 'The template takes no promotion codes (allow_promotion_codes); leave them out.'
    throw new AppError('INVALID_FIELD', message, { field: `${CUSTOMIZATIONS}.${place}.promotion_codes` })
  }
}

type Customization = Omit<Customizations[number], 'pricing_plan_schedule_id' | 'units'>

/** What is chosen, and what the template has for others. */
function besides<T>(chosen: readonly T[], own: readonly T[], idOf: (each: T) => string): readonly T[] {
  const ids = new Set(chosen.map(idOf))
  return [...chosen, ...own.filter(each => !ids.has(idOf(each)))]
}

/** A schedule of the template, and the one that is made from it. */
type Pair = { readonly stored: Schedule | undefined; readonly schedule: Schedule | undefined }

/** `path`: where the changes stand in the body; null for its members. */
async function customize(
  uow: Uow,
  { stored, schedule }: Pair,
  changes: Customization,
  path: string | null,
): Promise<void> {
  if (!stored || !schedule || Object.keys(changes).length === 0) return
  const { seats_values: _seats, enabled_pricings: _enabled, ...others } = changes
  const { seats_values = [], enabled_pricings = [] } = changes
  const chosen = await chosenInLatest(uow, stored, { seats_values, enabled_pricings })
  const seats = changes.seats_values && chosen.seats_values
  const enabled = changes.enabled_pricings && chosen.enabled_pricings
  const patch = {
    ...others,
    // Seats hold from the start on, unless they say otherwise.
    ...(seats && {
      seats_values: besides(
        seats.map(each => ({ start_at: schedule.start_at, ...each })),
        schedule.seats_values,
        each => each.pricing_item_config_id,
      ),
    }),
    ...(enabled && { enabled_pricings: besides(enabled, schedule.enabled_pricings, each => each.pricing_id) }),
  }
  const change = () =>
    updateSchedule(uow, schedule.id, patch as Partial<ScheduleBody>, {
      setPreviousEndAt: false,
      setNextStartAt: false,
    })
  await (path === null ? change() : within(path, change))
}

/** The preview with the ids of what is there, in place of those that were made for it; the customer has none. */
function withIds(preview: Preview, ids: ReadonlyMap<string, string>, customerId: string): Preview {
  let text = JSON.stringify(preview)
  for (const [made, stored] of ids) text = text.replaceAll(`"${made}"`, JSON.stringify(stored))
  return JSON.parse(text, (_name, value: unknown) => (value === customerId ? undefined : value))
}
