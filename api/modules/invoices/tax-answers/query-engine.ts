// Asks the tax engine, always outside of any transaction, and keeps what it says.
import type { LocalDate } from '../../../../shared/billing/periods.ts'
import {
  type EngineAnswer,
  type EngineQuestion,
  type KeyedQuestion,
  NoTaxAnswer,
  type TaxEngine,
} from '../../../../shared/billing/tax-engine.ts'
import { type Actor, type Database, inTenant } from '../../../../shared/database/database.ts'
import type { Tenant } from '../../../../shared/tenant.ts'
import { systemClock } from '../../../../shared/time.ts'
import { keepAnswer, keepFault } from './store-answers.ts'

export type EngineDeps = {
  readonly database: Database
  /** Null where the installation has none. */
  readonly taxEngine?: TaxEngine | null | undefined
}

const SERVICE: Actor = { id: null, requestId: null }
const NO_ENGINE =
  'This installation has no tax engine: its operator sets TAX_ENGINE_URL, or the billing entity uses the provider BUILT_IN.'
const SILENT = 'The tax engine did not answer in time.'
const FAILED = 'The tax engine could not be asked.'

/** The answer, or why there is none. Never throws, but for what `signal` was aborted with. */
async function answerOf(
  { taxEngine }: EngineDeps,
  tenant: Tenant,
  { question, ms, signal }: { readonly question: EngineQuestion; readonly ms: number; readonly signal: AbortSignal },
): Promise<EngineAnswer | string> {
  if (!taxEngine) return NO_ENGINE
  const deadline = AbortSignal.timeout(ms)
  const either = AbortSignal.any([signal, deadline])
  const { platformId, environment } = tenant
  try {
    // An engine that does not heed the signal must not be waited for either.
    const ended = new Promise<never>((_, reject) => {
      either.addEventListener('abort', () => reject(either.reason), { once: true })
    })
    const answer = await Promise.race([taxEngine.ask(question, { platformId, environment, signal: either }), ended])
    return { ...answer, source: answer.source ?? taxEngine.name }
  } catch (error) {
    signal.throwIfAborted()
    if (deadline.aborted) return SILENT
    return error instanceof NoTaxAnswer ? error.message : FAILED
  }
}

export type QueryTerms = {
  readonly asOf: LocalDate
  /** How long it may take. */
  readonly ms: number
  readonly signal: AbortSignal
  /** Whether the answer takes the place of one that was good. */
  readonly instead?: true
}

/** Asks once and keeps the outcome. `fault`: why there is no answer; `isNew`: whether invoices should be told of it. */
export async function queryOnce(
  deps: EngineDeps,
  tenant: Tenant,
  open: KeyedQuestion,
  { asOf, ms, signal, instead }: QueryTerms,
): Promise<{ readonly fault: string | null; readonly isNew: boolean }> {
  const found = await answerOf(deps, tenant, { question: open.question, ms, signal })
  return await inTenant(deps.database, tenant, SERVICE, async uow => {
    if (typeof found === 'string') {
      const isNew = await keepFault(uow, open, { fault: found, asOf, at: systemClock.now() })
      return { fault: found, isNew }
    }
    await keepAnswer(uow, open, { answer: found, asOf, ...(instead ? { instead } : {}) })
    return { fault: null, isNew: true }
  })
}
