// X-DRY-RUN: true does all that a change does, up to its answer, and keeps nothing: the unit of work is rolled back. An agent
// shows its user what would change before it changes it.
import { sql } from 'drizzle-orm'
import type { FastifyRequest } from 'fastify'
import type { Uow } from '../../shared/database/database.ts'
import { AppError } from '../../shared/errors.ts'
import type { StoredAnswer } from './idempotency/idempotency.ts'

const HEADER = 'x-dry-run'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Set on the calls that can be tried out. */
    dryRun?: true
  }
}

/** Whether a request is to be tried out only. Throws where that cannot be done: taken for a real call it would do harm. */
export function isDryRun(request: FastifyRequest): boolean {
  const given = request.headers[HEADER]
  if (given === undefined) return false
  if (given !== 'true')
    throw new AppError('BAD_REQUEST', 'Send X-DRY-RUN once, as true, or not at all.', { field: 'X-DRY-RUN' })
  if (request.routeOptions.config?.dryRun) return true
  throw new AppError('INVALID_OPERATION', 'This call cannot be tried out; nothing was done.', { field: 'X-DRY-RUN' })
}

class RolledBack extends Error {
  readonly answer: StoredAnswer

  constructor(answer: StoredAnswer) {
    super('rolled back')
    this.answer = answer
  }
}

/** Ends a unit of work that was a dry run: what is checked at the commit is checked now, and the rest undone by throwing. */
export async function rollBack(uow: Uow, answer: StoredAnswer): Promise<never> {
  await uow.tx.execute(sql`set constraints all immediate`)
  throw new RolledBack(answer)
}

/** The answer of a unit of work, also of one that was rolled back with it. */
export async function answerOf(work: Promise<StoredAnswer>): Promise<StoredAnswer> {
  try {
    return await work
  } catch (error) {
    if (error instanceof RolledBack) return error.answer
    throw error
  }
}
