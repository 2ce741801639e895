// Why the charge behind a grant is gone (contract: Wallet grants and balances, revert_reason).
import { and, eq } from 'drizzle-orm'
import type { ReadUow } from '../../../../shared/database/database.ts'
import { idOf } from '../../../../shared/ids.ts'
import { inThisTenant } from '../../../resource/tenant-condition.ts'
import type { ChargeOfGrant } from '../../invoices/charge-grants.ts'
import type { InvoiceRow } from '../../invoices/table.ts'
import { isEnding } from '../../subscriptions/ending/inactive-periods.ts'
import { schedules, subscriptions } from '../../subscriptions/table.ts'
import type { RevertReason } from '../schema.ts'
import type { WalletGrant } from '../table.ts'

/** What decides on the reason. */
export type Circumstances = {
  readonly subscription: {
    readonly status: string
    readonly inactive_periods: readonly { readonly type?: string; readonly start_at: string }[]
  } | null
  /** Whether a user made the invoice VOID, and its period still exists. */
  readonly isVoided: boolean
  /** The ACTIVE schedules of the subscription. */
  readonly schedules: readonly {
    readonly id: string
    readonly pricing_plan_id: string
    readonly start_at: string
    readonly end_at: string | null
  }[]
}

/** The reason, from the widest cause to the narrowest. Pure. */
export function revertReason(
  { source, charge }: { readonly source: string; readonly charge: ChargeOfGrant },
  { subscription, isVoided, schedules: all }: Circumstances,
): RevertReason {
  if (subscription?.status === 'VOID') return 'SUBSCRIPTION_VOIDED'
  const ends = (type: string): boolean =>
    (subscription?.inactive_periods ?? []).some(
      period => period.type === type && Date.parse(period.start_at) < Date.parse(charge.service_end_at),
    )
  if (isVoided) return 'INVOICE_VOIDED'
  if (ends('UPGRADE')) return 'SUBSCRIPTION_UPGRADED'
  if (ends('CANCEL')) return 'SUBSCRIPTION_CANCELLED'
  const isUndone = charge.cancelled && !isEnding(subscription?.inactive_periods ?? [])
  if (isUndone) return 'SUBSCRIPTION_CANCEL_UNDONE'
  const schedule = all.find(({ id }) => id === charge.schedule_id)
  if (!schedule) return 'SCHEDULE_DELETED'
  // Its plan gave way to another one, which starts where it ends now.
  const isUpgraded =
    schedule.end_at !== charge.schedule_end_at &&
    all.some(each => each.start_at === schedule.end_at && each.pricing_plan_id !== schedule.pricing_plan_id)
  if (isUpgraded) return 'SUBSCRIPTION_UPGRADED'
  const moved = schedule.start_at !== charge.schedule_start_at || schedule.end_at !== charge.schedule_end_at
  // Its seat ended before the period, or was never in it.
  if (!moved && source === 'PER_SEAT') return 'WALLET_GRANT_REVERTED'
  return 'SCHEDULE_DATES_CHANGED'
}

/**
 * Whether a call reverted the grant: it then stays reverted. One that was reverted with its charge is granted again when
 * the charge is there again, such as that of a seat that is assigned again.
 */
export const isRevertedByCall = ({ revert_reason, charge }: Pick<WalletGrant, 'revert_reason' | 'charge'>): boolean =>
  revert_reason === 'WALLET_GRANT_REVERTED' && charge?.gone !== true

/** Gives the reason for each grant of an invoice whose charge is gone. */
export async function loadReason(
  uow: ReadUow,
  {
    status,
    holds_period,
    pricing_plan_subscription_id: subscriptionId,
  }: Pick<InvoiceRow, 'status' | 'holds_period' | 'pricing_plan_subscription_id'>,
): Promise<(grant: WalletGrant) => RevertReason> {
  const [s, h] = [subscriptions, schedules]
  const id = subscriptionId === null ? null : idOf('ppsu', subscriptionId)
  const [subscription = null] =
    id === null
      ? []
      : await uow.tx
          .select({ status: s.status, inactive_periods: s.inactive_periods })
          .from(s)
          .where(and(inThisTenant(uow, s), eq(s.id, id)))
  const own =
    id === null
      ? []
      : await uow.tx
          .select({ id: h.id, pricing_plan_id: h.pricing_plan_id, start_at: h.start_at, end_at: h.end_at })
          .from(h)
          .where(and(inThisTenant(uow, h), eq(h.pricing_plan_subscription_id, id), eq(h.status, 'ACTIVE')))
  const circumstances = { subscription, isVoided: status === 'VOID' && holds_period, schedules: own }
  return ({ source, charge }) => (charge === null ? 'INVOICE_VOIDED' : revertReason({ source, charge }, circumstances))
}
