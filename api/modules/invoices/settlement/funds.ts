// What wallets pay of invoices, and what follows their changes. Invoices do not know which module holds the money: that
// module registers here.
import type { WalletBalance } from '../../../../shared/billing/steps/clauses.ts'
import type { CreditPart } from '../../../../shared/billing/wallets/credits.ts'
import type { ReadUow, Uow } from '../../../../shared/database/database.ts'
import { type Decimal, ZERO } from '../../../../shared/decimal.ts'
import type { Id } from '../../../../shared/ids.ts'
import type { Interval } from '../../../../shared/time.ts'
import { extensionsOf, type Place } from '../../../resource/rules.ts'
import type { PrepaidBalance } from '../document/pay-from-balances.ts'
import type { InvoiceContent } from '../schema.ts'
import type { BillingType } from '../table.ts'

/** The name under which these effects follow the changes of invoices (api/resource/rules.ts). */
export const INVOICE = { objectType: 'INVOICE' } as const

/** The same, once every invoice that is saved together has taken what it uses: grants that shrink take nothing from them. */
export const INVOICE_CHARGES = { objectType: 'INVOICE_CHARGES' } as const

export type FundsRequest = {
  readonly customerId: string
  /** Of the invoice. */
  readonly currency: string
  /** Null for a new invoice. An existing invoice may use again what it already holds. */
  readonly invoiceId: string | null
  readonly service: Interval
  /** The customer's money never pays SELF_BILLING: there the billing entity pays the customer. */
  readonly billingType: BillingType
}

/**
 * Sorts the times of invoices that end their periods at one moment: the one that the fewest grants can pay comes first,
 * so that none takes what another needs.
 */
export const fewestFirst = (a: Interval, b: Interval): number => b.start - a.start || a.end - b.end

/** What wallets can pay of an invoice. */
export type Payers = {
  /** Money that pays before tax, in order of use. */
  readonly wallets: readonly WalletBalance[]
  /** What usage may draw from grants of credits, in spending order. */
  readonly credits: readonly CreditPart[]
  /** Money that pays after tax, in order of use. */
  readonly balances: readonly PrepaidBalance[]
}

export const NO_PAYERS: Payers = { wallets: [], credits: [], balances: [] }

/** Whether there is anything that can pay. */
export const hasPayers = ({ wallets, credits, balances }: Payers): boolean =>
  [...wallets, ...balances].some(({ available }) => available.gt(ZERO)) ||
  credits.some(({ quantity }) => quantity.gt(ZERO))

/** Where customers can pay invoices from. */
export type AvailableFunds = {
  payers(request: FundsRequest): Payers
  /** Reserves what the invoice takes, so that invoices computed after it cannot use it. */
  take(request: FundsRequest & { readonly invoiceId: string }, content: InvoiceContent): void
  /** The whole balance of a wallet, including what is reserved. */
  balanceOf(walletId: string): Decimal
}

type Owners = {
  readonly customerIds: readonly string[]
  readonly invoiceIds: readonly string[]
  /**
   * The FINAL invoice that the one new invoice replaces. What it spent can be spent again, because its credit
   * note gives that back.
   */
  readonly replacedId?: Id<'invo'>
}

/** Gives the funds of these customers, for existing invoices and for new ones. */
export type FundsSource = {
  /** Locked until commit. */
  lock(uow: Uow, of: Owners): Promise<AvailableFunds>
  /** A snapshot without locks: for invoices that are not saved. */
  read(uow: ReadUow, of: Owners): Promise<AvailableFunds>
}

export const FUNDS: Place<FundsSource> = { name: 'funds of invoices' }

const EMPTY: AvailableFunds = { payers: () => NO_PAYERS, take: () => {}, balanceOf: () => ZERO }

/** The funds of the module that holds money, locked until commit; none when no module does. */
export async function lockFunds(uow: Uow, of: Owners): Promise<AvailableFunds> {
  const [source] = extensionsOf(uow, FUNDS)
  return source ? await source.lock(uow, of) : EMPTY
}

/** The same as a snapshot, for invoices that are not saved. */
export async function readFunds(uow: ReadUow, of: Owners): Promise<AvailableFunds> {
  const [source] = extensionsOf(uow, FUNDS)
  return source ? await source.read(uow, of) : EMPTY
}
