// Calls that wait for the tax engine, for a bounded time: previews, and invoices that a user makes FINAL.
import { type LocalDate, localDateOf } from '../../../../../shared/billing/local-days.ts'
import { readTenant } from '../../../../../shared/database/database.ts'
import { AppError } from '../../../../../shared/errors.ts'
import type { Tenant } from '../../../../../shared/tenant.ts'
import { zoneNamed } from '../../document/invoice-dates.ts'
import type { InvoiceContent } from '../../schema.ts'
import type { InvoiceRow } from '../../table.ts'
import { MissingTaxAnswer, type NeededAnswer } from './missing-answer.ts'
import { type EngineDeps, type EngineFault, queryOnce } from './query-engine.ts'
import { questionOfInvoice } from './store-answers.ts'

const WAIT_MS = 5_000
const RETRY_AFTER_S = 30
const AT_ONCE = 8
/** What was asked may have changed meanwhile, and then another question is open. */
const ROUNDS_MAX = 3

/**
 * Does `work`, which throws MissingTaxAnswer where it needs an answer; asks then, and does it again. Throws SERVICE_UNAVAILABLE when
 * the engine does not answer, and INVALID_OPERATION with what it says when it refuses the question.
 */
export async function withTaxAnswers<T>(deps: EngineDeps, tenant: Tenant, work: () => Promise<T>): Promise<T> {
  for (let round = 1; ; round += 1) {
    try {
      return await work()
    } catch (error) {
      if (!(error instanceof MissingTaxAnswer) || round === ROUNDS_MAX) throw error
      await queryNow(deps, tenant, error.needed, { field: error.details.field })
    }
  }
}

async function queryNow(
  deps: EngineDeps,
  tenant: Tenant,
  needed: readonly NeededAnswer[],
  { field, ...instead }: { readonly field?: string | undefined; readonly instead?: true } = {},
): Promise<void> {
  const { signal } = new AbortController()
  const faults: EngineFault[] = []
  for (let from = 0; from < needed.length && faults.length === 0; from += AT_ONCE) {
    const outcomes = await Promise.all(
      needed
        .slice(from, from + AT_ONCE)
        .map(({ asOf, ...open }) =>
          queryOnce(deps, tenant, open, { asOf, ms: WAIT_MS, signal, keepsFaults: false, ...instead }),
        ),
    )
    faults.push(...outcomes.flatMap(({ fault }) => (fault === null ? [] : [fault])))
  }
  const [fault] = faults.toSorted((a, b) => Number(b.isRefusal) - Number(a.isRefusal))
  if (!fault) return
  // What waiting does not heal is reported first, and not as something to wait for.
  if (fault.isRefusal) throw new AppError('INVALID_OPERATION', fault.message, { field: field ?? 'billing_entity_id' })
  throw new AppError('SERVICE_UNAVAILABLE', fault.message, { retryAfterSeconds: RETRY_AFTER_S })
}

/** The part of dependencies that these calls need, where tests may leave the engine out. */
export const engineOf = (deps: {
  readonly database: EngineDeps['database']
  readonly taxEngine?: EngineDeps['taxEngine'] | undefined
}): EngineDeps => ({ database: deps.database, taxEngine: deps.taxEngine ?? null })

/**
 * Asks once more what an OPEN or DRAFT invoice is about; the answer holds for every invoice of that day that is not FINAL. Throws
 * like `withTaxAnswers` when the engine gives none: what it said before stays.
 */
export async function queryAgain(deps: EngineDeps, tenant: Tenant, row: InvoiceRow): Promise<void> {
  const zone = zoneNamed(row.timezone)
  const asOf = localDateOf(deps.database.clock.now(), zone)
  const known = await readTenant(deps.database, tenant, uow => questionOfInvoice(uow, row))
  if (known) await queryNow(deps, tenant, [{ ...known, asOf }], { instead: true })
}

/** Throws MissingTaxAnswer when one of these documents has no answer at all; one from before its day is good enough to look at. */
export function requireAnswers(contents: readonly Pick<InvoiceContent, 'tax_question'>[], asOf: LocalDate): void {
  const open = contents.flatMap(({ tax_question: asked }) =>
    asked && asked.as_of === null ? [{ key: asked.key, question: asked.question, asOf }] : [],
  )
  const once = [...new Map(open.map(each => [each.key, each])).values()]
  if (once.length > 0)
    throw new MissingTaxAnswer(once, 'The tax engine has not said what tax applies.', 'billing_entity_id')
}
