import type { EventStore } from '../../../../usage/event-store.ts'

/** The events of a platform that nobody has sent any to; for tests that are not about events. */
export const NO_EVENTS: EventStore = {
  find: async () => null,
  used: async () => new Set(),
  repeatsByMinute: async () => new Map(),
  received: async () => [],
  list: async () => ({ events: [], ended: true, total: 0 }),
  count: async () => 0,
  position: async () => null,
  beyond: async () => [],
  amendments: async () => [],
  processed: async () => true,
  log: {
    takenAt: async () => null,
    end: async () => ({ partition: 0, seq: 0 }),
    publishDeletion: async () => {
      throw new Error('there is no event to delete')
    },
    publishAmendment: async () => {
      throw new Error('there is no event to amend')
    },
  },
}
