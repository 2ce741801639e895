// Mails to the administrators of a tenant about one of its webhooks. The identity host sends them (identity/mail).
import { sql } from 'drizzle-orm'
import type { Uow } from '../../../../shared/database/database.ts'
import { newId } from '../../../../shared/ids.ts'
import { formatInstant } from '../../../../shared/time.ts'

type WebhookMail = {
  readonly kind: 'WEBHOOK_FAILING' | 'WEBHOOK_DISABLED'
  /** Deduplication key: the same for the same notice, so each person gets one mail. */
  readonly about: string
  readonly webhookName: string
  /** Why the last attempt failed. */
  readonly cause: string
}

const ADMINISTRATOR = 'role_administrator'

/** Queues one mail for each ACTIVE user with the administrator role, assigned directly or by a team. */
export async function mailAdministrators(uow: Uow, { kind, about, webhookName, cause }: WebhookMail): Promise<void> {
  const { platformId, environment } = uow.tenant
  const { rows } = await uow.tx.execute<{ user_id: string; platform_name: string }>(sql`
    select m.user_id, p.name as platform_name from user_memberships m
    join platforms p on p.platform_id = m.platform_id and p.environment = m.environment
    where m.platform_id = ${platformId} and m.environment = ${environment} and m.status = 'ACTIVE'
      and (${ADMINISTRATOR} = any(m.role_ids) or exists (select from team_members tm
        join teams t on t.platform_id = tm.platform_id and t.environment = tm.environment and t.id = tm.team_id
        where tm.platform_id = m.platform_id and tm.environment = m.environment and tm.user_id = m.user_id
          and ${ADMINISTRATOR} = any(t.role_ids) and tm.start_at <= ${formatInstant(uow.now)}::timestamptz
          and (tm.end_at is null or ${formatInstant(uow.now)}::timestamptz < tm.end_at)))`)
  for (const { user_id, platform_name } of rows) {
    const data = { platform_name, environment, webhook_name: webhookName, cause }
    await uow.tx.execute(sql`
      select queue_webhook_mail(${user_id}, ${newId('mail')}, ${kind}, ${`${about} ${kind} ${user_id}`}, ${JSON.stringify(data)}::jsonb)`)
  }
}
