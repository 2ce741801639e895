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

type Quantities = readonly UsageQuantity[]
type Waiting = {
  readonly queries: readonly UsageQuery[]
  resolve(answers: readonly Quantities[]): void
  reject(error: unknown): void
}

/** Asks one question, together with all others of the same turn. Throws what `queryUsages` gives in place of its answer. */
export type QueryUsage = (query: UsageQuery) => Promise<Quantities>

/**
 * Asks some questions, together with all others of the same turn, and returns what `make` makes of their answers. Throws what
 * `queryUsages` gives in place of one of them, as `refused` has it. A run has thousands of them waiting at once: each is one promise.
 */
export type QueryUsages = <T>(
  queries: readonly UsageQuery[],
  make: (answers: readonly Quantities[]) => T,
  refused?: (error: unknown) => unknown,
) => Promise<T>

/** The same, one question at a time. */
export const oneQuery =
  (ask: QueryUsages): QueryUsage =>
  query =>
    ask([query], ([answer = []]) => answer)

/**
 * `query` is `queryUsages` of the client but in tests. After so many answers as `answersATurn` others get a turn; without it all are given at
 * once, so that what is asked next is one statement again.
 */
export function gatherQueries(
  client: ClickHouseClient,
  query: (queries: readonly UsageQuery[]) => Promise<readonly Answer[]> = queries => queryUsages(client, queries),
  answersATurn = Number.POSITIVE_INFINITY,
): QueryUsages {
  let waiting: Waiting[] = []
  const flush = (): void => {
    const all = waiting
    waiting = []
    for (const part of partsOf(all)) void answer(part)
  }
  const answer = async (part: readonly Waiting[]): Promise<void> => {
    try {
      const answers = await query(part.flatMap(({ queries }) => queries))
      let from = 0
      for (const [place, each] of part.entries()) {
        if (part.length > answersATurn && place % answersATurn === 0) await othersTurn()
        const to = from + each.queries.length
        give(each, answers.slice(from, to))
        from = to
      }
    } catch (error) {
      // One query that ClickHouse refuses must not fail the others: they are sent again without it. What took too long is not.
      if (part.length === 1 || isUnreachable(error) || isTooLong(error)) for (const each of part) each.reject(error)
      else {
        const middle = Math.ceil(part.length / 2)
        await Promise.all([answer(part.slice(0, middle)), answer(part.slice(middle))])
      }
    }
  }
  return (queries, make, refused = error => error) =>
    new Promise((resolve, reject) => {
      if (waiting.length === 0) setImmediate(flush)
      waiting.push({
        queries,
        resolve: answers => resolve(make(answers)),
        reject: error => reject(refused(error)),
      })
    })
}

function give(to: Waiting, answers: readonly Answer[]): void {
  try {
    to.resolve(
      answers.map(answer => {
        if (answer instanceof AppError) throw answer
        return answer
      }),
    )
  } catch (error) {
    to.reject(error)
  }
}

function partsOf(waiting: readonly Waiting[]): Waiting[][] {
  const parts: Waiting[][] = []
  let places = 0
  for (const each of waiting) {
    const own = each.queries.reduce((sum, { customerKeys }) => sum + customerKeys.length, 0)
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
