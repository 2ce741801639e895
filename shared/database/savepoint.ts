// A part of a transaction that may be refused without the rest.
import { sql } from 'drizzle-orm'
import { AppError } from '../errors.ts'
import { mapDriverError } from './driver-errors.ts'
import type { Transaction } from './transaction.ts'

/**
 * Runs `work`. When it is refused, what it wrote is undone and the refusal is returned; the transaction goes on. Throws anything else,
 * and refusals after which the whole transaction is to be run again. Calls must not be nested.
 */
export async function tryInTransaction<T>(
  tx: Transaction,
  work: () => Promise<T>,
): Promise<{ readonly done: T } | { readonly refused: AppError }> {
  await tx.execute(sql`savepoint tried`)
  try {
    const done = await work()
    await tx.execute(sql`release savepoint tried`)
    return { done }
  } catch (error) {
    const refused = mapDriverError(error)
    if (!(refused instanceof AppError) || refused.code === 'SERVICE_UNAVAILABLE') throw error
    await tx.execute(sql`rollback to savepoint tried; release savepoint tried`)
    return { refused }
  }
}
