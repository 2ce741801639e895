// The body of a preview: of a subscription, or of a template with what a customer chooses on top of it.
import Type, { type Static } from 'typebox'
import { AppError } from '../../../../shared/errors.ts'
import { Currency, IdText, Optional, Period, Shape, Timestamp } from '../../../resource/shapes.ts'
import { normalizeTimes } from '../../../resource/timestamps.ts'
import { customerResource } from '../../parties/customers/resource.ts'
import { SeatsValuesShape, UnitsShape } from '../../subscriptions/counts/schema.ts'
import { PromotionCodes } from '../../subscriptions/coupons/schema.ts'
import { EnabledPricings } from '../../subscriptions/enabled-pricings/schema.ts'
import { CUSTOMIZATIONS } from '../../subscriptions/init/schema.ts'

const INVOICES_PER_SCHEDULE_MAX = 12
const SCHEDULES_MAX = 100

const Customizations = Type.Array(
  Shape(
    {
      pricing_plan_schedule_id: IdText('schedule of the template'),
      units: Optional(UnitsShape),
      seats_values: Optional(SeatsValuesShape),
      enabled_pricings: Optional(EnabledPricings),
      promotion_codes: Optional(PromotionCodes),
      pricing_currency: Optional(Currency),
      billing_period: Optional(Period),
    },
    { title: 'InvoicePreviewScheduleCustomization' },
  ),
  { minItems: 1, maxItems: SCHEDULES_MAX },
)

const ofTemplate = {
  customer_details: Optional(customerResource.createBody),
  enabled_pricings: Optional(EnabledPricings),
  [CUSTOMIZATIONS]: Optional(Customizations),
}

export const PreviewBody = Shape({
  pricing_plan_subscription_id: Optional(IdText('subscription')),
  template_pricing_plan_subscription_id: Optional(IdText('template')),
  ...ofTemplate,
  start_at: Optional(Timestamp),
  invoices_per_schedule: Optional(Type.Integer({ minimum: 1, maximum: INVOICES_PER_SCHEDULE_MAX })),
})
type Body = Static<typeof PreviewBody>

export type SubscriptionPreview = Pick<Body, 'start_at' | 'invoices_per_schedule'> & {
  readonly pricing_plan_subscription_id: string
}
export type TemplatePreview = Omit<Body, 'pricing_plan_subscription_id'> & {
  readonly template_pricing_plan_subscription_id: string
}

/** What a body previews. Throws for one that names both or neither, and for choices on top of a subscription that is there. */
export function previewed(given: Body): SubscriptionPreview | TemplatePreview {
  const body = normalizeTimes(PreviewBody, given) as Body
  const { pricing_plan_subscription_id: subscriptionId, template_pricing_plan_subscription_id: templateId } = body
  if (subscriptionId === undefined && templateId === undefined) {
    const message = 'Give the subscription to preview, or a template in template_pricing_plan_subscription_id.'
    throw new AppError('MISSING_FIELD', message, { field: 'pricing_plan_subscription_id' })
  }
  if (body.enabled_pricings && body[CUSTOMIZATIONS]?.some(each => each.enabled_pricings)) {
    const message = `Enable pricings here, for the first schedule, or in ${CUSTOMIZATIONS}; not in both.`
    throw new AppError('INVALID_FIELD', message, { field: 'enabled_pricings' })
  }
  if (subscriptionId === undefined) return { ...body, template_pricing_plan_subscription_id: templateId ?? '' }
  const foreign = ['template_pricing_plan_subscription_id', ...Object.keys(ofTemplate)].find(
    name => body[name as keyof Body] !== undefined,
  )
  if (foreign !== undefined) {
    const message = `${foreign} is for the preview of a template; a subscription is previewed as it is.`
    throw new AppError('INVALID_FIELD', message, { field: foreign })
  }
  return { ...body, pricing_plan_subscription_id: subscriptionId }
}

export const isOfTemplate = (of: SubscriptionPreview | TemplatePreview): of is TemplatePreview =>
  'template_pricing_plan_subscription_id' in of
