// The time of a test clock, for all that is done within it: whatever asks a clock there is answered by the test clock. It follows the
// calls themselves, so that no code on the way has to know of it.
import { AsyncLocalStorage } from 'node:async_hooks'
import type { Clock, Instant } from './time.ts'

type Frozen = { readonly at: Instant; readonly real: Clock }
const frozen = new AsyncLocalStorage<Frozen>()

/** `clock`, except within `atTestTime`. */
export const withTestTime = (clock: Clock): Clock => ({ now: () => frozen.getStore()?.at ?? clock.now() })

/** Does `work` at this instant; `real` is the clock of the day. */
export const atTestTime = <T>(at: Instant, real: Clock, work: () => Promise<T>): Promise<T> =>
  frozen.run({ at, real }, work)

/** Whether the time is that of a test clock. */
export const isTestTime = (): boolean => frozen.getStore() !== undefined

/** The time of the day, when `now` may be that of a test clock: what is sent, and what expires, goes by it. */
export function realTime(now: Instant): Instant {
  const store = frozen.getStore()
  return store ? frozen.exit(() => store.real.now()) : now
}
