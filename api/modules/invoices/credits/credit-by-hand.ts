// A credit note that a user asks for. Days that a later invoice has already refunded are not credited again.
import { sql } from 'drizzle-orm'
import type { Uow } from '../../../../shared/database/database.ts'
import { decimal, plain, sum, ZERO } from '../../../../shared/decimal.ts'
import { AppError } from '../../../../shared/errors.ts'
import type { Id } from '../../../../shared/ids.ts'
import { getInvoice } from '../repository.ts'
import type { InvoiceRow, StoredInvoice } from '../table.ts'
import { creditInvoice } from './credit-invoice.ts'
import { creditsOf } from './linked-invoices.ts'
import type { CreditBody } from './schema.ts'

/** Makes a DRAFT credit note. Throws INVALID_FIELD where it and the refunds would give back more than was charged. */
export async function creditByHand(uow: Uow, id: Id<'invo'>, body: CreditBody): Promise<InvoiceRow> {
  const credit = await creditInvoice(uow, id, body)
  const original = await getInvoice(uow, id)
  const refunds = await refundsOf(uow, original)
  const [first] = refunds
  if (!first || totalOf(original).lt(ZERO)) return credit
  const given = sum(refunds.map(({ amount }) => decimal(amount)))
  const left = sum([totalOf(original), given, ...(await creditsOf(uow, id)).map(totalOf)])
  if (left.gte(ZERO)) return credit
  const most = left.minus(totalOf(credit))
  const message =
    `The invoice ${first.number} gave ${plain(given.neg())} ${original.billing_currency} of it back for the days left, so at most ` +
    `${plain(most.lt(ZERO) ? ZERO : most)} can be credited. Name the periods and lines, with an amount.`
  throw new AppError('INVALID_FIELD', message, { field: 'periods' })
}

const totalOf = ({ amount_excluding_tax, tax_amount }: Pick<StoredInvoice, 'amount_excluding_tax' | 'tax_amount'>) =>
  decimal(amount_excluding_tax).plus(tax_amount)

/** What FINAL invoices gave back of charges of this one, with tax. Those that were credited themselves took it back. */
async function refundsOf(uow: Uow, { id, customer_id }: StoredInvoice) {
  const { platformId, environment } = uow.tenant
  const { rows } = await uow.tx.execute<{ number: string; amount: string }>(sql`
    select coalesce(v.invoice_number, v.id) as number, sum(l.amount_including_tax::numeric)::text as amount
    from invoices v
    join invoice_lines l on l.platform_id = v.platform_id and l.environment = v.environment and l.invoice_id = v.id
    where v.platform_id = ${platformId} and v.environment = ${environment} and v.customer_id = ${customer_id}
      and v.status = 'FINAL' and v.type = 'STANDARD' and v.credited_amount = 0
      and l.source @> ${JSON.stringify({ refund_of_invoice_id: id })}::jsonb
    group by v.id, v.invoice_number
    order by v.id`)
  return rows
}
