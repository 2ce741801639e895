// Reads what the tax engine said about the parties of invoices.
import { and, asc, inArray } from 'drizzle-orm'
import type { ReadUow } from '../../../../shared/database/database.ts'
import { groupBy } from '../../../../shared/group-by.ts'
import { idsOf } from '../../../../shared/ids.ts'
import { inThisTenant } from '../../../resource/tenant-condition.ts'
import { usesEngine } from './engine-question.ts'
import type { Parties } from './parties.ts'
import { taxAnswers as t } from './tax-answers-table.ts'

type Both = Pick<Parties, 'customer' | 'billing_entity'>

/** What is known about the parties of each invoice, as a member of `Parties`. No query, and no member, where no engine is asked. */
export async function loadTaxAnswersOf(
  uow: ReadUow,
  all: readonly Both[],
): Promise<(of: Both) => Pick<Parties, 'tax_answers'>> {
  const asking = all.filter(each => usesEngine(each.billing_entity))
  if (asking.length === 0) return () => ({})
  const rows = await uow.tx
    .select({
      customer_id: t.customer_id,
      billing_entity_id: t.billing_entity_id,
      key: t.key,
      on: t.on_day,
      as_of: t.as_of,
      answer: t.answer,
      fault: t.fault,
    })
    .from(t)
    .where(
      and(
        inThisTenant(uow, t),
        inArray(t.customer_id, idsOf('cust', new Set(asking.map(each => each.customer.id)))),
        inArray(t.billing_entity_id, idsOf('bill', new Set(asking.map(each => each.billing_entity.id)))),
      ),
    )
    .orderBy(asc(t.on_day), asc(t.key))
  const byPair = groupBy(rows, row => `${row.customer_id} ${row.billing_entity_id}`)
  return ({ customer, billing_entity }) => {
    if (!usesEngine(billing_entity)) return {}
    const own = byPair.get(`${customer.id} ${billing_entity.id}`) ?? []
    return { tax_answers: own.map(({ key, on, as_of, answer, fault }) => ({ key, on, as_of, answer, fault })) }
  }
}
