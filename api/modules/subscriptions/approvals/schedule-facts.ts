// What the rules of an approval policy compare of a schedule: what it says itself, and what its subscription says (semantics 7).
import { isDeepStrictEqual } from 'node:util'
import type { ReadUow, Uow } from '../../../../shared/database/database.ts'
import { decimal, plain } from '../../../../shared/decimal.ts'
import { customFieldsOf } from '../../../resource/custom-fields/values.ts'
import { getOne } from '../../../resource/store.ts'
import type { FactAmount, Facts } from '../../approvals/rules/facts.ts'
import { platformResource } from '../../parties/platforms/platform.ts'
import { acceptorsByDefault } from '../checks/check-acceptors.ts'
import { SERVICE_DEFAULTS } from '../service-defaults.ts'
import type { Schedule, Subscription } from '../table.ts'

/** The object types whose custom fields are among the facts. */
export const WITH_CUSTOM_FIELDS = ['PRICING_PLAN_SUBSCRIPTION', 'CUSTOMER'] as const

/** The facts of a schedule as the two rows are, saved or about to be. */
export async function factsOf(uow: Uow, schedule: Schedule, subscription: Subscription): Promise<Facts> {
  return {
    discount: discountsOf(schedule),
    commitments: commitmentsOf(schedule),
    has_override: schedule.override_pricings.length > 0 || (schedule.own_pricing_plan_version_id ?? null) !== null,
    custom_fields: await fieldsOf(uow, subscription),
    is_custom: await differencesOf(uow, schedule, subscription),
  }
}

/** Those of coupons too: to attach one is to discount. */
function discountsOf({ discount, applied_coupons }: Schedule): Facts['discount'] {
  const own = Object.values(discount ?? {}).flatMap(list => list ?? [])
  return discountFacts([...own, ...applied_coupons.map(coupon => coupon.discount)])
}

/** What a discount of a schedule, or of a coupon, takes off. */
export type GivenDiscount = { readonly percentage?: string | null; readonly amount?: FactAmount | null }

/** Discounts as facts. */
export const discountFacts = (given: readonly GivenDiscount[]): Facts['discount'] => ({
  percentages: inOrder(given.flatMap(({ percentage }) => (percentage ? plain(decimal(percentage)) : []))),
  amounts: amountsIn(given),
})

/** Only what is committed to in money: a number of units has no amount to compare. */
const commitmentsOf = ({ commitment }: Schedule): FactAmount[] =>
  amountsIn(Object.values(commitment ?? {}).flatMap((list): readonly { amount?: FactAmount | null }[] => list ?? []))

const inOrder = (texts: readonly string[]): string[] => [...new Set(texts)].sort()

function amountsIn(all: readonly { readonly amount?: FactAmount | null }[]): FactAmount[] {
  const amounts = all.flatMap(({ amount }) => amount ?? [])
  const texts = amounts.map(({ quantity, currency }) => `${currency} ${plain(decimal(quantity))}`)
  return inOrder(texts).map(text => {
    const [currency = '', quantity = ''] = text.split(' ')
    return { quantity, currency }
  })
}

async function fieldsOf(uow: ReadUow, { id, customer_id }: Subscription): Promise<Facts['custom_fields']> {
  const found = await customFieldsOf(uow, [id, ...(customer_id === null ? [] : [customer_id])])
  const fields = [...found.values()].flat()
  return Object.fromEntries(
    fields.map(field => [field.id, 'values' in field ? field.values.toSorted() : [field.value]]),
  )
}

async function differencesOf(uow: Uow, schedule: Schedule, subscription: Subscription): Promise<Facts['is_custom']> {
  const platform = await getOne(uow, platformResource, uow.tenant.platformId)
  const settings = platform.default_pricing_plan_subscription_settings
  const entityId = settings.billing_entity_id ?? platform.default_billing_entity_id
  const period = settings.billing_period ?? SERVICE_DEFAULTS.billing_period
  const due = settings.due_date_configuration ?? SERVICE_DEFAULTS.due_date_configuration
  const acceptors = await acceptorsByDefault(uow, settings.payment_acceptor_ids ?? [], subscription)
  return {
    billing_entity: entityId === null ? null : subscription.billing_entity_id !== entityId,
    billing_period: !isDeepStrictEqual(schedule.billing_period ?? subscription.billing_period, period),
    due_date: !isDeepStrictEqual(dueOf(subscription.due_date_configuration), dueOf(due)),
    payment_acceptor: !isDeepStrictEqual(subscription.payment_acceptor_ids.toSorted(), acceptors.toSorted()),
  }
}

const dueOf = ({ type, period }: Subscription['due_date_configuration']) => ({ type, period: period ?? null })
