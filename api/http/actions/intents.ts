// The rows of unfinished actions: who works on one, until when, and that only the last who took it on settles it. One that keeps
// failing is tried again after pauses that grow, for a day.
import { sql } from 'drizzle-orm'
import type { Actor, Uow } from '../../../shared/database/database.ts'
import { newId } from '../../../shared/ids.ts'
import type { Reservation } from '../idempotency/idempotency.ts'

/** Longer than a request may take; then the worker, or a repeat of the call, takes it on. */
const LEASE_SECONDS = 30
/** The first pause of the worker after a fault; each further one is twice the last, up to an hour. */
const PAUSE_SECONDS = 30
const PAUSE_SECONDS_MAX = 3_600
/** After this a fault ends the action: FAILED. */
export const TRIED_HOURS = 24

/** An action that was begun, in the hands of one who works on it. */
export type Intent<I = unknown> = {
  readonly id: string
  /** What `begin` gave. */
  readonly data: I
  readonly action: string | null
  readonly actor: Actor
  readonly reservation: Reservation
  readonly fence: string
  /** How often it was taken on, this time included. */
  readonly attempts: number
  /** It was begun more than a day ago: another fault ends it. */
  readonly isOverdue: boolean
}

type Row = {
  id: string
  action: string | null
  intent: unknown
  actor: Omit<Actor, 'may'>
  method: string
  path: string
  key: string | null
  request_hash: string
  fence: string
  attempts: number
  is_overdue: boolean
  [column: string]: unknown
}

const COLUMNS = sql`id, action, intent, actor, method, path, key, request_hash, fence::text as fence, attempts,
  created_at < clock_timestamp() - make_interval(hours => ${TRIED_HOURS}) as is_overdue`
const UNTIL = sql`clock_timestamp() + make_interval(secs => ${LEASE_SECONDS})`

const intentOf = (row: Row): Intent => ({
  id: row.id,
  data: row.intent,
  action: row.action,
  actor: row.actor,
  reservation: { method: row.method, path: row.path, key: row.key, requestHash: row.request_hash },
  fence: row.fence,
  attempts: row.attempts,
  isOverdue: row.is_overdue,
})

/** Writes the intent of an action that begins, leased to its caller. */
export async function insertIntent(
  uow: Uow,
  of: { readonly action: string | null; readonly data: unknown; readonly reservation: Reservation },
): Promise<Intent> {
  const { tenant, actor } = uow
  const { may: _may, ...who } = actor
  const { method, path, key, requestHash } = of.reservation
  const { rows } = await uow.tx.execute<Row>(sql`
    insert into action_intents (platform_id, environment, id, action, intent, actor, method, path, key, request_hash, leased_until)
    values (${tenant.platformId}, ${tenant.environment}, ${newId('inte')}, ${of.action}, ${JSON.stringify(of.data ?? null)}::jsonb,
      ${JSON.stringify(who)}::jsonb, ${method}, ${path}, ${key}, ${requestHash}, ${UNTIL})
    returning ${COLUMNS}`)
  const [row] = rows
  if (!row) throw new Error('an intent was not written')
  return intentOf(row)
}

export type Reserved = { readonly id: string; readonly requestHash: string; readonly leased: boolean }

/** The unfinished action that has this Idempotency-Key, held until commit. */
export async function findReserved({ tx, tenant }: Uow, { method, path, key }: Reservation): Promise<Reserved | null> {
  const { rows } = await tx.execute<{ id: string; request_hash: string; leased: boolean }>(sql`
    select id, request_hash, leased_until > clock_timestamp() as leased from action_intents
    where platform_id = ${tenant.platformId} and environment = ${tenant.environment}
      and method = ${method} and path = ${path} and key = ${key} for update`)
  const [row] = rows
  return row ? { id: row.id, requestHash: row.request_hash, leased: row.leased } : null
}

/** Takes on an action that no one works on; null when someone does, or it is finished. Whoever had it can no longer settle it. */
export async function takeIntent({ tx, tenant }: Uow, id: string): Promise<Intent | null> {
  const { rows } = await tx.execute<Row>(sql`
    update action_intents set fence = fence + 1, attempts = attempts + 1, leased_until = ${UNTIL}, updated_at = now()
    where platform_id = ${tenant.platformId} and environment = ${tenant.environment} and id = ${id}
      and leased_until <= clock_timestamp() and failed_at is null returning ${COLUMNS}`)
  const [row] = rows
  return row ? intentOf(row) : null
}

const mine = ({ tenant }: Uow, { id, fence }: Intent) =>
  sql`platform_id = ${tenant.platformId} and environment = ${tenant.environment} and id = ${id} and fence = ${fence}`

/** Ends the intent in the transaction that settles it; false when someone else has taken it on, or finished it, meanwhile. */
export async function removeIntent(uow: Uow, intent: Intent): Promise<boolean> {
  const { rowCount } = await uow.tx.execute(sql`delete from action_intents where ${mine(uow, intent)}`)
  return rowCount === 1
}

/** Lets go of an action that could not be finished: a repeat of the call may take it on at once, the worker after a pause that grows. */
export async function releaseIntent(uow: Uow, intent: Intent): Promise<void> {
  const pause = Math.min(PAUSE_SECONDS * 2 ** (intent.attempts - 1), PAUSE_SECONDS_MAX)
  await uow.tx.execute(sql`
    update action_intents set leased_until = clock_timestamp(), retry_at = clock_timestamp() + make_interval(secs => ${pause}),
      updated_at = now()
    where ${mine(uow, intent)}`)
}

/**
 * Ends an action that is given up: its row stays, FAILED, with the code of its last fault, and without its Idempotency-Key. False
 * when someone else has taken it on meanwhile.
 */
export async function failIntent(uow: Uow, intent: Intent, fault: string): Promise<boolean> {
  const { rowCount } = await uow.tx.execute(sql`
    update action_intents set failed_at = clock_timestamp(), fault = ${fault}, key = null, updated_at = now()
    where ${mine(uow, intent)}`)
  return rowCount === 1
}
