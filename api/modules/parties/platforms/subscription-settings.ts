// What new subscriptions of a platform have where they do not say otherwise (semantics 9.4).
import { isDeepStrictEqual } from 'node:util'
import Type, { type Static } from 'typebox'
import type { Uow } from '../../../../shared/database/database.ts'
import { AppError } from '../../../../shared/errors.ts'
import { Currency, IdText, Nullable, OneOf, Optional, Period, Shape } from '../../../resource/shapes.ts'
import { requireAll } from '../../../resource/store.ts'
import { billingEntityResource } from '../billing-entities/billing-entity.ts'
import { paymentAcceptorResource } from '../payment-acceptors/payment-acceptor.ts'

export const DueDateConfiguration = Shape({
  type: OneOf('PERIOD_AFTER_INVOICE_DATE', 'END_OF_THE_MONTH'),
  period: Optional(Nullable(Period)),
})

const setting = <T extends Type.TSchema>(schema: T) => Optional(Nullable(schema))

/** By which a subscription can be paid at most. */
export const ACCEPTORS_MAX = 20

export const SubscriptionSettings = Shape({
  billing_entity_id: setting(IdText('billing entity')),
  due_date_configuration: setting(DueDateConfiguration),
  billing_period: setting(Period),
  billing_currency: setting(Currency),
  billing_time: setting(OneOf('EXACT', 'CALENDAR')),
  init_invoice_on_hold: setting(Type.Boolean()),
  combine: setting(Type.Boolean()),
  display_invoice_sub_lines_per_processing_only_customer: setting(Type.Boolean()),
  replicate_meter_data_ingest_to_parent: setting(Type.Boolean()),
  payment_acceptor_ids: setting(Type.Array(IdText('payment acceptor'), { maxItems: ACCEPTORS_MAX, uniqueItems: true })),
  initial_term: setting(Period),
  renewal_term: setting(Period),
  auto_renewal: setting(Type.Boolean()),
})
export type SubscriptionSettings = Static<typeof SubscriptionSettings>

const PATH = 'default_pricing_plan_subscription_settings'

/** Where the platform names the billing entity of new subscriptions, and by what they are paid. */
type PlatformDefaults = {
  readonly default_billing_entity_id: string | null
  readonly [PATH]: SubscriptionSettings
}

/** Throws INVALID_FIELD for a payment acceptor that is ARCHIVED, or not of the billing entity that new subscriptions have. */
async function checkAcceptors(uow: Uow, row: PlatformDefaults, previous: PlatformDefaults | null): Promise<void> {
  const chosenIn = (of: PlatformDefaults) => ({
    ids: of[PATH].payment_acceptor_ids ?? [],
    entityId: of[PATH].billing_entity_id ?? of.default_billing_entity_id,
  })
  const { ids, entityId } = chosenIn(row)
  // One that is ARCHIVED later is left out of new subscriptions, and keeps nobody from changing the platform.
  if (previous && isDeepStrictEqual(chosenIn(previous), { ids, entityId })) return
  for (const [index, id] of ids.entries()) {
    const field = `${PATH}.payment_acceptor_ids.${index}`
    const [acceptor] = await requireAll(uow, paymentAcceptorResource, [{ id, field }])
    if (acceptor?.billing_entity_id !== entityId)
      throw new AppError('INVALID_FIELD', 'It is not of the billing entity that new subscriptions have.', { field })
    if (acceptor?.status === 'ARCHIVED')
      throw new AppError('INVALID_FIELD', 'It is ARCHIVED; choose another.', { field })
  }
}

/** Throws what a subscription with these settings would be refused for, and RESOURCE_NOT_FOUND for an unknown billing entity. */
export async function checkSubscriptionSettings(
  uow: Uow,
  row: PlatformDefaults,
  previous: PlatformDefaults | null,
): Promise<void> {
  const settings = row[PATH]
  const { billing_entity_id: entityId, due_date_configuration: due, initial_term, renewal_term } = settings
  if (entityId) await requireAll(uow, billingEntityResource, [{ id: entityId, field: `${PATH}.billing_entity_id` }])
  if (due?.type === 'PERIOD_AFTER_INVOICE_DATE' && !due.period) {
    const field = `${PATH}.due_date_configuration.period`
    throw new AppError('MISSING_FIELD', 'PERIOD_AFTER_INVOICE_DATE needs a period.', { field })
  }
  if (renewal_term && !initial_term) {
    const message = 'A renewal_term follows an initial_term; give that too.'
    throw new AppError('MISSING_FIELD', message, { field: `${PATH}.initial_term` })
  }
  await checkAcceptors(uow, row, previous)
}
