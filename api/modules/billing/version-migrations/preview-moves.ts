// What the next invoices of subscriptions become on another plan version: the moves are tried in a transaction that is undone. What
// they are billed by is read for many at once, and so is their usage.
import { inTenant, SERVICE } from '../../../../shared/database/database.ts'
import { tryInTransaction } from '../../../../shared/database/savepoint.ts'
import { decimal, plain } from '../../../../shared/decimal.ts'
import { AppError } from '../../../../shared/errors.ts'
import { idsOf } from '../../../../shared/ids.ts'
import { inOneGo } from '../../../../shared/pausing-work.ts'
import type { Tenant } from '../../../../shared/tenant.ts'
import type { Instant } from '../../../../shared/time.ts'
import { lockSubscriptions } from '../../subscriptions/billing-time/next-billing.ts'
import { moveToVersion, type VersionMove } from '../../subscriptions/succession/move-to-version.ts'
import { findingWindow } from '../preview/preview-windows.ts'
import {
  type ChosenPreview,
  loadPreviewStates,
  type PreviewState,
  pricingPreview,
  readPreviews,
} from '../preview/price-previews.ts'
import type { BillingDeps } from '../run/compute-invoice.ts'
import { keyOfWindow } from '../run/state/subscription-invoices.ts'
import { resolveTerms } from '../terms/price-terms.ts'
import { billedInAdvance } from './billed-in-advance.ts'
import type { MigratedSubscription } from './table.ts'

export type FoundMove = Pick<
  MigratedSubscription,
  'status' | 'start_at' | 'invoice_date' | 'amount' | 'migrated_amount' | 'difference' | 'message'
>
/** What was found for a subscription, or why it cannot be moved. */
export type PreviewedMove = { readonly found: FoundMove } | { readonly refused: AppError }

/**
 * How many are tried in one transaction. Each is moved and put back, so they are locked meanwhile, and a call that changes one of them waits:
 * 0.2 s for five, two and a half for fifty. Fewer would read what they share more often.
 */
const TRIED_AT_ONCE = 5

/** Thrown to undo the transaction. */
const UNDONE = new Error('the moves were only tried')
const NOTHING = { start_at: null, invoice_date: null, amount: null, migrated_amount: null, difference: null }

type Tried =
  | { readonly skipped: string }
  | { readonly refused: AppError }
  | {
      readonly start: string
      readonly scheduleId: string
      readonly left: string | null
      readonly now: PreviewState
      readonly then: PreviewState
    }

/**
 * Of each subscription the first invoice that bills the new schedule, and the invoice of the same period without the move. Usage counts
 * as far as there is any, and wallets pay as if no other invoice came before. Throws what is no refusal of a single subscription.
 */
export async function previewMoves(
  deps: BillingDeps,
  tenant: Tenant,
  ids: readonly string[],
  move: VersionMove,
): Promise<Map<string, PreviewedMove>> {
  const tried = new Map<string, Tried>()
  // All in one order, so that two runs do not wait for each other.
  const left = ids.toSorted()
  while (left.length > 0)
    for (const [id, each] of await tryMoves(deps, tenant, left.splice(0, TRIED_AT_ONCE), move)) tried.set(id, each)
  const results = new Map<string, PreviewedMove>()
  const from = deps.database.clock.now()
  const chosen: (ChosenPreview & { readonly id: string; readonly side: 'now' | 'then' })[] = []
  for (const [id, each] of tried) {
    if ('refused' in each) results.set(id, each)
    else if ('skipped' in each) results.set(id, { found: { ...NOTHING, status: 'SKIPPED', message: each.skipped } })
    else
      attempt(results, id, () => {
        for (const { side, choice } of windowsOf(each, from)) chosen.push({ id, side, state: each[side], choice })
      })
  }
  const priced = new Map<string, { now?: Priced; then?: Priced }>()
  for (const read of await readPreviews(deps, tenant, chosen))
    attempt(results, read.id, () => {
      const { amount_excluding_tax: amount, invoice_date } = inOneGo(pricingPreview(read)).columns
      priced.set(read.id, { ...priced.get(read.id), [read.side]: { amount, invoice_date } })
    })
  for (const [id, each] of tried)
    if ('start' in each && !results.has(id)) results.set(id, { found: compared(each, priced.get(id) ?? {}) })
  return results
}

type Priced = { readonly amount: string; readonly invoice_date: string | null }

/** What keeps one from being priced must not keep the others from it. */
function attempt(results: Map<string, PreviewedMove>, id: string, work: () => void): void {
  try {
    work()
  } catch (error) {
    if (!(error instanceof AppError) || error.code === 'SERVICE_UNAVAILABLE') throw error
    results.set(id, { refused: error })
  }
}

type Moved = Extract<Tried, { start: string }>

/** The first period with the new schedule, and the same one without the move. */
function windowsOf({ scheduleId, now, then }: Moved, from: Instant) {
  const asked = ({ inputs, rows }: PreviewState) => ({ inputs, rows, terms: resolveTerms(inputs), from })
  const first = inOneGo(
    findingWindow(asked(then), ({ charges }) => charges.some(({ schedule }) => schedule.id === scheduleId)),
  )
  if (!first) return []
  const key = keyOfWindow(first.window)
  const same = inOneGo(findingWindow(asked(now), ({ window }) => keyOfWindow(window) === key))
  return [{ side: 'then' as const, choice: first }, ...(same ? [{ side: 'now' as const, choice: same }] : [])]
}

function compared({ start, left }: Moved, { now, then }: { now?: Priced; then?: Priced }): FoundMove {
  const previewed = { status: 'PREVIEWED' as const, start_at: start }
  const said = (text: string | null): string | null => [text, left].filter(each => each !== null).join(' ') || null
  if (!then) {
    const message = said('The new version bills nothing in the periods that a preview searches.')
    return { ...previewed, invoice_date: null, amount: '0', migrated_amount: '0', difference: '0', message }
  }
  const [amount, migrated] = [decimal(now?.amount ?? '0'), decimal(then.amount)]
  return {
    ...previewed,
    invoice_date: then.invoice_date,
    amount: plain(amount),
    migrated_amount: plain(migrated),
    difference: plain(migrated.minus(amount)),
    message: said(
      now
        ? null
        : 'Without the move no invoice is for the same period, so all of the new one counts as the difference.',
    ),
  }
}

/** What these subscriptions are billed by, now and after their moves; or why one is not moved. They are locked meanwhile. */
async function tryMoves(
  deps: BillingDeps,
  tenant: Tenant,
  ids: readonly string[],
  move: VersionMove,
): Promise<Map<string, Tried>> {
  const tried = new Map<string, Tried>()
  await inTenant(deps.database, tenant, SERVICE, async uow => {
    // The transaction may be run again.
    tried.clear()
    // All before the first move, which locks its customer: billing locks subscriptions and then their customers, so it would wait for
    // the customer while this waits for its subscription.
    await lockSubscriptions(uow, idsOf('ppsu', ids), { skip: false })
    const before = await loadPreviewStates(uow, ids)
    const moved = new Map<string, Pick<Moved, 'start' | 'scheduleId' | 'left'>>()
    for (const id of ids) {
      const result = await tryInTransaction(uow.tx, () => moveToVersion(uow, id, move, billedInAdvance))
      if ('refused' in result) tried.set(id, result)
      else if ('skipped' in result.done) tried.set(id, result.done)
      else {
        const { schedule, left } = result.done
        moved.set(id, { start: schedule.start_at, scheduleId: schedule.id, left })
      }
    }
    const after = await loadPreviewStates(uow, [...moved.keys()])
    for (const [id, each] of moved) {
      const [now, then] = [before.get(id), after.get(id)]
      if (now && then) tried.set(id, { ...each, now, then })
    }
    throw UNDONE
  }).catch(error => {
    if (error !== UNDONE) throw error
  })
  return tried
}
