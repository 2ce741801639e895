// Asks the tax engine, always outside of any transaction, and keeps what it says.
import type { LocalDate } from '../../../../../shared/billing/local-days.ts'
import {
  type EngineAnswer,
  type EngineQuestion,
  type KeyedQuestion,
  NoTaxAnswer,
  type TaxEngine,
} from '../../../../../shared/billing/tax/tax-engine.ts'
import { type Database, inTenant, SERVICE } from '../../../../../shared/database/database.ts'
import type { Failpoints } from '../../../../../shared/failpoint.ts'
import type { Tenant } from '../../../../../shared/tenant.ts'
import { systemClock } from '../../../../../shared/time.ts'
import { saveAnswer, saveFault } from './store-answers.ts'

export type EngineDeps = {
  readonly database: Database
  /** Null where the installation has none. Not optional: whoever forgets to pass it on would not compile. */
  readonly taxEngine: TaxEngine | null
  readonly failpoint?: Failpoints | undefined
}

/** A question that has no answer: why, and whether asking again would give the same. */
export type EngineFault = { readonly message: string; readonly isRefusal: boolean }

const NO_ENGINE =
  'This installation has no tax engine: its operator sets TAX_ENGINE_URL, or the billing entity uses the provider BUILT_IN.'
const SILENT = 'The tax engine did not answer in time.'
const FAILED = 'The tax engine could not be asked.'

/** The answer, or why there is none. Never throws, but for what `signal` was aborted with. */
async function answerOf(
  { taxEngine }: EngineDeps,
  tenant: Tenant,
  { question, ms, signal }: { readonly question: EngineQuestion; readonly ms: number; readonly signal: AbortSignal },
): Promise<EngineAnswer | EngineFault> {
  if (!taxEngine) return { message: NO_ENGINE, isRefusal: true }
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
    if (deadline.aborted) return { message: SILENT, isRefusal: false }
    return error instanceof NoTaxAnswer
      ? { message: error.message, isRefusal: error.isRefusal }
      : { message: FAILED, isRefusal: false }
  }
}

export type QueryTerms = {
  readonly asOf: LocalDate
  /** How long it may take. */
  readonly ms: number
  readonly signal: AbortSignal
  /** Whether the answer takes the place of one that was good. */
  readonly instead?: true
  /** Whether a fault is kept, so that it is shown and the question waits longer. A call tells its caller instead. */
  readonly keepsFaults: boolean
}

/** Asks once and keeps the outcome. `fault`: why there is no answer. */
export async function queryOnce(
  deps: EngineDeps,
  tenant: Tenant,
  open: KeyedQuestion,
  { asOf, ms, signal, instead, keepsFaults }: QueryTerms,
): Promise<{ readonly fault: EngineFault | null }> {
  const found = await answerOf(deps, tenant, { question: open.question, ms, signal })
  await deps.failpoint?.('tax-engine.after-ask')
  if ('message' in found && !keepsFaults) return { fault: found }
  return await inTenant(deps.database, tenant, SERVICE, async uow => {
    if ('message' in found) {
      await saveFault(uow, open, { fault: found.message, asOf, at: systemClock.now() })
      return { fault: found }
    }
    await saveAnswer(uow, open, { answer: found, asOf, ...(instead ? { instead } : {}) })
    return { fault: null }
  })
}
