// Idempotency-Key for POSTs: the answer is stored in the transaction of the change, so both exist or neither
// (semantics 9.5: kept 48 hours; same key with another body 409; still running 422; a refused request may be corrected).
import { hash } from 'node:crypto'
import { sql } from 'drizzle-orm'
import type { FastifyRequest } from 'fastify'
import type { Uow } from '../../shared/database/database.ts'
import { AppError } from '../../shared/errors.ts'

const KEY_LENGTH_MAX = 255

export type StoredAnswer = { readonly status: number; readonly body: string }

/** The request's key, or null when it has none. Throws when it is empty or too long. */
export function idempotencyKeyOf(request: FastifyRequest): string | null {
  const key = request.headers['idempotency-key']
  if (key === undefined) return null
  if (typeof key !== 'string' || key === '' || key.length > KEY_LENGTH_MAX) {
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

/** The stored answer of an earlier run with this key, or null when this is the first. Holds the key until commit. */
export async function findStoredAnswer(uow: Uow, request: FastifyRequest, key: string): Promise<StoredAnswer | null> {
  const { tenant, tx } = uow
  const { method, path } = placeOf(request)
  const lock = `${tenant.platformId}\n${tenant.environment}\n${method}\n${path}\n${key}`
  const locked = await tx.execute<{ held: boolean }>(
    sql`select pg_try_advisory_xact_lock(hashtextextended(${lock}, 0)) as held`,
  )
  if (locked.rows[0]?.held !== true) {
    throw new AppError(
      'IDEMPOTENCY_KEY_IN_USE',
      'A request with this Idempotency-Key is still running; wait for its answer.',
    )
  }
  const found = await tx.execute<{ request_hash: string; response_status: number; response_body: string }>(sql`
    select request_hash, response_status, response_body from idempotency_keys
    where platform_id = ${tenant.platformId} and environment = ${tenant.environment}
      and method = ${method} and path = ${path} and key = ${key}`)
  const row = found.rows[0]
  if (!row) return null
  if (row.request_hash !== requestHash(request)) {
    throw new AppError(
      'IDEMPOTENCY_CHECK_FAILED',
      'This Idempotency-Key was used with another request; choose a new key.',
      {
        field: 'Idempotency-Key',
      },
    )
  }
  return { status: row.response_status, body: row.response_body }
}

/** Stores the answer of the first run with this key. */
export async function storeAnswer(uow: Uow, request: FastifyRequest, key: string, answer: StoredAnswer): Promise<void> {
  const { tenant, tx } = uow
  const { method, path } = placeOf(request)
  await tx.execute(sql`
    insert into idempotency_keys (platform_id, environment, method, path, key, request_hash, response_status, response_body)
    values (${tenant.platformId}, ${tenant.environment}, ${method}, ${path}, ${key}, ${requestHash(request)}, ${answer.status}, ${answer.body})`)
}

const placeOf = (request: FastifyRequest) => ({ method: request.method, path: request.url.split('?')[0] ?? '' })
const requestHash = (request: FastifyRequest): string =>
  hash('sha256', JSON.stringify([request.query, request.body ?? null]), 'hex')
