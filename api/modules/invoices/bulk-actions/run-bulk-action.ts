// Runs one bulk action: its invoices one after the other, each in transactions of its own. The outcome of each is
// stored, so a run that is killed, or started twice, continues where it was.
import { and, asc, eq } from 'drizzle-orm'
import { type Actor, inTenant, readTenant, SERVICE, type Uow } from '../../../../shared/database/database.ts'
import { AppError } from '../../../../shared/errors.ts'
import type { Failpoints } from '../../../../shared/failpoint.ts'
import type { Id } from '../../../../shared/ids.ts'
import type { Tenant } from '../../../../shared/tenant.ts'
import { formatInstant } from '../../../../shared/time.ts'
import { saveChange } from '../../../resource/commands.ts'
import { lockOne } from '../../../resource/store.ts'
import { inThisTenant } from '../../../resource/tenant-condition.ts'
import { inTimeOf } from '../../../test-clock/test-clock.ts'
import { finalizeInvoice } from '../changes/finalize-invoice.ts'
import { type InvoiceDeps, producerOf } from '../producer.ts'
import { getInvoice } from '../repository.ts'
import { engineOf, withTaxAnswers } from '../tax/answers/with-answers.ts'
import { bulkActionResource } from './bulk-action.ts'
import { type BulkAction, type BulkActionItem, bulkActionItems, bulkActions } from './table.ts'

export type BulkRun = {
  readonly tenant: Tenant
  readonly id: Id<'bulk'>
  /** True on the last try: a temporary error then ends the action. */
  readonly last: boolean
}

export type BulkDeps = InvoiceDeps & { readonly failpoint?: Failpoints }

/** Throws temporary errors, so that it is tried again; on the last try they end the action as ERROR. */
export async function runBulkAction(deps: BulkDeps, { tenant, id, last }: BulkRun): Promise<void> {
  const action = await inTenant(deps.database, tenant, SERVICE, uow => begin(uow, id))
  if (!action) return
  const actor: Actor = { id: action.actor_id, requestId: null }
  try {
    for (;;) {
      const item = await inTenant(deps.database, tenant, SERVICE, uow => nextItem(uow, id))
      if (!item) break
      const { invoice_id: invoiceId } = item
      const message = await inTimeOf(deps.database, tenant, [invoiceId], () =>
        finalizeOne(deps, { tenant, actor, invoiceId }),
      )
      await inTenant(deps.database, tenant, SERVICE, uow => finishItem(uow, item, message))
      await deps.failpoint?.('bulk-actions.after-item')
    }
    await inTenant(deps.database, tenant, SERVICE, uow => finish(uow, id, null))
  } catch (error) {
    const message = error instanceof AppError ? error.message : 'Something went wrong on our side; create it again.'
    if (last) await inTenant(deps.database, tenant, SERVICE, uow => finish(uow, id, message))
    throw error
  }
}

/** Null when there is nothing to do: it has ended. */
async function begin(uow: Uow, id: Id<'bulk'>): Promise<BulkAction | null> {
  const row = await lockOne(uow, bulkActionResource, id)
  if (!row || row.status === 'DONE' || row.status === 'ERROR') return null
  if (row.status === 'IN_PROGRESS') return row
  return await saveChange(uow, bulkActionResource, row, {
    status: 'IN_PROGRESS',
    executed_at: formatInstant(uow.now),
  })
}

async function nextItem(uow: Uow, id: Id<'bulk'>): Promise<BulkActionItem | null> {
  const i = bulkActionItems
  const [item] = await uow.tx
    .select()
    .from(i)
    .where(and(inThisTenant(uow, i), eq(i.bulk_action_id, id), eq(i.status, 'SCHEDULED')))
    .orderBy(asc(i.created_at), asc(i.id))
    .limit(1)
  return item ?? null
}

type One = { readonly tenant: Tenant; readonly actor: Actor; readonly invoiceId: Id<'invo'> }

/** Why the invoice did not become FINAL; null when it is. A temporary error is thrown. */
async function finalizeOne(deps: BulkDeps, { tenant, actor, invoiceId: id }: One): Promise<string | null> {
  const row = await readTenant(deps.database, tenant, uow => getInvoice(uow, id))
  // Issued with one that came before it in this action.
  if (row.combined_into_id !== null) return null
  if (row.on_hold) return 'The invoice was put on hold meanwhile; release it first.'
  try {
    const withOthers = async () => (await producerOf(deps, row).issueWithOthers?.({ tenant, id })) ?? null
    const issued = row.status === 'DRAFT' ? await withTaxAnswers(engineOf(deps), tenant, withOthers) : null
    if (issued?.status === 'FINAL' || issued?.combined_into_id) return null
    await finalizeInvoice(deps, { tenant, actor, id })
    return null
  } catch (error) {
    if (!(error instanceof AppError) || error.status >= 500) throw error
    return error.message
  }
}

/** A second worker never changes an outcome. Progress emits no event; it shows that the run is not lost. */
async function finishItem(uow: Uow, { id, bulk_action_id }: BulkActionItem, message: string | null): Promise<void> {
  const now = formatInstant(uow.now)
  await uow.tx
    .update(bulkActions)
    .set({ updated_at: now })
    .where(and(inThisTenant(uow, bulkActions), eq(bulkActions.id, bulk_action_id)))
  await uow.tx
    .update(bulkActionItems)
    .set({ status: message === null ? 'SUCCEEDED' : 'FAILED', message, updated_at: now })
    .where(and(inThisTenant(uow, bulkActionItems), eq(bulkActionItems.id, id), eq(bulkActionItems.status, 'SCHEDULED')))
}

/** `fault`: what stopped it for good; null when every invoice has its outcome. */
async function finish(uow: Uow, id: string, fault: string | null): Promise<void> {
  const row = await lockOne(uow, bulkActionResource, id)
  if (row?.status !== 'IN_PROGRESS') return
  await saveChange(uow, bulkActionResource, row, { status: fault === null ? 'DONE' : 'ERROR', message: fault })
}
