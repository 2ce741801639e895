// The lease table that the workers share, over a network that loses answers.
import type { LeaseStore } from '../../../aggregator/leases/lease-store.ts'
import { EMPTY_TABLE, type LeaseTable } from '../../../aggregator/leases/lease-table.ts'
import { call, type Life, type World } from './world.ts'

export type Leases = {
  /** The table as this worker reaches it; one of its own when it is to believe that it is alone. */
  storeOf(life: Life, alone: boolean): LeaseStore
}

type Shared = { table: LeaseTable; revision: number }

export function createLeases(world: World): Leases {
  const shared: Shared = { table: EMPTY_TABLE, revision: 0 }
  const listeners = new Map<Life, () => void>()
  return {
    storeOf(life, alone) {
      const state = alone ? { table: EMPTY_TABLE, revision: 0 } : shared
      return {
        read: () => call(world, life, () => ({ ...state })),
        replace: (table, revision) =>
          call(world, life, () => {
            if (state.revision !== revision) return false
            Object.assign(state, { table, revision: revision + 1 })
            return true
          }),
        announce() {
          for (const [listener, tell] of listeners) {
            if (listener !== life) world.deliver(listener, world.random.below(world.weather.slowMs), tell)
          }
        },
        onAnnounce(callback) {
          listeners.set(life, callback)
          return () => listeners.delete(life)
        },
      }
    },
  }
}
