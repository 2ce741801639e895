// Rate cards: plans whose schedules are priced at each moment by the version in force then, so that new prices need no new
// schedule (semantics 3.1).
import { and, asc, eq, isNotNull, ne, sql } from 'drizzle-orm'
import { localDateOf, startOfLocalDay, type Zone } from '../../../../shared/billing/local-days.ts'
import type { Span } from '../../../../shared/billing/periods.ts'
import type { ReadUow, Uow } from '../../../../shared/database/database.ts'
import { anyOf } from '../../../../shared/database/statements/any-of.ts'
import { AppError } from '../../../../shared/errors.ts'
import { groupBy } from '../../../../shared/group-by.ts'
import { idsOf } from '../../../../shared/ids.ts'
import { at, type Instant, instantOf } from '../../../../shared/time.ts'
import { inThisTenant } from '../../../resource/tenant-condition.ts'
import { type PricingPlanVersion, pricingPlans, pricingPlanVersions } from './table.ts'

/** A version of a rate card, and from when on it is in force. */
export type RateCardVersion = { readonly pricing_plan_version_id: string; readonly start_at: string }
/** The versions of a rate card that are ACTIVE, in order of time. */
export type RateCardVersions = readonly RateCardVersion[]

/** By plan, the ACTIVE versions of those that are rate cards. */
export async function loadRateCards(
  uow: ReadUow,
  planIds: readonly string[],
): Promise<ReadonlyMap<string, RateCardVersions>> {
  if (planIds.length === 0) return new Map()
  const v = pricingPlanVersions
  const rows = await uow.tx
    .select({ plan: v.pricing_plan_id, id: v.id, rate_card: v.rate_card })
    .from(v)
    .where(
      and(
        inThisTenant(uow, v),
        anyOf(v.pricing_plan_id, idsOf('pric', new Set(planIds))),
        eq(v.status, 'ACTIVE'),
        isNotNull(v.rate_card),
      ),
    )
    .orderBy(asc(sql`${v.rate_card} ->> 'start_at'`))
  return new Map(
    [...groupBy(rows, row => row.plan)].map(([plan, own]) => [
      plan,
      own.flatMap(({ id, rate_card }) =>
        rate_card ? [{ pricing_plan_version_id: id, start_at: rate_card.start_at }] : [],
      ),
    ]),
  )
}

/** The version in force at a moment; null before the first one. */
export const versionAt = (versions: RateCardVersions, moment: string): RateCardVersion | null =>
  versions.findLast(({ start_at }) => start_at <= moment) ?? null

/** The versions in force during some of a time, in order of time. */
export function versionsDuring(
  versions: RateCardVersions,
  { start_at, end_at }: { readonly start_at: string; readonly end_at: string | null },
): RateCardVersion[] {
  const first = versionAt(versions, start_at)
  return versions.filter(each => each === first || (each.start_at > start_at && (!end_at || each.start_at < end_at)))
}

/** A version and the part of a time that it prices. */
export type VersionSpan = { readonly pricing_plan_version_id: string; readonly span: Span }

/**
 * How the versions of a rate card share a time. One takes over at the start of the local day on which it comes into force, so
 * that no day is priced by two (semantics 3.1).
 */
export function versionSpans(versions: RateCardVersions, of: Span, zone: Zone): VersionSpan[] {
  const starts = versions.map(({ start_at }): Instant => startOfLocalDay(localDateOf(at(start_at), zone), zone))
  return versions.flatMap(({ pricing_plan_version_id }, index) => {
    const start = instantOf(Math.max(of.start, starts[index] ?? of.start))
    const ends = [of.end, starts[index + 1] ?? null].filter(end => end !== null)
    const end = ends.length === 0 ? null : instantOf(Math.min(...ends))
    return end !== null && end <= start ? [] : [{ pricing_plan_version_id, span: { start, end } }]
  })
}

/** Throws unless a version says when it comes into force exactly if it is one of a rate card, and no other version does then. */
export async function checkRateCard(uow: Uow, row: PricingPlanVersion): Promise<void> {
  const [plan] = await uow.tx
    .select({ variant: pricingPlans.variant })
    .from(pricingPlans)
    .where(and(inThisTenant(uow, pricingPlans), eq(pricingPlans.id, row.pricing_plan_id)))
  if (plan?.variant !== 'RATE_CARD') {
    if (!row.rate_card) return
    throw new AppError('INVALID_FIELD', 'Only versions of a RATE_CARD plan have a start; leave rate_card out.', {
      field: 'rate_card',
    })
  }
  if (row.status !== 'ACTIVE') return
  const field = 'rate_card.start_at'
  if (!row.rate_card) {
    throw new AppError(
      'MISSING_FIELD',
      'Give rate_card.start_at: when this version of the rate card comes into force.',
      { field },
    )
  }
  const v = pricingPlanVersions
  const [other] = await uow.tx
    .select({ version: v.version })
    .from(v)
    .where(
      and(
        inThisTenant(uow, v),
        eq(v.pricing_plan_id, row.pricing_plan_id),
        ne(v.id, row.id ?? ''),
        eq(v.status, 'ACTIVE'),
        sql`${v.rate_card} ->> 'start_at' = ${row.rate_card.start_at}`,
      ),
    )
  if (!other) return
  const message = `Version ${other.version} already comes into force at ${row.rate_card.start_at}; give this one another time.`
  throw new AppError('INVALID_FIELD', message, { field })
}
