// Advances the invoices of several subscriptions. Those of one customer take turns in the order in which their periods end, so that wallets
// pay issued invoices before they reserve money for OPEN ones.
import { groupBy } from '../../../../../shared/group-by.ts'
import type { PendingInvoice } from '../../../invoices/changes/pending-invoice.ts'
import { type Advance, type Advanced, advancingInvoices } from '../advance-invoices.ts'
import { type BillingPlan, planBilling } from '../billing-plan.ts'

/** A subscription, and what became of its invoices. */
export type AdvancedSubscription = {
  readonly id: string
  readonly inputs: Advance['state']['inputs']
  readonly step: Advanced
  readonly plan: BillingPlan
}

export type AdvancedTogether = {
  /** In the order of their subscriptions. */
  readonly advanced: readonly AdvancedSubscription[]
  /** All their invoices in the order in which wallets pay them, which is the order in which to save them. */
  readonly pending: readonly PendingInvoice[]
  /** Why the others could not be advanced. */
  readonly failed: ReadonlyMap<string, unknown>
}

type Turns = {
  readonly id: string
  readonly of: Advance
  readonly steps: ReturnType<typeof advancingInvoices>
  place: number
}
type Taken = { readonly id: string; readonly pending: PendingInvoice }

/** Each by its id. Pure, but for the funds that they take from. */
export function advanceInTurns(all: ReadonlyMap<string, Advance>): AdvancedTogether {
  const found = new Map<string, AdvancedSubscription>()
  const failed = new Map<string, unknown>()
  const taken: Taken[] = []
  for (const [, own] of groupBy([...all], ([, { state }]) => state.inputs.customer.id)) {
    const waiting = own.map(([id, of]): Turns => ({ id, of, steps: advancingInvoices(of), place: 0 }))
    for (let turn = nextOf(waiting); turn; turn = nextOf(waiting)) {
      const { id, of, steps } = turn
      try {
        turn.place += 1
        const { done, value } = steps.next()
        if (!done && value) taken.push({ id, pending: value })
        if (!done) continue
        const { inputs } = of.state
        found.set(id, { id, inputs, step: value, plan: planBilling(inputs, value.rows, of.now) })
      } catch (error) {
        failed.set(id, error)
      }
      waiting.splice(waiting.indexOf(turn), 1)
    }
  }
  return {
    advanced: [...all.keys()].flatMap(id => found.get(id) ?? []),
    pending: taken.flatMap(({ id, pending }) => (found.has(id) ? [pending] : [])),
    failed,
  }
}

/** The subscription whose next invoice ends first. An invoice that lost its period comes before all others: it only gives money back. */
function nextOf(waiting: readonly Turns[]): Turns | undefined {
  const endOf = ({ of, place }: Turns): number => of.targets[place]?.window?.cutoffAt ?? Number.NEGATIVE_INFINITY
  let next = waiting[0]
  for (const each of waiting) if (next && endOf(each) < endOf(next)) next = each
  return next
}
