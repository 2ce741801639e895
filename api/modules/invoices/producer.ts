// Producers of invoices. A producer knows what an invoice is for and what is owed; through it a document of any kind is
// computed again, made FINAL or released. A new kind of invoice is a new producer, registered in the list that the
// processes are given; neither the document nor its amounts change.
import type { TaxEngine } from '../../../shared/billing/tax/tax-engine.ts'
import type { Actor, Database, Uow } from '../../../shared/database/database.ts'
import { plain } from '../../../shared/decimal.ts'
import type { Failpoints } from '../../../shared/failpoint.ts'
import type { Id } from '../../../shared/ids.ts'
import type { Tenant } from '../../../shared/tenant.ts'
import { formatInstant, type Instant } from '../../../shared/time.ts'
import type { ChargeGrant } from './charge-grants.ts'
import type { LineValues } from './lines/table.ts'
import type { InvoiceColumns, InvoiceRow } from './table.ts'
import { paidByBalances } from './wallet-uses.ts'

/** An invoice as its producer computes it. */
export type ComputedInvoice = {
  readonly columns: InvoiceColumns
  readonly lines: readonly LineValues[]
  /** What its charges grant to wallets; absent for a kind of invoice that grants nothing. */
  readonly grants?: readonly ChargeGrant[]
  /** A hash of all its inputs except usage. */
  readonly inputsHash: string
  /** Everything accepted before this instant is counted; null where nothing is metered. */
  readonly usageCountedUntil: Instant | null
}

/** Its stored columns. */
export const storedColumns = ({ columns, grants = [], inputsHash, usageCountedUntil }: ComputedInvoice) => ({
  wallet_amount: plain(paidByBalances(columns.content)),
  grants,
  inputs_hash: inputsHash,
  usage_counted_until: usageCountedUntil === null ? null : formatInstant(usageCountedUntil),
  ...columns,
})

/** How an invoice can be computed now. */
export type Recomputation = {
  /** The end of the time that the invoice collects. */
  readonly cutoffAt: Instant
  /**
   * Computes the invoice; `finalizedAt` is null until it becomes FINAL. Throws INVALID_OPERATION when a price cannot be
   * billed.
   */
  compute(finalizedAt: Instant | null): ComputedInvoice
  /** Stores what only the producer needs of an invoice that closes, in the transaction that closes it. */
  close(uow: Uow): Promise<void>
}

export type RecomputeRequest = {
  readonly tenant: Tenant
  readonly actor: Actor
  readonly row: InvoiceRow
  /** Whether the invoice may close now, so that the exact set of what it bills must be known. */
  readonly mayClose: boolean
  /** Changes the inputs of the invoice in the transaction that saves it, under the locks of `lock`. */
  prepare?(uow: Uow): Promise<void>
}

export type InvoiceProducer = {
  /** Stored with every invoice it makes. */
  readonly name: string
  /**
   * Whether its DRAFT invoices become FINAL by themselves after the grace period; others wait until a user requests it.
   */
  readonly finalizesByItself: boolean
  /**
   * Waits until everything accepted so far would be in an invoice computed now; false when that takes longer than
   * `timeoutMs`.
   */
  settle(timeoutMs: number): Promise<boolean>
  /** Takes the lock for changes of this invoice and its siblings. Take it before the lock of the invoice. */
  lock(uow: Uow, row: InvoiceRow): Promise<void>
  /**
   * Computes the invoice again, in one transaction that holds its lock, and saves what `save` returns. `save` gets null
   * when the invoice's period no longer exists. Throws SERVICE_UNAVAILABLE when its inputs keep changing.
   */
  recompute<T>(request: RecomputeRequest, save: (uow: Uow, current: Recomputation | null) => Promise<T>): Promise<T>
  /**
   * Makes a DRAFT FINAL together with those that it is issued with, for what finalizes many; null, or absent, where it is issued by
   * itself. Returns it as it is then: ARCHIVED with `combined_into_id` where another invoice has its lines.
   */
  issueWithOthers?(of: { readonly tenant: Tenant; readonly id: Id<'invo'> }): Promise<InvoiceRow | null>
  /** Called when the invoice is released from hold, so that the producer schedules its finalization. */
  released(uow: Uow, row: InvoiceRow): Promise<void>
  /**
   * Called when a user, or a bulk action, made the invoice FINAL or VOID, under the locks of `lock`, so that the producer looks at once
   * whether anything is left to bill.
   */
  closed?(uow: Uow, row: InvoiceRow): Promise<void>
}

export type InvoiceDeps = {
  readonly database: Database
  readonly producers: readonly InvoiceProducer[]
  readonly failpoint?: Failpoints
  /** Null where the installation has none. */
  readonly taxEngine?: TaxEngine | null | undefined
}

/** The producer of an invoice. Throws when this process has none with its name. */
export function producerOf({ producers }: Pick<InvoiceDeps, 'producers'>, row: InvoiceRow): InvoiceProducer {
  const found = producers.find(({ name }) => name === row.producer)
  if (found) return found
  throw new Error(`no producer ${row.producer} of the invoice ${row.id}`)
}
