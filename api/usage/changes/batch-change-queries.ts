// Batches queries for changed usage that arise one by one: all that arise before the process turns to something else are one
// statement for each tenant, so a group of invoices queries once.
import type { Tenant } from '../../../shared/tenant.ts'
import type { ClickHouseClient } from '../../../shared/usage/clickhouse.ts'
import { type ChangeQuery, usageChanges } from './usage-changes.ts'

type Asked = {
  readonly questions: readonly ChangeQuery[]
  readonly resolve: (flags: boolean[][]) => void
  readonly reject: (error: unknown) => void
}
type Turn = { readonly tenant: Tenant; readonly asked: Asked[] }

/** Asks as `usageChanges` does, together with all others of the same turn. */
export type ReadChanges = (tenant: Tenant, questions: readonly ChangeQuery[]) => Promise<boolean[][]>

/** `ask` is `usageChanges` of the client but in tests. */
export function batchChangeQueries(
  client: ClickHouseClient,
  ask: ReadChanges = (tenant, questions) => usageChanges(client, tenant, questions),
): ReadChanges {
  const turns = new Map<string, Turn>()
  const flush = async (key: string): Promise<void> => {
    const turn = turns.get(key)
    turns.delete(key)
    if (!turn) return
    const { tenant, asked } = turn
    try {
      const flags = await ask(
        tenant,
        asked.flatMap(({ questions }) => questions),
      )
      let next = 0
      for (const { questions, resolve } of asked) {
        resolve(flags.slice(next, next + questions.length))
        next += questions.length
      }
    } catch (error) {
      for (const { reject } of asked) reject(error)
    }
  }
  return (tenant, questions) =>
    new Promise((resolve, reject) => {
      const key = JSON.stringify([tenant.platformId, tenant.environment])
      const turn = turns.get(key) ?? { tenant, asked: [] }
      if (turn.asked.length === 0) {
        turns.set(key, turn)
        setImmediate(() => void flush(key))
      }
      turn.asked.push({ questions, resolve, reject })
    })
}
