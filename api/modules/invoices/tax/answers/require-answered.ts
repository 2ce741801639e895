// Whether what invoices ask a tax engine is answered by now, whatever was known when they were last computed.
import { and } from 'drizzle-orm'
import { localDateOf } from '../../../../../shared/billing/local-days.ts'
import type { ReadUow } from '../../../../../shared/database/database.ts'
import { anyOf } from '../../../../../shared/database/statements/any-of.ts'
import { inThisTenant } from '../../../../resource/tenant-condition.ts'
import { zoneNamed } from '../../document/invoice-dates.ts'
import { isAnswered } from '../../document/tax/engine-question.ts'
import { taxAnswers as t } from '../../document/tax/tax-answers-table.ts'
import type { InvoiceRow } from '../../table.ts'
import { MissingTaxAnswer } from './missing-answer.ts'

/** Throws MissingTaxAnswer while a question of one of these invoices has no answer with which it could become FINAL now. */
export async function requireAnswered(
  uow: ReadUow,
  rows: readonly Pick<InvoiceRow, 'content' | 'timezone'>[],
  field = 'status',
): Promise<void> {
  const asked = rows.flatMap(({ content: { tax_question: open }, timezone }) => {
    const asOf = localDateOf(uow.now, zoneNamed(timezone))
    return open && !isAnswered(open, asOf) ? [{ key: open.key, question: open.question, asOf }] : []
  })
  if (asked.length === 0) return
  const keys = [...new Set(asked.map(({ key }) => key))]
  const kept = await uow.tx
    .select({ key: t.key, as_of: t.as_of })
    .from(t)
    .where(and(inThisTenant(uow, t), anyOf(t.key, keys)))
  const known = new Map(kept.map(({ key, as_of }) => [key, as_of]))
  const lacking = asked.filter(open => !isAnswered({ ...open, as_of: known.get(open.key) ?? null }, open.asOf))
  const once = [...new Map(lacking.map(open => [open.key, open])).values()]
  if (once.length > 0) throw new MissingTaxAnswer(once, 'The tax engine has not said what tax applies.', field)
}
