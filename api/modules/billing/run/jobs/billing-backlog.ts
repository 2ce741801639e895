// What billing has not done yet: the subscriptions that are due, of one tenant or of all.
import { type SQL, sql } from 'drizzle-orm'
import type { ReadUow, SystemTransaction } from '../../../../../shared/database/database.ts'
import { formatInstant, type Instant, instantOf } from '../../../../../shared/time.ts'
import { hasNoTestClock } from '../../../subscriptions/billing-time/next-billing.ts'

export type BillingBacklog = {
  readonly due: number
  /** Of those, the ones that a run holds now. */
  readonly running: number
  /** Of those, the ones that a run left without billing them, because it failed or was killed. */
  readonly failing: number
  readonly oldestDueAt: Instant | null
}

/**
 * Condition of the subscriptions `s` that are due at `now`. Those of a test clock live in its time, and are billed when it is
 * advanced.
 */
export const isDue = (now: Instant): SQL => {
  const time = formatInstant(now)
  return sql`(s.next_billing_at <= ${time}::timestamptz or (s.status = 'ACTIVE' and s.cancelled_at <= ${time}::timestamptz))
    and ${hasNoTestClock('s')}`
}

type Row = { due: number; running: number; failing: number; oldest: string | null }

/** Counts what is due at `now` of the subscriptions `s` that meet `where`; all when it is absent. */
export async function billingBacklog(
  tx: ReadUow['tx'] | SystemTransaction,
  now: Instant,
  where: SQL = sql`true`,
): Promise<BillingBacklog> {
  const time = formatInstant(now)
  const { rows } = await tx.execute<Row>(sql`
    select count(*)::int as due,
      count(*) filter (where s.billing_claimed_until > ${time}::timestamptz)::int as running,
      count(*) filter (where s.billing_claimed_until <= ${time}::timestamptz)::int as failing,
      (extract(epoch from min(least(s.next_billing_at, case when s.status = 'ACTIVE' then s.cancelled_at end))) * 1000)::bigint::text as oldest
    from pricing_plan_subscriptions s where ${where} and s.status <> 'DRAFT' and ${isDue(now)}`)
  const [row] = rows
  if (!row) throw new Error('an aggregate has one row')
  const { due, running, failing, oldest } = row
  return { due, running, failing, oldestDueAt: oldest === null ? null : instantOf(Number(oldest)) }
}
