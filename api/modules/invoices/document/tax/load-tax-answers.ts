// Reads what the tax engine said about the parties of invoices.
import { and, asc, gte } from 'drizzle-orm'
import type { ReadUow } from '../../../../../shared/database/database.ts'
import { anyOf } from '../../../../../shared/database/statements/any-of.ts'
import { groupBy } from '../../../../../shared/group-by.ts'
import { idsOf } from '../../../../../shared/ids.ts'
import { formatInstant, type Instant, instantOf } from '../../../../../shared/time.ts'
import { inThisTenant } from '../../../../resource/tenant-condition.ts'
import type { Parties } from '../parties.ts'
import { usesEngine } from './engine-question.ts'
import { taxAnswers as t } from './tax-answers-table.ts'

/** The parties of an invoice, and when the earliest invoice starts that may be computed with what is loaded. */
export type TaxedParties = Pick<Parties, 'customer' | 'billing_entity'> & { readonly since: Instant }

const DAY_MS = 86_400_000
/** More than from the start of a period, in any timezone, to the day before it. */
const SLACK_MS = 3 * DAY_MS

/** The first day about which an invoice may ask that starts at `since` or later. */
const firstDay = ({ since }: Pick<TaxedParties, 'since'>): string =>
  formatInstant(instantOf(since - SLACK_MS)).slice(0, 'yyyy-mm-dd'.length)

/**
 * What is known about the parties of each invoice, about the days for which it may be dated, as a member of `Parties`: the same for
 * one whichever others are read with it. No query, and no member, where no engine is asked.
 */
export async function loadTaxAnswersOf(
  uow: ReadUow,
  all: readonly TaxedParties[],
): Promise<(of: TaxedParties) => Pick<Parties, 'tax_answers'>> {
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
        anyOf(t.customer_id, idsOf('cust', new Set(asking.map(each => each.customer.id)))),
        anyOf(t.billing_entity_id, idsOf('bill', new Set(asking.map(each => each.billing_entity.id)))),
        gte(t.on_day, firstDay({ since: instantOf(Math.min(...asking.map(({ since }) => since))) })),
      ),
    )
    .orderBy(asc(t.on_day), asc(t.key))
  const byPair = groupBy(rows, row => `${row.customer_id} ${row.billing_entity_id}`)
  return of => {
    const { customer, billing_entity } = of
    if (!usesEngine(billing_entity)) return {}
    const from = firstDay(of)
    const own = (byPair.get(`${customer.id} ${billing_entity.id}`) ?? []).filter(({ on }) => on >= from)
    return { tax_answers: own.map(({ key, on, as_of, answer, fault }) => ({ key, on, as_of, answer, fault })) }
  }
}
