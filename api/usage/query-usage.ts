// One question of usage: the door (ask/ask-usage.ts) asked about one customer on one meter over an interval.
import { AppError } from '../../shared/errors.ts'
import type { ClickHouseClient } from '../../shared/usage/clickhouse.ts'
import { queryUsages } from './query/query-usages.ts'
import type { UsageQuantity, UsageQuery } from './usage-query.ts'

/** The quantities of one query, as `queryUsages` gives them. Throws its INVALID_OPERATION. */
export async function queryUsage(client: ClickHouseClient, query: UsageQuery): Promise<readonly UsageQuantity[]> {
  const [answer = []] = await queryUsages(client, [query])
  if (answer instanceof AppError) throw answer
  return answer
}
