// Usage receipts: made once for every FINAL invoice of a subscription, soon after it becomes FINAL and outside the
// billing run, so that they do not slow it down. Log positions and pinned inputs decide which events are in a receipt,
// so it is the same whenever it is made.
import { and, eq, sql } from 'drizzle-orm'
import { type Database, inTenant, readTenant, SERVICE } from '../../../../../shared/database/database.ts'
import { anyOf } from '../../../../../shared/database/statements/any-of.ts'
import { AppError } from '../../../../../shared/errors.ts'
import { groupBy } from '../../../../../shared/group-by.ts'
import { type Id, idsOf } from '../../../../../shared/ids.ts'
import type { Tenant } from '../../../../../shared/tenant.ts'
import { formatInstant } from '../../../../../shared/time.ts'
import { insertMany } from '../../../../resource/rows/many-rows.ts'
import { inThisTenant } from '../../../../resource/tenant-condition.ts'
import { getInvoice } from '../../../invoices/repository.ts'
import type { InvoiceRow } from '../../../invoices/table.ts'
import { pinnedInputs, usageReceipts } from '../../pinned/table.ts'
import type { UsageReader } from '../../usage/usage-reader.ts'
import { isCombined } from '../combined-parts.ts'
import { covering, eventsOf } from '../counted.ts'
import { type Basis, pinnedBases, pinnedBasis, refused } from '../reprice.ts'
import { countedByInvoice, type ReceiptTree, receiptTree } from './receipt-tree.ts'

export type ReceiptDeps = { readonly database: Database; readonly usage: UsageReader }

/** Invoices whose events are read at once: few, so that requests are answered in between. */
const TOGETHER = 20

type Closed = Basis & { readonly positions: readonly number[] }

/** Makes missing receipts, as many as are read at once; returns how many. Safe to run twice or concurrently. */
export async function makeReceipts(deps: ReceiptDeps, tenant: Tenant): Promise<number> {
  const rows = await readTenant(deps.database, tenant, async uow => {
    const waiting = await uow.tx
      .select({ id: pinnedInputs.invoice_id })
      .from(pinnedInputs)
      .where(and(inThisTenant(uow, pinnedInputs), eq(pinnedInputs.has_receipt, false)))
      .orderBy(pinnedInputs.invoice_id)
      .limit(TOGETHER)
    return await Promise.all(waiting.map(({ id }) => getInvoice(uow, id)))
  })
  if (rows.length === 0) return 0
  const bases = await pinnedBases(deps, tenant, rows)
  const trees = new Map<string, ReceiptTree>()
  // Invoices closed together count up to the same position, so their events are read together.
  for (const own of groupBy(bases, ({ basis }) => basis.positions.join()).values())
    for (const [id, tree] of await treesOf(deps, tenant, own, 'IN_BACKGROUND')) trees.set(id, tree)
  await save(deps.database, tenant, trees)
  return rows.length
}

async function treesOf(
  deps: Pick<ReceiptDeps, 'usage'>,
  tenant: Tenant,
  all: readonly { readonly id: string; readonly basis: Closed }[],
  waits: 'AT_ONCE' | 'IN_BACKGROUND',
): Promise<[string, ReceiptTree][]> {
  const asked = all.map(({ id, basis }) => ({ id, basis, where: eventsOf(basis, basis.charges) }))
  const metered = asked.flatMap(({ where }) => where ?? [])
  const [first] = asked
  const events =
    metered.length === 0 || !first
      ? []
      : await deps.usage.events(tenant, {
          customerKeys: metered.flatMap(({ customerKeys }) => customerKeys),
          meterReferences: [...new Set(metered.flatMap(({ meterReferences }) => meterReferences))],
          interval: covering(metered.map(({ interval }) => interval)),
          upTo: first.basis.positions,
          ...(waits === 'IN_BACKGROUND' ? { inBackground: true } : {}),
        })
  const ofCustomer = groupBy(events, ({ customerKey }) => customerKey)
  return asked.map(({ id, basis, where }) => {
    const own = (where?.customerKeys ?? []).flatMap(key => ofCustomer.get(key) ?? [])
    return [id, receiptTree(countedByInvoice(basis, own))]
  })
}

async function save(database: Database, tenant: Tenant, trees: ReadonlyMap<string, ReceiptTree>): Promise<void> {
  await inTenant(database, tenant, SERVICE, async uow => {
    const ids = [...trees.keys()]
    // The run that marks an invoice makes its receipt; one made concurrently is the same.
    const marked = await uow.tx
      .update(pinnedInputs)
      .set({ has_receipt: true })
      .where(
        and(
          inThisTenant(uow, pinnedInputs),
          anyOf(pinnedInputs.invoice_id, idsOf('invo', ids)),
          eq(pinnedInputs.has_receipt, false),
        ),
      )
      .returning({ id: pinnedInputs.invoice_id })
    await insertMany(
      uow,
      usageReceipts,
      marked.flatMap(({ id }) => {
        const tree = trees.get(id)
        const created_at = formatInstant(uow.now)
        return tree ? [{ invoice_id: id, created_at, root: tree.root, number_of_events: tree.numberOfEvents }] : []
      }),
    )
  })
}

const ofParts = (row: InvoiceRow): AppError => {
  const ids = row.content.combined_invoice_ids ?? []
  return refused(
    row,
    `It is for several subscriptions, and each has a receipt of its own: read those of ${ids.join(', ')}.`,
  )
}

/**
 * The receipt of an invoice, with the proof of an event where its reference is given. Throws RESOURCE_NOT_FOUND for an
 * event that the invoice did not count, and INVALID_OPERATION for an invoice that is not FINAL or has no receipt.
 */
export async function getReceipt(
  deps: ReceiptDeps,
  of: { readonly tenant: Tenant; readonly id: Id<'invo'>; readonly reference: string | undefined },
) {
  const { tenant, id, reference } = of
  const row = await readTenant(deps.database, tenant, uow => getInvoice(uow, id))
  if (isCombined(row)) throw ofParts(row)
  const basis = await pinnedBasis(deps, tenant, row)
  let stored = await find(deps.database, tenant, row)
  const [[, tree] = []] =
    stored && reference === undefined ? [] : await treesOf(deps, tenant, [{ id, basis }], 'AT_ONCE')
  if (!stored && tree) {
    await save(deps.database, tenant, new Map([[id, tree]]))
    stored = await find(deps.database, tenant, row)
  }
  if (!stored) throw new Error(`the receipt of ${id} was made`)
  const view = {
    object_type: 'USAGE_RECEIPT',
    invoice_id: id,
    created_at: stored.created_at,
    root: stored.root,
    number_of_events: stored.number_of_events,
  }
  if (reference === undefined || !tree) return view
  if (tree.root !== stored.root) {
    const message = 'The log no longer has the events that the invoice counted, so nothing can be proven of them.'
    throw new AppError('INVALID_OPERATION', message, { field: 'reference' })
  }
  const proof = tree.proof(reference)
  if (!proof) {
    const message = `The invoice counted no event with the reference ${JSON.stringify(reference)}.`
    throw new AppError('RESOURCE_NOT_FOUND', message, { resourceType: 'METER_DATA', field: 'reference' })
  }
  return { ...view, proof: { reference, ...proof } }
}

const find = (database: Database, tenant: Tenant, { id }: InvoiceRow) =>
  readTenant(database, tenant, async uow => {
    const [row] = await uow.tx
      .select({
        created_at: usageReceipts.created_at,
        root: usageReceipts.root,
        number_of_events: sql<number>`${usageReceipts.number_of_events}::int`,
      })
      .from(usageReceipts)
      .where(and(inThisTenant(uow, usageReceipts), eq(usageReceipts.invoice_id, id)))
    return row ?? null
  })
