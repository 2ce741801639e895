// Idempotency-Key for POSTs: the answer is stored in the transaction of the change, so both exist or neither
// (semantics 9.5: kept 48 hours; same key with another body 409; still running 422; a refused request may be corrected).
import { hash } from 'node:crypto'
import { sql } from 'drizzle-orm'
import type { FastifyRequest } from 'fastify'
import type { Uow } from '../../../shared/database/database.ts'
import { AppError } from '../../../shared/errors.ts'

const KEY_LENGTH_MAX = 255

export type StoredAnswer = { readonly status: number; readonly body: string }

/** What a repeat is known by: the call, its Idempotency-Key (null without one), and what it says. */
export type Reservation = {
  readonly method: string
  readonly path: string
  readonly key: string | null
  readonly requestHash: string
}

/** The reservation of a request; its key is null when it has none. Throws when that is empty, too long or given twice. */
export function reservationOf(request: FastifyRequest): Reservation {
  const key = idempotencyKeyOf(request)
  return {
    method: request.method,
    path: request.url.split('?')[0] ?? '',
    key,
    requestHash: key === null ? '' : hash('sha256', JSON.stringify([request.query, request.body ?? null]), 'hex'),
  }
}

function idempotencyKeyOf(request: FastifyRequest): string | null {
  const key = request.headers['idempotency-key']
  if (key === undefined) return null
  // Node joins what is given twice, so that it looks like one.
  const times = request.raw.rawHeaders.filter(
    (text, index) => index % 2 === 0 && text.toLowerCase() === 'idempotency-key',
  )
  if (typeof key !== 'string' || key === '' || key.length > KEY_LENGTH_MAX || times.length > 1) {
    throw new AppError(
      'IDEMPOTENCY_CHECK_FAILED',
      `Idempotency-Key must be 1 to ${KEY_LENGTH_MAX} characters, given once.`,
      {
        field: 'Idempotency-Key',
        status: 400,
      },
    )
  }
  return key
}

/** The refusal while another request works on the same key. */
export const stillRunning = (): AppError =>
  new AppError('IDEMPOTENCY_KEY_IN_USE', 'A request with this Idempotency-Key is still running; wait for its answer.', {
    retryAfterSeconds: 1,
  })

/** Throws when the key was used with another request than `known`. */
export function checkReservation({ requestHash }: Reservation, known: string): void {
  if (known === requestHash) return
  throw new AppError(
    'IDEMPOTENCY_CHECK_FAILED',
    'This Idempotency-Key was used with another request; choose a new key.',
    { field: 'Idempotency-Key' },
  )
}

const lockOf = ({ tenant }: Uow, { method, path, key }: Reservation) =>
  sql`hashtextextended(${`${tenant.platformId}\n${tenant.environment}\n${method}\n${path}\n${key}`}, 0)`

/** Locks the key until commit; a repeat that comes meanwhile is refused, and does not wait. */
export async function lockIdempotencyKey(uow: Uow, reservation: Reservation): Promise<void> {
  if (reservation.key !== null) await uow.tx.execute(sql`select pg_advisory_xact_lock(${lockOf(uow, reservation)})`)
}

/** The stored answer of an earlier run with this key; null when this is the first, or has none. Locks the key until commit. */
export async function findStoredAnswer(uow: Uow, reservation: Reservation): Promise<StoredAnswer | null> {
  const { tenant, tx } = uow
  const { method, path, key } = reservation
  if (key === null) return null
  const locked = await tx.execute<{ held: boolean }>(
    sql`select pg_try_advisory_xact_lock(${lockOf(uow, reservation)}) as held`,
  )
  if (locked.rows[0]?.held !== true) throw stillRunning()
  const found = await tx.execute<{ request_hash: string; response_status: number; response_body: string }>(sql`
    select request_hash, response_status, response_body from idempotency_keys
    where platform_id = ${tenant.platformId} and environment = ${tenant.environment}
      and method = ${method} and path = ${path} and key = ${key}`)
  const row = found.rows[0]
  if (!row) return null
  checkReservation(reservation, row.request_hash)
  return { status: row.response_status, body: row.response_body }
}

/** Stores the answer of the first run with this key; without a key there is nothing to store. */
export async function storeAnswer(uow: Uow, reservation: Reservation, answer: StoredAnswer): Promise<void> {
  const { tenant, tx } = uow
  const { method, path, key, requestHash } = reservation
  if (key === null) return
  await tx.execute(sql`
    insert into idempotency_keys (platform_id, environment, method, path, key, request_hash, response_status, response_body)
    values (${tenant.platformId}, ${tenant.environment}, ${method}, ${path}, ${key}, ${requestHash}, ${answer.status}, ${answer.body})`)
}
