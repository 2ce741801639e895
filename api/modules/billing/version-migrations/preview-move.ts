// What the next invoice of a subscription becomes on another plan version: the move is tried in a transaction that is undone.
import { inTenant } from '../../../../shared/database/database.ts'
import { decimal, plain } from '../../../../shared/decimal.ts'
import type { Tenant } from '../../../../shared/tenant.ts'
import { moveToVersion, type VersionMove } from '../../subscriptions/succession/move-to-version.ts'
import { loadPreviewState, type PreviewState, type PricedPreview, pricePreviews } from '../preview/preview-invoices.ts'
import type { BillingDeps } from '../run/compute-invoice.ts'
import { ACTOR } from '../run/run-group.ts'
import { keyOfWindow } from '../run/subscription-invoices.ts'
import type { MigratedSubscription } from './table.ts'

type Found = Pick<
  MigratedSubscription,
  'status' | 'start_at' | 'invoice_date' | 'amount' | 'migrated_amount' | 'difference' | 'message'
>

/** Thrown to undo the transaction. */
const UNDONE = new Error('the move was only tried')
/** How many invoices without the move are searched for the same period. One further in the future counts as 0. */
const INVOICES_BEFORE = 6

type Tried = {
  readonly start: string
  readonly scheduleId: string
  readonly states: Record<'then' | 'now', PreviewState>
}

/**
 * The first invoice that bills the new schedule, and the invoice of the same period without the move. Usage counts as far as there is
 * any. Throws what keeps the subscription from being moved.
 */
export async function previewMove(deps: BillingDeps, tenant: Tenant, id: string, move: VersionMove): Promise<Found> {
  const tried = await tryMove(deps, tenant, id, move)
  if (typeof tried === 'string') return { ...NOTHING, status: 'SKIPPED', message: tried }
  const { states, start, scheduleId } = tried
  const from = deps.database.clock.now()
  const after = await pricePreviews(deps, tenant, states.then, { from, perSchedule: 1 })
  const first = after.find(({ choice }) => choice.schedules.has(scheduleId))
  const previewed = { status: 'PREVIEWED' as const, message: null, start_at: start }
  if (!first) return { ...NOTHING, ...previewed, amount: '0', migrated_amount: '0', difference: '0' }
  const before = await pricePreviews(deps, tenant, states.now, { from, perSchedule: INVOICES_BEFORE })
  const key = keyOfWindow(first.choice.window)
  const same = before.find(({ choice }) => keyOfWindow(choice.window) === key)
  const [amount, migrated] = [amountOf(same), amountOf(first)]
  return {
    ...previewed,
    invoice_date: first.invoice.columns.invoice_date,
    amount: plain(amount),
    migrated_amount: plain(migrated),
    difference: plain(migrated.minus(amount)),
  }
}

const NOTHING = { start_at: null, invoice_date: null, amount: null, migrated_amount: null, difference: null }

const amountOf = (preview: PricedPreview | undefined) => decimal(preview?.invoice.columns.amount_excluding_tax ?? '0')

/** What the subscription is billed by, now and after the move; or why it is not moved. */
async function tryMove(deps: BillingDeps, tenant: Tenant, id: string, move: VersionMove): Promise<Tried | string> {
  const found: (Tried | string)[] = []
  await inTenant(deps.database, tenant, ACTOR, async uow => {
    const now = await loadPreviewState(uow, id)
    const moved = await moveToVersion(uow, id, move)
    if ('skipped' in moved) found.push(moved.skipped)
    else {
      const { schedule } = moved
      const then = await loadPreviewState(uow, id)
      found.push({ start: schedule.start_at, scheduleId: schedule.id, states: { now, then } })
    }
    throw UNDONE
  }).catch(error => {
    if (error !== UNDONE) throw error
  })
  const tried = found.at(-1)
  if (tried === undefined) throw new Error(`${id} was not tried`)
  return tried
}
