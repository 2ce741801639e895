// What happens at twenty failures in a row, and the warning before that (contract: states of a webhook).
import { sql } from 'drizzle-orm'
import { type Database, inTenant, SERVICE, type Uow } from '../../../../shared/database/database.ts'
import { formatInstant } from '../../../../shared/time.ts'
import { tenantOf } from '../../../jobs/tenant-jobs.ts'
import { saveChange } from '../../../resource/commands.ts'
import { findOne, lockOne } from '../../../resource/store.ts'
import { webhookResource } from '../webhook.ts'
import { mailAdministrators } from './mail-administrators.ts'
import type { TurnResult } from './queue/queue-store.ts'
import { saveAttempts } from './save-attempts.ts'

/**
 * Disables the webhook after its last allowed failure. Saves its attempts, reason, event and mails in one transaction.
 * Only the attempts are saved when another worker has taken the queue meanwhile, or when the webhook was switched off.
 */
export async function disableWebhook(database: Database, turn: TurnResult): Promise<void> {
  const { queue, attempts, failures, position } = turn
  const cause = turn.cause ?? ''
  await inTenant(database, tenantOf(queue), SERVICE, async uow => {
    await saveAttempts(uow, queue.webhook_id, attempts)
    const webhook = await lockOne(uow, webhookResource, queue.webhook_id)
    if (!webhook?.active || !(await recordLast(uow, turn, position))) return
    const reason = `${failures} deliveries in a row failed, the last at ${formatInstant(uow.now)}. ${cause}`
    await saveChange(uow, webhookResource, webhook, { active: false, disabled_reason: reason })
    const about = `webhook ${webhook.id} ${queue.fence}`
    await mailAdministrators(uow, { kind: 'WEBHOOK_DISABLED', about, webhookName: webhook.name, cause })
  })
}

async function recordLast(uow: Uow, { queue, failures, cause }: TurnResult, position: string): Promise<boolean> {
  const { rowCount } = await uow.tx.execute(sql`
    update webhook_queues set position = ${position}::bigint, failures = ${failures}, cause = ${cause}, leased_until = '-infinity'
    where platform_id = ${queue.platform_id} and environment = ${queue.environment} and webhook_id = ${queue.webhook_id}
      and fence = ${queue.fence}::bigint`)
  return rowCount === 1
}

/** Warns the administrators that the webhook is about to be disabled. */
export async function warnAdministrators(database: Database, { queue, cause }: TurnResult): Promise<void> {
  await inTenant(database, tenantOf(queue), SERVICE, async uow => {
    const webhook = await findOne(uow, webhookResource, queue.webhook_id)
    if (!webhook?.active) return
    const about = `webhook ${webhook.id} ${queue.fence}`
    const mail = { kind: 'WEBHOOK_FAILING', about, webhookName: webhook.name, cause: cause ?? '' } as const
    await mailAdministrators(uow, mail)
  })
}
