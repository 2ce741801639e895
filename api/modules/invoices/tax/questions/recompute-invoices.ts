// Recomputes the invoices that waited for what a tax engine said.
import { type Database, inTenant, readTenant, SERVICE } from '../../../../../shared/database/database.ts'
import { AppError } from '../../../../../shared/errors.ts'
import type { Id } from '../../../../../shared/ids.ts'
import type { Logger } from '../../../../../shared/process/logger.ts'
import type { Tenant } from '../../../../../shared/tenant.ts'
import { instantOf } from '../../../../../shared/time.ts'
import { inTimeOf } from '../../../../test-clock/test-clock.ts'
import { refreshInvoice } from '../../changes/refresh-invoice.ts'
import type { InvoiceDeps, InvoiceProducer } from '../../producer.ts'
import {
  invoicesWaiting,
  markRecomputed,
  type PendingRecomputation,
  pendingRecomputations,
  postponeRecomputation,
} from '../answers/store-answers.ts'

export type ComputeDeps = InvoiceDeps & {
  /** In the role millrace_worker. */
  readonly system: Database
  readonly logger: Pick<Logger, 'warn'>
}

const AT_ONCE = 8
/** Read at once. */
const QUESTIONS_MAX = 400
/** After so many invoices in a row that a service away has kept from being computed, the rest waits for the next minute. */
const OUTAGES_MAX = 8
/** How long what could not be computed waits. */
const PAUSE_MS = { OUTAGE: 60_000, FAULT: 600_000 }

type Outcome = 'DONE' | keyof typeof PAUSE_MS
/** A question, with how many of its invoices are still to be computed. */
type Pending = { readonly open: PendingRecomputation; left: number; pauseMs: number }

/**
 * Computes the invoices of one part of the questions that were answered, or got a new fault, since; several at a time. `tried` has the
 * questions that this run leaves alone. Returns how many questions it took up.
 */
export async function recomputeBatch(
  deps: ComputeDeps,
  tenant: Tenant,
  { tried, isStopped }: { readonly tried: Set<string>; readonly isStopped: () => boolean },
): Promise<number> {
  const { found, waiting } = await readTenant(deps.database, tenant, async uow => {
    const marked = await pendingRecomputations(uow, deps.system.clock.now(), QUESTIONS_MAX)
    const found = marked.filter(({ key }) => !tried.has(key))
    return { found, waiting: await invoicesWaiting(uow, found) }
  })
  const tasks = found.flatMap(open => {
    tried.add(open.key)
    const ids = waiting.get(open.key) ?? []
    const pending: Pending = { open, left: Math.max(ids.length, 1), pauseMs: 0 }
    return (ids.length === 0 ? [null] : ids).map(id => ({ pending, id }))
  })
  const settling = { ...deps, producers: deps.producers.map(settledOnce) }
  let outages = 0
  const next = tasks[Symbol.iterator]()
  const work = async (): Promise<void> => {
    for (const { pending, id } of { [Symbol.iterator]: () => next }) {
      if (isStopped() || outages >= OUTAGES_MAX) return
      const outcome = id === null ? 'DONE' : await computeOne(settling, tenant, { open: pending.open, id })
      outages = outcome === 'OUTAGE' ? outages + 1 : 0
      if (outcome !== 'DONE') pending.pauseMs = Math.max(pending.pauseMs, PAUSE_MS[outcome])
      pending.left -= 1
      if (pending.left === 0) await conclude(deps, tenant, pending)
    }
  }
  const ends = await Promise.allSettled(Array.from({ length: AT_ONCE }, work))
  for (const end of ends) if (end.status === 'rejected') throw end.reason
  return found.length
}

/** Usage that came before is waited for once, not for each invoice. */
function settledOnce(producer: InvoiceProducer): InvoiceProducer {
  let settled: Promise<boolean> | null = null
  return {
    ...producer,
    settle: timeoutMs => {
      settled ??= producer.settle(timeoutMs)
      return settled
    },
  }
}

/** An invoice that cannot be computed holds up no other. One that is refused for good is computed by its next run, which tells why. */
async function computeOne(
  deps: ComputeDeps,
  tenant: Tenant,
  { open: { question }, id }: { readonly open: PendingRecomputation; readonly id: Id<'invo'> },
): Promise<Outcome> {
  const owner = question.billing_type === 'SELF_BILLING' ? question.seller.id : question.buyer.id
  try {
    await inTimeOf(deps.database, tenant, [owner], () => refreshInvoice(deps, tenant, SERVICE, id))
    return 'DONE'
  } catch (err) {
    if (err instanceof AppError && err.code !== 'SERVICE_UNAVAILABLE') return 'DONE'
    const outcome = err instanceof AppError ? 'OUTAGE' : 'FAULT'
    deps.logger.warn(
      { ...tenant, err, invoiceId: id },
      'an invoice could not be computed with its tax; it is tried again',
    )
    return outcome
  }
}

/** The mark stays on what is to be tried again. */
const conclude = (deps: ComputeDeps, tenant: Tenant, { open, pauseMs }: Pending): Promise<void> =>
  inTenant(deps.database, tenant, SERVICE, uow =>
    pauseMs === 0
      ? markRecomputed(uow, open)
      : postponeRecomputation(uow, open, instantOf(deps.system.clock.now() + pauseMs)),
  )
