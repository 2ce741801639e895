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
import { type PinnedBasis, type Priced, pinnedBases, pinnedBasis, refused } from '../reprice.ts'
import { type ReceiptTree, receiptTree } from './receipt-tree.ts'

export type ReceiptDeps = { readonly database: Database; readonly usage: UsageReader }

/** Invoices whose events are read at once: their customers lie beside each other in ClickHouse more often than not. */
const TOGETHER = 100
/** Events of them, as far as that is known before: few, so that requests are answered in between. */
const EVENTS_TOGETHER = 50_000

type Waiting = Priced & {
  /** Events that their charges counted. One that several charges counted is in it several times. */
  readonly events: number
}
type Closed = { readonly id: string; readonly basis: PinnedBasis }

export type ReceiptsMade = {
  /** The last invoice that was looked at; null when none is left after `after`. */
  readonly last: string | null
  /** Why there are still some without. */
  readonly failures: readonly unknown[]
}

/**
 * Makes missing receipts of invoices after this one, in the order of their ids and as many as are read at once. One that fails keeps
 * no other from having its own. Safe to run twice or concurrently.
 */
export async function makeReceipts(
  deps: ReceiptDeps,
  tenant: Tenant,
  { after = '' }: { readonly after?: string } = {},
): Promise<ReceiptsMade> {
  const waiting = await withoutReceipt(deps.database, tenant, after)
  const failures: unknown[] = []
  for (const some of inParts(waiting)) {
    try {
      await makeTogether(deps, tenant, some)
    } catch (error) {
      if (some.length === 1) failures.push(error)
      else for (const one of some) await makeTogether(deps, tenant, [one]).catch(cause => failures.push(cause))
    }
  }
  return { last: waiting.at(-1)?.id ?? null, failures }
}

/** Invoices that have no receipt yet, after this one. */
async function withoutReceipt(database: Database, tenant: Tenant, after: string): Promise<readonly Waiting[]> {
  return await readTenant(database, tenant, async uow => {
    const { platformId, environment } = uow.tenant
    const { rows } = await uow.tx.execute<Waiting>(sql`
      select v.id, v.producer, v.status, v.combined_into_id, coalesce((
          select sum((charge->>'count')::bigint) from closed_usage c cross join jsonb_array_elements(c.charges) charge
          where c.platform_id = v.platform_id and c.environment = v.environment and c.invoice_id = v.id), 0)::float as events
      from (
        select invoice_id from pinned_inputs
        where platform_id = ${platformId} and environment = ${environment} and not has_receipt and invoice_id > ${after}
        order by invoice_id limit ${TOGETHER}) p
      join invoices v on v.platform_id = ${platformId} and v.environment = ${environment} and v.id = p.invoice_id
      order by v.id`)
    return rows
  })
}

/** In their order, each part with one invoice at least. */
function inParts(all: readonly Waiting[]): Waiting[][] {
  const parts: Waiting[][] = []
  let events = 0
  for (const each of all) {
    const part = parts.at(-1)
    events += each.events
    if (part && events <= EVENTS_TOGETHER) part.push(each)
    else {
      parts.push([each])
      events = each.events
    }
  }
  return parts
}

async function makeTogether(deps: ReceiptDeps, tenant: Tenant, rows: readonly Waiting[]): Promise<void> {
  const bases = await pinnedBases(deps, tenant, rows)
  const trees = new Map<string, ReceiptTree>()
  // Invoices closed together count up to the same position, so their events are read together.
  for (const own of groupBy(bases, ({ basis }) => basis.positions.join()).values())
    for (const [id, tree] of await treesOf(deps, tenant, own, { inBackground: true })) trees.set(id, tree)
  await save(deps.database, tenant, trees)
}

type Reading = {
  readonly inBackground?: true
  /** The reference of the event to prove. */
  readonly proven?: string
  /** Reading ends with SERVICE_UNAVAILABLE when it takes longer than this; null for no limit. */
  readonly withinMs?: number
}

/** The trees of invoices that counted up to the same positions. */
async function treesOf(
  deps: Pick<ReceiptDeps, 'usage'>,
  tenant: Tenant,
  all: readonly Closed[],
  { withinMs = Number.POSITIVE_INFINITY, ...reading }: Reading,
): Promise<ReadonlyMap<string, ReceiptTree>> {
  const startedAt = performance.now()
  const made = all.map(({ id, basis }) => ({
    id,
    where: eventsOf(basis, basis.charges),
    tree: receiptTree(basis, reading.proven),
  }))
  const metered = made.flatMap(({ where }) => where ?? [])
  const [first] = all
  if (metered.length > 0 && first) {
    const query = {
      customerKeys: [...new Set(metered.flatMap(({ customerKeys }) => customerKeys))],
      meterReferences: [...new Set(metered.flatMap(({ meterReferences }) => meterReferences))],
      interval: covering(metered.map(({ interval }) => interval)),
      upTo: first.basis.positions,
      ...reading,
    }
    for await (const slice of deps.usage.receiptEntries(tenant, query)) {
      if (performance.now() - startedAt > withinMs) throw tooMany()
      const ofCustomer = groupBy(slice, ({ of }) => of.customerKey)
      for (const { where, tree } of made)
        tree.add([...new Set(where?.customerKeys)].flatMap(key => ofCustomer.get(key) ?? []))
    }
  }
  return new Map(made.map(({ id, tree }) => [id, tree.end()]))
}

/** The job that makes receipts has no such limit. */
const tooMany = (): AppError =>
  new AppError(
    'SERVICE_UNAVAILABLE',
    'The invoice counted too many events to read them in time. A job makes its receipt within minutes; read it then, without a reference.',
    { retryAfterSeconds: TOO_MANY_RETRY_AFTER_S },
  )
const TOO_MANY_RETRY_AFTER_S = 300
/** Before a call is refused for its time (api/http/answer-in-time.ts). */
const READING_MS = 20_000

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
  const reading = { withinMs: READING_MS, ...(reference === undefined ? {} : { proven: reference }) }
  const tree =
    stored && reference === undefined ? undefined : (await treesOf(deps, tenant, [{ id, basis }], reading)).get(id)
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
  const { proof } = tree
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
