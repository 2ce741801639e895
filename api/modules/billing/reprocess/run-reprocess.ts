// Runs one reprocess: waits until usage is complete, then computes its invoices again, one by one. Progress is stored
// for each invoice, so a run that is killed, or started twice, continues where it was.
import { type SQL, sql } from 'drizzle-orm'
import { inTenant, SERVICE, type Uow } from '../../../../shared/database/database.ts'
import { AppError } from '../../../../shared/errors.ts'
import { type Id, idOf } from '../../../../shared/ids.ts'
import type { Tenant } from '../../../../shared/tenant.ts'
import { formatInstant } from '../../../../shared/time.ts'
import { saveChange } from '../../../resource/commands.ts'
import { lockOne } from '../../../resource/store.ts'
import { refreshInvoice } from '../../invoices/changes/refresh-invoice.ts'
import type { InvoiceDeps } from '../../invoices/producer.ts'
import { lockInvoice } from '../../invoices/repository.ts'
import type { BillingDeps } from '../run/compute-invoice.ts'
import { affectedBy, isReached } from './affected-invoices.ts'
import { reprocessResource } from './reprocess.ts'

const SETTLE_MS = 15_000
const WAITING = 'It waits for usage that was accepted to be counted.'

export type ReprocessRun = {
  readonly tenant: Tenant
  readonly id: string
  /** True on the last try: an error then ends the reprocess. */
  readonly last: boolean
}

export type ReprocessDeps = BillingDeps & InvoiceDeps

/**
 * Runs a reprocess to its end. Throws temporary errors, so that it is retried; on the last try they end it as ERROR.
 */
export async function runReprocess(deps: ReprocessDeps, run: ReprocessRun): Promise<void> {
  const { tenant, id } = run
  const started = await inTenant(deps.database, tenant, SERVICE, uow => begin(uow, id))
  if (!started) return
  try {
    if (!(await deps.usage.settle(SETTLE_MS)))
      throw new AppError('SERVICE_UNAVAILABLE', WAITING, { retryAfterSeconds: 60 })
    for (;;) {
      const invoiceId = await inTenant(deps.database, tenant, SERVICE, uow => nextItem(uow, id))
      if (invoiceId === null) break
      const outcome = await computeAgain(deps, tenant, idOf('invo', invoiceId))
      await inTenant(deps.database, tenant, SERVICE, uow => finishItem(uow, { id, invoiceId, outcome }))
      await deps.failpoint?.('reprocess.after-item')
    }
    await inTenant(deps.database, tenant, SERVICE, uow => finish(uow, id, null))
  } catch (error) {
    if (run.last) await inTenant(deps.database, tenant, SERVICE, uow => finish(uow, id, messageOf(error)))
    throw error
  }
}

const messageOf = (error: unknown): string =>
  error instanceof AppError ? error.message : 'Something went wrong on our side; create the reprocess again.'

/** False when there is nothing to do: it has ended, or was deleted. */
async function begin(uow: Uow, id: string): Promise<boolean> {
  const row = await lockOne(uow, reprocessResource, id)
  if (!row || row.status === 'DONE' || row.status === 'ERROR') return false
  if (row.status === 'IN_PROGRESS') return true
  await uow.tx.execute(sql`
    insert into reprocess_items (platform_id, environment, reprocess_id, invoice_id)
    select v.platform_id, v.environment, ${id}, v.id from invoices v where ${affectedBy(uow, row)}`)
  await saveChange(uow, reprocessResource, row, { status: 'IN_PROGRESS' })
  return true
}

const ofReprocess = (uow: Uow, id: string) =>
  sql`platform_id = ${uow.tenant.platformId} and environment = ${uow.tenant.environment} and reprocess_id = ${id}`

async function nextItem(uow: Uow, id: string): Promise<string | null> {
  const { rows } = await uow.tx.execute<{ invoice_id: string }>(sql`
    select invoice_id from reprocess_items where ${ofReprocess(uow, id)} and status = 'SCHEDULED' order by invoice_id limit 1`)
  return rows[0]?.invoice_id ?? null
}

type Outcome = { readonly status: 'DONE' | 'SKIPPED' } | { readonly status: 'ERROR'; readonly message: string }

/** A permanent error is the outcome of this invoice and stops no other invoice; a temporary error is thrown. */
async function computeAgain(deps: ReprocessDeps, tenant: Tenant, invoiceId: Id<'invo'>): Promise<Outcome> {
  try {
    await refreshInvoice(deps, tenant, SERVICE, invoiceId)
    return { status: 'DONE' }
  } catch (error) {
    if (!(error instanceof AppError) || error.status >= 500) throw error
    const { status } = await inTenant(deps.database, tenant, SERVICE, uow => lockInvoice(uow, invoiceId))
    return status === 'OPEN' || status === 'DRAFT' ? { status: 'ERROR', message: error.message } : { status: 'SKIPPED' }
  }
}

async function finishItem(
  uow: Uow,
  of: { readonly id: string; readonly invoiceId: string; readonly outcome: Outcome },
): Promise<void> {
  const { platformId, environment } = uow.tenant
  const { id, invoiceId, outcome } = of
  const message = outcome.status === 'ERROR' ? outcome.message : null
  await uow.tx.execute(sql`
    update reprocess_items set status = ${outcome.status}, message = ${message}
    where ${ofReprocess(uow, id)} and invoice_id = ${invoiceId}`)
  await markAgain(uow, sql`v.id = ${invoiceId}`)
  // Progress emits no event; status changes tell when the reprocess starts and ends.
  await uow.tx.execute(sql`
    update reprocesses set updated_at = ${formatInstant(uow.now)}, percentage = (
      select 100 * count(*) filter (where status <> 'SCHEDULED') / count(*) from reprocess_items where ${ofReprocess(uow, id)})
    where platform_id = ${platformId} and environment = ${environment} and id = ${id}`)
}

/** Keeps the marks of other reprocesses that wait for these invoices. */
async function markAgain(uow: Uow, which: SQL): Promise<void> {
  const { platformId, environment } = uow.tenant
  await uow.tx.execute(sql`
    update invoices v set to_be_reprocessed_at = (
      select min(r.scheduled_at) from reprocesses r
      where r.platform_id = v.platform_id and r.environment = v.environment and r.status = 'SCHEDULED'
        and ${isReached})
    where v.platform_id = ${platformId} and v.environment = ${environment} and v.status in ('OPEN', 'DRAFT') and ${which}`)
}

/** `fault`: what stopped it for good; null when every invoice was processed. */
async function finish(uow: Uow, id: string, fault: string | null): Promise<void> {
  const row = await lockOne(uow, reprocessResource, id)
  if (row?.['status'] !== 'IN_PROGRESS') return
  const failed = await uow.tx.execute<{ invoice_id: string; message: string }>(sql`
    select invoice_id, message from reprocess_items where ${ofReprocess(uow, id)} and status = 'ERROR' order by invoice_id`)
  const [first] = failed.rows
  if (fault !== null)
    await markAgain(uow, sql`v.id in (select invoice_id from reprocess_items where ${ofReprocess(uow, id)})`)
  const message =
    fault ?? (first ? `${failed.rows.length} could not be computed; ${first.invoice_id}: ${first.message}` : null)
  await saveChange(uow, reprocessResource, row, {
    status: message === null ? 'DONE' : 'ERROR',
    message,
    finished_at: formatInstant(uow.now),
    ...(fault === null ? { percentage: 100 } : {}),
  })
}
