// A discount, a markup, a commitment or a number of seats changes invoices from a moment on, and a FINAL invoice never
// changes. So that moment must lie in a billing period whose invoice is not FINAL (contract: discounts by invoice status).
import { sql } from 'drizzle-orm'
import type { Uow } from '../../../../shared/database/database.ts'
import { AppError } from '../../../../shared/errors.ts'
import { formatInstant } from '../../../../shared/time.ts'
import type { ClauseChange } from '../../subscriptions/clauses/clause-entries.ts'
import { IS_ISSUED } from '../late/closed-usage.ts'

/**
 * Throws INVALID_FIELD when one of these changes takes effect in a closed billing period. `noun` names what changes in the
 * message; by default it is the first name of the path. The caller holds the subscription's lock.
 */
export async function refuseClosedPeriods(
  uow: Uow,
  subscriptionId: string,
  changes: readonly ClauseChange[],
  noun?: string,
): Promise<void> {
  const { platformId, environment } = uow.tenant
  for (const { from, path } of changes) {
    const { rows } = await uow.tx.execute<{ until: string }>(sql`
      select to_char(period_end at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') as until from invoices v
      where platform_id = ${platformId} and environment = ${environment} and pricing_plan_subscription_id = ${subscriptionId}
        and ${IS_ISSUED} and not advance_only
        and period_start <= ${formatInstant(from)}::timestamptz and period_end > ${formatInstant(from)}::timestamptz
      limit 1`)
    const [closed] = rows
    if (!closed) continue
    const message =
      `It would change a ${noun ?? path.split('.')[0]} from ${formatInstant(from)} on, and the invoice of that billing period is FINAL. ` +
      `Have it start, or end, at ${closed.until} or later.`
    throw new AppError('INVALID_FIELD', message, { field: path })
  }
}
