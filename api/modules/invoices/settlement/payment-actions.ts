// How an invoice can be paid without a gateway: the bank accounts and links of its billing entity, as they are now.
import { and, asc, eq } from 'drizzle-orm'
import type { ReadUow } from '../../../../shared/database/database.ts'
import { decimal, ZERO } from '../../../../shared/decimal.ts'
import { idOf } from '../../../../shared/ids.ts'
import { extensionsOf } from '../../../resource/rules.ts'
import { inThisTenant } from '../../../resource/tenant-condition.ts'
import { type PaymentAcceptor, paymentAcceptors as p } from '../../parties/payment-acceptors/table.ts'
import type { InvoiceView, PaymentActionView } from '../schema.ts'
import { CHOSEN_ACCEPTORS } from './chosen-acceptors.ts'

/**
 * The ACTIVE payment acceptors of the billing entity of an invoice, by reference: those that its subscription names, or all where it names
 * none; of several subscriptions those that none of them leaves out. None for SELF_BILLING, where the billing entity pays the customer.
 */
export async function acceptorsOf(
  uow: ReadUow,
  {
    billing_entity_id,
    billing_type,
    pricing_plan_subscription_ids: ids,
  }: Pick<InvoiceView, 'billing_entity_id' | 'billing_type' | 'pricing_plan_subscription_ids'>,
): Promise<PaymentAcceptor[]> {
  if (billing_type === 'SELF_BILLING') return []
  const acceptors = await uow.tx
    .select()
    .from(p)
    .where(and(inThisTenant(uow, p), eq(p.billing_entity_id, idOf('bill', billing_entity_id)), eq(p.status, 'ACTIVE')))
    .orderBy(asc(p.reference))
  const [chosenBy] = extensionsOf(uow, CHOSEN_ACCEPTORS)
  if (!chosenBy || acceptors.length === 0 || ids.length === 0) return acceptors
  const chosen = await chosenBy(uow, ids)
  return acceptors.filter(({ id }) => chosen.every(named => named.length === 0 || named.includes(id)))
}

type Payable = Pick<InvoiceView, 'status' | 'invoice_number' | 'open_invoice_amount' | 'billing_entity'>

/** What a customer can do to pay the invoice; nothing where it is not FINAL, or nothing of it is open. */
export function paymentActions(invoice: Payable, acceptors: readonly PaymentAcceptor[]): PaymentActionView[] {
  const { status, invoice_number, open_invoice_amount: open, billing_entity: seller } = invoice
  if (status !== 'FINAL' || decimal(open.quantity).lte(ZERO)) return []
  const { legal_name } = seller as { readonly legal_name?: unknown }
  return acceptors.flatMap(({ id, bank_account: bank, custom_redirect: link }): PaymentActionView[] => {
    if (bank)
      return [
        {
          payment_acceptor_id: id,
          type: 'BANK_ACCOUNT',
          bank_account: {
            ...bank,
            ...(typeof legal_name === 'string' ? { legal_name } : {}),
            country_code: bank.iban.slice(0, 2),
            ...(invoice_number === null ? {} : { reference: invoice_number }),
          },
        },
      ]
    return link ? [{ payment_acceptor_id: id, type: 'CUSTOM_REDIRECT', custom_redirect: link }] : []
  })
}
