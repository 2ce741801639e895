// What subscriptions show besides their own columns.
import { and, asc, eq, or } from 'drizzle-orm'
import type { ReadUow } from '../../../../shared/database/database.ts'
import { anyOf } from '../../../../shared/database/statements/any-of.ts'
import { formatInstant } from '../../../../shared/time.ts'
import type { Resource, Row, StoredRow } from '../../../resource/define-resource.ts'
import { extensionsOf } from '../../../resource/rules.ts'
import { findMany } from '../../../resource/store.ts'
import { inThisTenant } from '../../../resource/tenant-condition.ts'
import {
  loadRateCards,
  type RateCardVersions,
  versionAt,
  versionsDuring,
} from '../../catalog/pricing-plans/rate-card.ts'
import { billingEntityResource } from '../../parties/billing-entities/billing-entity.ts'
import { customerResource } from '../../parties/customers/resource.ts'
import { NEXT_INVOICES } from '../billing-time/next-invoices.ts'
import { isWithoutPlan } from '../own-prices/show-own-prices.ts'
import { type Schedule, type Subscription, schedules } from '../table.ts'

/** What a schedule that sells its own prices alone shows. */
const NO_PLAN = { pricing_plan_id: null, pricing_plan_version_id: null }

const REALIGN = 'realign_invoice_date_to_pricing_plan_schedule_start_at'

/**
 * The references of both parties, the next invoice, and the schedules that are active or pending review; other drafts are not shown here
 * (contract).
 */
export async function computeViews(uow: ReadUow, rows: readonly Subscription[]): Promise<readonly Row[]> {
  if (rows.length === 0) return []
  const customers = await referencesOf(
    uow,
    customerResource,
    rows.flatMap(row => row.customer_id ?? []),
  )
  const entities = await referencesOf(
    uow,
    billingEntityResource,
    rows.map(row => row.billing_entity_id),
  )
  const ids = rows.map(row => row.id)
  const now = formatInstant(uow.now)
  const listed = await uow.tx
    .select()
    .from(schedules)
    .where(
      and(
        inThisTenant(uow, schedules),
        anyOf(schedules.pricing_plan_subscription_id, ids),
        or(eq(schedules.status, 'ACTIVE'), eq(schedules.approval_status, 'PENDING_REVIEW')),
      ),
    )
    .orderBy(asc(schedules.start_at))
  const active = listed.filter(({ status }) => status === 'ACTIVE')
  const pending = listed.filter(({ approval_status }) => approval_status === 'PENDING_REVIEW')
  const cards = await loadRateCards(
    uow,
    active.map(schedule => schedule.pricing_plan_id),
  )
  const [nextInvoices] = extensionsOf(uow, NEXT_INVOICES)
  const next = await nextInvoices?.(uow, ids)
  return rows.map(row => ({
    next_invoice: next?.get(row.id) ?? null,
    customer_reference: (row.customer_id !== null && customers.get(row.customer_id)) || null,
    billing_entity_reference: entities.get(row.billing_entity_id) ?? null,
    pending_review_pricing_plan_schedule_ids: pending
      .filter(schedule => schedule.pricing_plan_subscription_id === row.id)
      .map(({ id }) => id),
    pricing_plan_schedule_infos: active
      .filter(schedule => schedule.pricing_plan_subscription_id === row.id)
      .map(schedule => {
        const { id, pricing_plan_id, start_at, end_at, [REALIGN]: realign } = schedule
        const sold = { pricing_plan_id, pricing_plan_version_id: versionNow(schedule, cards.get(pricing_plan_id), now) }
        return { id, ...(isWithoutPlan(schedule) ? NO_PLAN : sold), start_at, end_at, [REALIGN]: realign }
      }),
  }))
}

/** Of a rate card: the version in force now, or at the nearest moment of the schedule (contract: expandable on rate card plans). */
function versionNow(
  schedule: Pick<Schedule, 'pricing_plan_version_id' | 'start_at' | 'end_at'>,
  card: RateCardVersions | undefined,
  now: string,
): string {
  const sold = card ? versionsDuring(card, schedule) : []
  return (versionAt(sold, now) ?? sold[0])?.pricing_plan_version_id ?? schedule.pricing_plan_version_id
}

async function referencesOf(
  uow: ReadUow,
  resource: Resource<StoredRow & { readonly reference: string | null }>,
  ids: readonly string[],
): Promise<Map<string, string | null>> {
  return new Map((await findMany(uow, resource, ids)).map(row => [row.id, row.reference]))
}
