// Queries that arise one by one, sent together: all that arise before the process turns to something else go to ClickHouse at once. So
// billing a subscription, or a hundred, reads each figure where it needs it, and costs one statement.
import { AppError } from '../../../shared/errors.ts'
import { othersTurn } from '../../../shared/process/in-turns.ts'
import { type ClickHouseClient, isTooLong } from '../../../shared/usage/clickhouse.ts'
import { isUnreachable } from '../answered.ts'
import type { UsageQuantity, UsageQuery } from '../usage-query.ts'
import { type Answer, queryUsages } from './query-usages.ts'

/** Names of customers, each on a meter and in a time, that one statement reads. */
const PLACES_MAX = 10_000

type Waiting = {
  readonly query: UsageQuery
  readonly resolve: (quantities: readonly UsageQuantity[]) => void
  readonly reject: (error: unknown) => void
}

/** Asks one question, together with all others of the same turn. Throws what `queryUsages` gives in place of its answer. */
export type QueryUsage = (query: UsageQuery) => Promise<readonly UsageQuantity[]>

/**
 * `query` is `queryUsages` of the client but in tests. After so many answers as `answersATurn` others get a turn; without it all are given at
 * once, so that what is asked next is one statement again.
 */
export function gatherQueries(
  client: ClickHouseClient,
  query: (queries: readonly UsageQuery[]) => Promise<readonly Answer[]> = queries => queryUsages(client, queries),
  answersATurn = Number.POSITIVE_INFINITY,
): QueryUsage {
  let waiting: Waiting[] = []
  const flush = (): void => {
    const all = waiting
    waiting = []
    for (const part of partsOf(all)) void answer(part)
  }
  const answer = async (part: readonly Waiting[]): Promise<void> => {
    try {
      const answers = await query(part.map(({ query }) => query))
      for (const [place, { resolve, reject }] of part.entries()) {
        if (part.length > answersATurn && place % answersATurn === 0) await othersTurn()
        const found = answers[place] ?? []
        if (found instanceof AppError) reject(found)
        else resolve(found)
      }
    } catch (error) {
      // One query that ClickHouse refuses must not fail the others: they are sent again without it. What took too long is not.
      if (part.length === 1 || isUnreachable(error) || isTooLong(error)) for (const { reject } of part) reject(error)
      else {
        const middle = Math.ceil(part.length / 2)
        await Promise.all([answer(part.slice(0, middle)), answer(part.slice(middle))])
      }
    }
  }
  return query =>
    new Promise((resolve, reject) => {
      if (waiting.length === 0) setImmediate(flush)
      waiting.push({ query, resolve, reject })
    })
}

function partsOf(waiting: readonly Waiting[]): Waiting[][] {
  const parts: Waiting[][] = []
  let places = 0
  for (const each of waiting) {
    const own = each.query.customerKeys.length
    const last = parts.at(-1)
    if (last && places + own <= PLACES_MAX) last.push(each)
    else {
      parts.push([each])
      places = 0
    }
    places += own
  }
  return parts
}
