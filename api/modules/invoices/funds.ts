// What pays invoices before tax, and follows what becomes of them. Invoices do not know who holds the money: whoever does takes part here.
import type { WalletBalance } from '../../../shared/billing/steps/clauses.ts'
import type { Uow } from '../../../shared/database/database.ts'
import type { Interval } from '../../../shared/time.ts'
import { extensionsOf, type Place } from '../../resource/rules.ts'
import type { InvoiceContent } from './schema.ts'

/** Under this, effects follow the changes of invoices (api/resource/rules.ts). */
export const INVOICE = { objectType: 'INVOICE' } as const

export type FundsRequest = {
  readonly customerId: string
  /** Of the invoice. */
  readonly currency: string
  /** Null for an invoice that is about to be made. What it holds already it may use again. */
  readonly invoiceId: string | null
  readonly service: Interval
}

/** What customers can pay invoices from, held until commit. */
export type Purse = {
  /** What can pay the invoice, in the order in which it does. */
  balances(request: FundsRequest): readonly WalletBalance[]
  /** Keeps what the invoice takes from those that are decided after it. */
  take(request: FundsRequest & { readonly invoiceId: string }, content: InvoiceContent): void
}

/** Opens the purse of these customers, for these invoices that are there and others that are not yet. */
export type Funds = (
  uow: Uow,
  of: { readonly customerIds: readonly string[]; readonly invoiceIds: readonly string[] },
) => Promise<Purse>

export const FUNDS: Place<Funds> = { name: 'funds of invoices' }

const EMPTY: Purse = { balances: () => [], take: () => {} }

/** The purse of whoever holds money; an empty one where nobody does. */
export async function openPurse(uow: Uow, of: Parameters<Funds>[1]): Promise<Purse> {
  const [funds] = extensionsOf(uow, FUNDS)
  return funds ? await funds(uow, of) : EMPTY
}
