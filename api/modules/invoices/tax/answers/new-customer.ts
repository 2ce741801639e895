// Where one call makes a customer and the invoice that it is taxed on: the engine is asked about the customer after a try that was
// rolled back, so its id and what the engine said outlive that try, in memory. Another try keeps them with the customer, or nothing is.
import { AsyncLocalStorage } from 'node:async_hooks'
import type { LocalDate } from '../../../../../shared/billing/local-days.ts'
import type { EngineAnswer, KeyedQuestion } from '../../../../../shared/billing/tax/tax-engine.ts'
import { type Id, newId } from '../../../../../shared/ids.ts'

export type EngineReply = { readonly answer: EngineAnswer; readonly asOf: LocalDate; readonly instead?: true }
type RetainedAnswer = { readonly open: KeyedQuestion; readonly said: EngineReply }

const storage = new AsyncLocalStorage<{ readonly id: Id<'cust'>; readonly answers: RetainedAnswer[] }>()

/** Runs `work`. Each attempt may create a customer, always with the id `newCustomerId`. */
export const withStableCustomerId = <T>(work: () => Promise<T>): Promise<T> =>
  storage.run({ id: newId('cust'), answers: [] }, work)

/** The same in every try of a call. */
export const newCustomerId = (): Id<'cust'> => storage.getStore()?.id ?? newId('cust')

/** Retains what the engine said about the customer that this call makes, for the next attempt. */
export function retainAnswer(customerId: Id<'cust'>, retained: RetainedAnswer): void {
  const call = storage.getStore()
  if (call?.id === customerId) call.answers.push(retained)
}

/** The answers that earlier attempts received. */
export const retainedAnswers = (): readonly RetainedAnswer[] => storage.getStore()?.answers ?? []
