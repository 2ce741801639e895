import { realTime } from '../../../../shared/test-time.ts'
import type { UsageReader } from '../usage/usage-reader.ts'

/** Usage of a platform without events; for tests that are not about usage. */
export const NO_USAGE: UsageReader = {
  read: async () => [],
  readByCustomer: async () => ({ figures: [], byCustomer: [] }),
  quantities: async questions => questions.map(() => []),
  settle: async () => true,
  positions: async () => [],
  /** By what a test puts in place of the others. It then waits for `settle`. */
  async progress(clock) {
    const upToDateUntil = await this.upToDateUntil(clock).catch(() => null)
    return { positions: await this.positions(), upToDateUntil, isComplete: false }
  },
  endsAt: async () => false,
  changedSince: async (_tenant, questions) => questions.map(({ pieces }) => pieces.map(() => false)),
  latestMarks: async () => [],
  changedCustomers: async () => [],
  events: async () => [],
  async *receiptEntries() {},
  upToDateUntil: async clock => realTime(clock.now()),
}
