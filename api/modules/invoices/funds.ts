// What pays invoices before tax, and follows what becomes of them. Invoices do not know who holds the money: whoever does takes part here.
import type { WalletBalance } from '../../../shared/billing/steps/clauses.ts'
import type { ReadUow, Uow } from '../../../shared/database/database.ts'
import { type Decimal, ZERO } from '../../../shared/decimal.ts'
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

/** What customers can pay invoices from. */
export type Purse = {
  /** What can pay the invoice, in the order in which it does. */
  balances(request: FundsRequest): readonly WalletBalance[]
  /** Keeps what the invoice takes from those that are decided after it. */
  take(request: FundsRequest & { readonly invoiceId: string }, content: InvoiceContent): void
  /** All that a wallet has, what is reserved of it included. */
  balanceOf(walletId: string): Decimal
}

type Owners = { readonly customerIds: readonly string[]; readonly invoiceIds: readonly string[] }

/** Opens the purse of these customers, for these invoices that are there and others that are not yet. */
export type Funds = {
  /** Held until commit. */
  hold(uow: Uow, of: Owners): Promise<Purse>
  /** As it is now, held by nobody: for invoices that are not saved. */
  look(uow: ReadUow, of: Owners): Promise<Purse>
}

export const FUNDS: Place<Funds> = { name: 'funds of invoices' }

const EMPTY: Purse = { balances: () => [], take: () => {}, balanceOf: () => ZERO }

/** The purse of whoever holds money, held until commit; an empty one where nobody does. */
export async function openPurse(uow: Uow, of: Owners): Promise<Purse> {
  const [funds] = extensionsOf(uow, FUNDS)
  return funds ? await funds.hold(uow, of) : EMPTY
}

/** The same as it is now, for invoices that are not saved. */
export async function readPurse(uow: ReadUow, of: Owners): Promise<Purse> {
  const [funds] = extensionsOf(uow, FUNDS)
  return funds ? await funds.look(uow, of) : EMPTY
}
