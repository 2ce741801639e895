// A producer whose inputs are all in the database, so that one transaction computes an invoice and saves it.
import { type Database, inTenant, type Uow } from '../../../../shared/database/database.ts'
import type { Id } from '../../../../shared/ids.ts'
import type { InvoiceProducer, Recomputation } from '../producer.ts'
import { lockInvoice } from '../repository.ts'

export type PlainKind = {
  /** Stored with every invoice it makes. */
  readonly name: string
  /** An invoice as it can be saved now; null when nothing is left to bill. Its row is locked. */
  asItIs(uow: Uow, invoiceId: Id<'invo'>): Promise<Recomputation | null>
}

/** The producer of a kind of invoice that no subscription bills. They become FINAL only when a user requests it. */
export const plainProducer = (database: Database, { name, asItIs }: PlainKind): InvoiceProducer => ({
  name,
  finalizesByItself: false,
  settle: async () => true,
  lock: async () => {},
  recompute: ({ tenant, actor, row, prepare }, save) =>
    inTenant(database, tenant, actor, async uow => {
      await lockInvoice(uow, row.id)
      await prepare?.(uow)
      return await save(uow, await asItIs(uow, row.id))
    }),
  released: async () => {},
})
