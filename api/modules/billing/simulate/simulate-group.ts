// Simulates the invoices of many subscriptions at once: one after the other for each, since an invoice bills what those
// before it left, and the first of all of them together, then the second, so that each step reads usage in one statement.
import { AppError } from '../../../../shared/errors.ts'
import { groupBy } from '../../../../shared/group-by.ts'
import type { Tenant } from '../../../../shared/tenant.ts'
import { findLateUnits, lateChargesOf } from '../late/late-charges.ts'
import type { LateCharge } from '../late/late-usage.ts'
import type { BillingDeps } from '../run/compute-invoice.ts'
import { exactlyUpTo, settleMarks } from '../usage/exact-usage.ts'
import { usageNeeds } from '../usage/usage-needs.ts'
import { readUsage } from '../usage/usage-reader.ts'
import type { Candidate } from './candidate.ts'
import { compareInvoices } from './compare.ts'
import type { FinalInvoice, FinalInvoices } from './load-closed.ts'
import type { SimulatedInvoice } from './schema.ts'
import {
  afterSimulated,
  type ClosedInvoice,
  chargesOfSimulated,
  nothingSimulated,
  planSimulated,
  priceSimulated,
  type SimulatedPlan,
  type SimulatedSoFar,
} from './simulate-invoice.ts'

/** What became of each subscription: the comparison of its invoices, or why it cannot be rated. */
export type Simulated = ReadonlyMap<
  string,
  { readonly invoices: readonly SimulatedInvoice[] } | { readonly message: string }
>

type Run = { soFar: SimulatedSoFar; readonly left: FinalInvoice[]; readonly done: SimulatedInvoice[] }
type Round = {
  readonly subscriptionId: string
  readonly run: Run
  readonly final: FinalInvoice
  readonly closed: ClosedInvoice
  readonly plan: SimulatedPlan
}

const NOT_KEPT = 'An invoice became FINAL before what it was priced from was kept, so it cannot be rated again.'

/** Throws when usage cannot be read; what cannot be rated fails for its subscription alone. */
export async function simulateGroup(
  deps: BillingDeps,
  tenant: Tenant,
  of: { readonly finals: FinalInvoices; readonly candidate: Candidate },
): Promise<Simulated> {
  const { finals, candidate } = of
  const runs = new Map<string, Run>()
  const failed = new Map<string, string>()
  for (const [id, own] of groupBy(finals.invoices, ({ subscriptionId }) => subscriptionId)) {
    if (own.some(({ closed }) => closed === null)) failed.set(id, NOT_KEPT)
    else runs.set(id, { soFar: nothingSimulated(new Set(own.map(each => each.id))), left: [...own], done: [] })
  }
  const attempt = <T>(id: string, work: () => T): T[] => {
    try {
      return [work()]
    } catch (error) {
      if (!(error instanceof AppError)) throw error
      failed.set(id, error.message)
      return []
    }
  }
  for (;;) {
    const round = [...runs].flatMap(([subscriptionId, run]): Round[] => {
      const final = failed.has(subscriptionId) ? undefined : run.left.shift()
      const closed = final?.closed
      if (!final || !closed) return []
      const { names } = finals
      const planned = attempt(subscriptionId, () => planSimulated(closed, candidate, { soFar: run.soFar, names }))
      return planned.map(plan => ({ subscriptionId, run, final, closed, plan }))
    })
    if (round.length === 0) break
    for (const { usage, late, ...each } of await readRound(deps, tenant, round)) {
      const { run, final, plan } = each
      for (const priced of attempt(each.subscriptionId, () => priceSimulated(plan, { late, usage }))) {
        run.soFar = afterSimulated(run.soFar, plan, priced)
        const simulated = { amount_excluding_tax: priced.columns.amount_excluding_tax, lines: priced.lines }
        run.done.push(
          compareInvoices(final.billed, simulated, {
            invoice_id: final.id,
            period_start: final.periodStart,
            period_end: final.periodEnd,
            currency: final.currency,
            inputs: plan.inputs,
          }),
        )
      }
    }
  }
  const ids = new Set([...runs.keys(), ...failed.keys()])
  return new Map(
    [...ids].map(id => {
      const message = failed.get(id)
      return [id, message === undefined ? { invoices: runs.get(id)?.done ?? [] } : { message }]
    }),
  )
}

/** Late usage of the simulated invoices before, and the usage of all, exactly as far as each invoice counted. */
async function readRound(deps: BillingDeps, tenant: Tenant, round: readonly Round[]) {
  const charged = await Promise.all(
    round.map(async each => {
      const { plan, closed } = each
      const { inputs, terms } = plan
      const units =
        plan.closed.length === 0 ? [] : await findLateUnits(deps, { tenant, inputs, terms, closed: plan.closed })
      const late: LateCharge[] = [...plan.late, ...lateChargesOf(units, closed.invoiceId)]
      return { ...each, late, charges: chargesOfSimulated(plan, late) }
    }),
  )
  const read = await Promise.all(
    charged.map(async each => {
      const { inputs } = each.plan
      return { ...each, read: await readUsage(deps, { tenant, inputs, charges: each.charges }) }
    }),
  )
  const isMetered = read.some(({ charges }) => usageNeeds(charges).length > 0)
  const marked = isMetered ? await settleMarks(deps.usage) : 'NOTHING_CAME'
  return await Promise.all(
    read.map(async ({ charges, read: usage, ...each }) => {
      const { inputs, invoice } = each.plan
      const { positions } = invoice
      const of = { tenant, inputs, charges, positions, read: usage, marked } as const
      return {
        ...each,
        usage: charges.some(charge => charge.usage !== null) ? await exactlyUpTo(deps, of) : usage,
      }
    }),
  )
}
