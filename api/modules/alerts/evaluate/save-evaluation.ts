// How far an evaluation has come, kept with what it found: one that is cut short, or killed, continues where it was.
import { sql } from 'drizzle-orm'
import type { ReadUow, Uow } from '../../../../shared/database/database.ts'
import { formatInstant } from '../../../../shared/time.ts'
import type { LastEvaluation } from './evaluation-target.ts'

/** The subscription the last evaluation came to; null when it came to its end. */
export async function resumeAfter(uow: ReadUow): Promise<string | null> {
  const { platformId, environment } = uow.tenant
  const { rows } = await uow.tx.execute<{ resume_after: string | null }>(sql`
    select resume_after from alert_evaluations where platform_id = ${platformId} and environment = ${environment}`)
  return rows[0]?.resume_after ?? null
}

/** Notes that an evaluation begins. */
export async function beginEvaluation(uow: Uow): Promise<void> {
  const { platformId, environment } = uow.tenant
  await uow.tx.execute(sql`
    insert into alert_evaluations (platform_id, environment, started_at) values (${platformId}, ${environment}, ${formatInstant(uow.now)})
    on conflict (platform_id, environment) do update set started_at = excluded.started_at`)
}

/** Notes how far it has come; null: to its end, so that what was there when it began has been held against every rule. */
export async function saveProgress(uow: Uow, next: string | null): Promise<void> {
  const { platformId, environment } = uow.tenant
  await uow.tx.execute(sql`
    update alert_evaluations set resume_after = ${next}, seen_until = ${next === null ? sql`started_at` : sql`seen_until`}
    where platform_id = ${platformId} and environment = ${environment}`)
}

/** Notes what was read of a subscription, so that it is not read again until something changes. */
export async function saveWatch(
  uow: Uow,
  subscriptionId: string,
  last: Omit<LastEvaluation, 'looked_at'>,
): Promise<void> {
  const { platformId, environment } = uow.tenant
  await uow.tx.execute(sql`
    insert into alert_watches (platform_id, environment, pricing_plan_subscription_id, looked_at, fingerprint, positions)
    values (${platformId}, ${environment}, ${subscriptionId}, ${formatInstant(uow.now)}, ${last.fingerprint},
      ${sql.param(last.positions)}::bigint[])
    on conflict (platform_id, environment, pricing_plan_subscription_id) do update set
      looked_at = excluded.looked_at, fingerprint = excluded.fingerprint, positions = excluded.positions`)
}
