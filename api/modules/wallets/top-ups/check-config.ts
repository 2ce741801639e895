// Whether an auto top-up configuration can be stored, and charged while it is ACTIVE.
import { isDeepStrictEqual } from 'node:util'
import { and, eq, inArray, ne } from 'drizzle-orm'
import type { Uow } from '../../../../shared/database/database.ts'
import { decimal, ZERO } from '../../../../shared/decimal.ts'
import { AppError } from '../../../../shared/errors.ts'
import { getOne } from '../../../resource/store.ts'
import { inThisTenant } from '../../../resource/tenant-condition.ts'
import { chargeOnDemand } from '../../billing/on-demand/charge-on-demand.ts'
import { pricings } from '../../catalog/pricing-plans/table.ts'
import { MissingTaxAnswer } from '../../invoices/tax/answers/missing-answer.ts'
import { versionOfSchedule } from '../../subscriptions/rate-cards/version-of-schedule.ts'
import { scheduleResource } from '../../subscriptions/schedules/schedule.ts'
import { scheduleTerms, soldItems } from '../../subscriptions/sold-items.ts'
import { subscriptionResource } from '../../subscriptions/subscription.ts'
import { unitOf } from '../unit.ts'
import { walletResource } from '../wallet.ts'
import { walletTypeResource } from '../wallet-type.ts'
import { orderOf } from './order-of-config.ts'
import { type AutoTopUpConfig, autoTopUpConfigs } from './table.ts'

/** What a top-up depends on. */
const CHANGES = ['status', 'pricing_plan_schedule_id', 'pricing_item_id', 'threshold', 'topup_amount', 'units'] as const

const refused = (field: string, message: string) => new AppError('INVALID_FIELD', message, { field })

/**
 * The configuration with its threshold in the unit of its wallet. A change starts its attempts anew. Throws
 * MISSING_FIELD or INVALID_FIELD for a threshold that the wallet cannot have.
 */
export async function withThreshold(
  uow: Uow,
  row: AutoTopUpConfig,
  previous: AutoTopUpConfig | null,
): Promise<AutoTopUpConfig> {
  const wallet = await getOne(uow, walletResource, row.wallet_id)
  const unit = unitOf(await getOne(uow, walletTypeResource, wallet.wallet_type_id))
  const [own, other] = unit.kind === 'CREDITS' ? (['credits', 'amount'] as const) : (['amount', 'credits'] as const)
  const holds = unit.kind === 'CREDITS' ? 'credits' : 'money'
  const { amount, credits } = row.threshold
  if (row.threshold[other])
    throw refused(`threshold.${other}`, `The wallet holds ${holds}; give threshold.${own} instead.`)
  const given = row.threshold[own]
  if (!given)
    throw new AppError('MISSING_FIELD', `The wallet holds ${holds}; give threshold.${own}.`, {
      field: `threshold.${own}`,
    })
  if (decimal(given.quantity).lte(ZERO)) throw refused(`threshold.${own}.quantity`, 'A threshold must be above zero.')
  if (unit.kind === 'AMOUNT' && amount && amount.currency !== unit.currency)
    throw refused('threshold.amount.currency', `The wallet holds ${unit.currency ?? 'no currency yet'}.`)
  if (unit.kind === 'CREDITS' && credits && credits.credit_type_id !== unit.creditTypeId)
    throw refused('threshold.credits.credit_type_id', `The wallet holds credits of the type ${unit.creditTypeId}.`)
  const isOther = previous !== null && CHANGES.some(name => !isDeepStrictEqual(row[name], previous[name]))
  return {
    ...row,
    threshold_quantity: given.quantity,
    ...(isOther ? { failed_attempts: 0, last_failure: null, next_attempt_at: null } : {}),
  }
}

/**
 * Throws while it is ACTIVE and could not be charged: RESOURCE_ALREADY_EXISTS for a second one of the wallet,
 * INVALID_FIELD for a schedule of another customer or an item that grants nothing to the wallet, and else like the
 * charge itself.
 */
export async function checkConfig(uow: Uow, row: AutoTopUpConfig, previous: AutoTopUpConfig | null): Promise<void> {
  if (row.status !== 'ACTIVE') return
  if (uow.actor.may?.('INVOICE.CREATE') === false)
    throw new AppError(
      'USER_NOT_ALLOWED',
      'An ACTIVE top-up makes invoices, which needs the permission INVOICE.CREATE.',
    )
  const wallet = await getOne(uow, walletResource, row.wallet_id)
  await refuseSecond(uow, row, previous)
  if (wallet.status !== 'ACTIVE')
    throw new AppError('INVALID_OPERATION', `The wallet is ${wallet.status}; activate it first.`, {
      field: 'wallet_id',
    })
  await checkItem(uow, row)
  try {
    await chargeOnDemand(uow, { ...orderOf(row), preview: true })
  } catch (error) {
    // The tax of each top-up is asked when it is charged.
    if (error instanceof MissingTaxAnswer) return
    if (!(error instanceof AppError) || error.details.field === undefined) throw error
    throw new AppError(error.code, error.message, { ...error.details, field: fieldHere(error.details.field) })
  }
}

/** Where this resource has what the charge calls by another name. */
const fieldHere = (field: string): string =>
  field.replace(/^pricing_items\.0\.flexible_amount/, 'topup_amount').replace(/^pricing_items\.0\./, '')

async function refuseSecond(uow: Uow, row: AutoTopUpConfig, previous: AutoTopUpConfig | null): Promise<void> {
  const c = autoTopUpConfigs
  const [other] = await uow.tx
    .select({ id: c.id })
    .from(c)
    .where(
      and(
        inThisTenant(uow, c),
        eq(c.wallet_id, row.wallet_id),
        eq(c.status, 'ACTIVE'),
        previous ? ne(c.id, previous.id) : undefined,
      ),
    )
    .limit(1)
  if (!other) return
  throw new AppError(
    'RESOURCE_ALREADY_EXISTS',
    `The wallet has the ACTIVE top-up ${other.id}; make that INACTIVE first.`,
    {
      field: 'wallet_id',
      resourceId: other.id,
      resourceType: 'AUTO_TOP_UP_CONFIG',
    },
  )
}

/**
 * Throws INVALID_FIELD for a schedule of another customer, and for an item that grants nothing to the wallet: bought
 * again and again, it would never raise the balance.
 */
export async function checkItem(
  uow: Uow,
  row: Pick<AutoTopUpConfig, 'wallet_id' | 'pricing_plan_schedule_id' | 'pricing_item_id'>,
): Promise<void> {
  const wallet = await getOne(uow, walletResource, row.wallet_id)
  const schedule = await getOne(uow, scheduleResource, row.pricing_plan_schedule_id)
  const subscription = await getOne(uow, subscriptionResource, schedule.pricing_plan_subscription_id)
  if (subscription.customer_id !== wallet.customer_id)
    throw refused('pricing_plan_schedule_id', 'The schedule is of another customer than the wallet.')
  const versionId = await versionOfSchedule(uow, schedule, uow.now)
  const versionIds = [versionId, schedule.own_pricing_plan_version_id].flatMap(id => id ?? [])
  const sold = await uow.tx
    .select({ items: pricings.items })
    .from(pricings)
    .where(and(inThisTenant(uow, pricings), inArray(pricings.pricing_plan_version_id, versionIds)))
  const terms = await scheduleTerms(uow, schedule)
  const item = sold.flatMap(({ items }) => soldItems(items, terms)).find(({ id }) => id === row.pricing_item_id)
  const grants = (item?.configs ?? []).some(config =>
    (config.wallet_grants ?? []).some(rule => rule.wallet_type_id === wallet.wallet_type_id),
  )
  // An unknown item is refused by the charge.
  if (!item || grants) return
  throw refused(
    'pricing_item_id',
    'The item grants nothing to the wallet; choose one with wallet_grants for its wallet type.',
  )
}
