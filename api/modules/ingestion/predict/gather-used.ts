// Whether references were used before, asked together: what comes while a question is out goes into the next one.
import { AppError } from '../../../../shared/errors.ts'
import type { Tenant } from '../../../../shared/tenant.ts'
import type { EventStore } from '../../../usage/event-store.ts'

type Waiting = {
  readonly idHash: string
  readonly resolve: (isUsed: boolean) => void
  readonly reject: (error: unknown) => void
}
type Queue = { waiting: Waiting[]; isOut: boolean }

const isUnavailable = (error: unknown): boolean => error instanceof AppError && error.code === 'SERVICE_UNAVAILABLE'

/** Asks whether the usage store has an event of this id, deleted ones too. */
export function gatherUsed({ used }: Pick<EventStore, 'used'>): (tenant: Tenant, idHash: string) => Promise<boolean> {
  const queues = new Map<string, Queue>()
  const ask = async (tenant: Tenant, key: string, queue: Queue): Promise<void> => {
    queue.isOut = true
    while (queue.waiting.length > 0) {
      const all = queue.waiting
      queue.waiting = []
      try {
        const found = await used(tenant, [...new Set(all.map(({ idHash }) => idHash))])
        for (const { idHash, resolve } of all) resolve(found.has(idHash))
      } catch (error) {
        // Who waits behind an answer that did not come would wait as long again.
        const behind = isUnavailable(error) ? queue.waiting.splice(0) : []
        for (const { reject } of [...all, ...behind]) reject(error)
      }
    }
    queues.delete(key)
  }
  return (tenant, idHash) =>
    new Promise((resolve, reject) => {
      const key = `${tenant.platformId} ${tenant.environment}`
      const queue = queues.get(key) ?? { waiting: [], isOut: false }
      queues.set(key, queue)
      queue.waiting.push({ idHash, resolve, reject })
      if (!queue.isOut) void ask(tenant, key, queue)
    })
}
