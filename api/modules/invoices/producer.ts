// Who makes invoices. What an invoice is for and what is owed for it, its producer knows; a document is computed again, made
// FINAL or released through this, whatever it is for. A new kind of invoice is a new producer: it registers here, in the list
// that the processes are given, and neither the document nor its amounts change.
import type { Actor, Database, Uow } from '../../../shared/database/database.ts'
import type { Tenant } from '../../../shared/tenant.ts'
import { formatInstant, type Instant } from '../../../shared/time.ts'
import type { LineValues } from './lines/table.ts'
import type { InvoiceColumns, InvoiceRow } from './table.ts'

/** An invoice as its producer computes it. */
export type ComputedInvoice = {
  readonly columns: InvoiceColumns
  readonly lines: readonly LineValues[]
  /** A hash of everything but usage that it was computed from. */
  readonly inputsHash: string
  /** Everything accepted before is counted; null where nothing is metered. */
  readonly usageCountedUntil: Instant | null
}

/** What is stored of it. */
export const storedColumns = ({ columns, inputsHash, usageCountedUntil }: ComputedInvoice) => ({
  ...columns,
  inputs_hash: inputsHash,
  usage_counted_until: usageCountedUntil === null ? null : formatInstant(usageCountedUntil),
})

/** What an invoice can be computed from now. */
export type Recomputation = {
  /** Until when the invoice collects. */
  readonly cutoffAt: Instant
  /** Computes the invoice; `finalizedAt` is null until it goes FINAL. Throws INVALID_OPERATION when a price cannot be billed. */
  compute(finalizedAt: Instant | null): ComputedInvoice
  /** Keeps what only the producer needs of an invoice that closes, in the transaction that closes it. */
  close(uow: Uow): Promise<void>
}

export type RecomputeRequest = {
  readonly tenant: Tenant
  readonly actor: Actor
  readonly row: InvoiceRow
  /** Whether the invoice may close now, so that it must be known exactly what it bills. */
  readonly mayClose: boolean
  /** Changes what the invoice is computed from, in the transaction that saves it, with the locks of `lock` held. */
  prepare?(uow: Uow): Promise<void>
}

export type InvoiceProducer = {
  /** As stored with every invoice it makes. */
  readonly name: string
  /** Whether a DRAFT of it goes FINAL by itself after the grace period; others wait until somebody says so. */
  readonly finalizesByItself: boolean
  /** Waits until everything accepted so far would be in an invoice computed now; false when that takes longer than `timeoutMs`. */
  settle(timeoutMs: number): Promise<boolean>
  /** Takes the lock under which this invoice, and others of what it is for, change: before the lock of the invoice. */
  lock(uow: Uow, row: InvoiceRow): Promise<void>
  /**
   * Computes the invoice again, in one transaction that holds its lock, and saves what `save` makes of it. `save` is given null
   * when what the invoice is for is gone. Throws SERVICE_UNAVAILABLE when its inputs keep changing.
   */
  recompute<T>(request: RecomputeRequest, save: (uow: Uow, current: Recomputation | null) => Promise<T>): Promise<T>
  /** The invoice was released from hold: whatever makes it FINAL in time must know. */
  released(uow: Uow, row: InvoiceRow): Promise<void>
}

export type InvoiceDeps = { readonly database: Database; readonly producers: readonly InvoiceProducer[] }

/** The producer of an invoice. Throws when this process was given none of its name. */
export function producerOf({ producers }: Pick<InvoiceDeps, 'producers'>, row: InvoiceRow): InvoiceProducer {
  const found = producers.find(({ name }) => name === row.producer)
  if (found) return found
  throw new Error(`no producer ${row.producer} of the invoice ${row.id}`)
}
