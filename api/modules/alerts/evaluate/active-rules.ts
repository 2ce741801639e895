// The rules an evaluation goes by, and whether they still are when it has found something.
import { isDeepStrictEqual } from 'node:util'
import { and, asc, eq, inArray } from 'drizzle-orm'
import type { ReadUow, Uow } from '../../../../shared/database/database.ts'
import { inThisTenant } from '../../../resource/tenant-condition.ts'
import { type AlertRule, alertRules } from '../table.ts'

/** The ACTIVE rules of a type, in a fixed order. */
export async function activeRules(uow: ReadUow, type: AlertRule['type']): Promise<AlertRule[]> {
  return await uow.tx
    .select()
    .from(alertRules)
    .where(and(inThisTenant(uow, alertRules), eq(alertRules.status, 'ACTIVE'), eq(alertRules.type, type)))
    .orderBy(asc(alertRules.id))
}

/**
 * Locks the rules that are still as they were loaded, until this commits, and returns their ids: a rule that was changed or
 * ended meanwhile makes no alert by what it was.
 */
export async function lockUnchangedRules(uow: Uow, rules: readonly AlertRule[]): Promise<ReadonlySet<string>> {
  if (rules.length === 0) return new Set()
  const found = await uow.tx
    .select()
    .from(alertRules)
    .where(
      and(
        inThisTenant(uow, alertRules),
        inArray(
          alertRules.id,
          rules.map(({ id }) => id),
        ),
      ),
    )
    .orderBy(asc(alertRules.id))
    .for('share')
  return new Set(found.filter(row => rules.some(rule => isDeepStrictEqual(row, rule))).map(({ id }) => id))
}
