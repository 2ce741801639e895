// How much of a meter's list stands in usage_records_by_meter, which aggregators fill in the background. It is read by a statement of its
// own, before the list is. What it answers stays true: records are never taken from that table, so every record that was stored before
// the question is found in one of the two tables, whatever is copied, stored or announced meanwhile. (Read within the statement of the list,
// it could be newer than what the statement sees of the table.) So an older answer would be right for what was stored before it, and it is
// asked anew for each list, since what was stored since must be found as well.
import type { Tenant } from '../../../shared/tenant.ts'
import { type Instant, instantOf } from '../../../shared/time.ts'
import { type ClickHouseClient, selectRows } from '../../../shared/usage/clickhouse.ts'
import { ALL_COPIED, COMMON_METER, meterKey } from '../../../shared/usage/meter-records.ts'
import { FEW_ROWS } from '../stored-events.ts'

/** NONE: usage_records_by_time is read. ALL: usage_records_by_meter alone. A time: what was received before it is read from the latter. */
export type WholeBefore = 'NONE' | 'ALL' | Instant

const ENTRIES_MAX = 10_000

/**
 * Before an aggregator stores records, it announces their meters and a time: what it received before then is copied
 * (aggregator/meter-lists/progress.ts). If it names no meter, the time holds for all of them. Without any announcement, nothing counts as copied.
 */
const QUESTION = `SELECT toUnixTimestamp64Milli(min(if(empty(meters) OR has(meters, {meter:String}), complete_before, fromUnixTimestamp64Milli(${ALL_COPIED}, 'UTC')))),
  max(owner = concat('${COMMON_METER}', {meter:String})) FROM usage_records_by_meter_progress FINAL`

/** Knows of no common meter yet, and of 10,000 at most; the oldest are forgotten first. */
export function createWholeBefore(): (
  client: ClickHouseClient,
  tenant: Tenant,
  meterReference: string,
) => Promise<WholeBefore> {
  /** A meter that is common stays so; and usage_records_by_time has all records of any meter. */
  const common = new Set<string>()
  return async (client, { platformId, environment }, meterReference) => {
    const meter = meterKey(platformId, environment, meterReference)
    if (common.has(meter)) return 'NONE'
    const [row] = await selectRows<[string, number]>(client, QUESTION, { meter }, FEW_ROWS)
    const [before, isCommon] = [Number(row?.[0] ?? 0), row?.[1] === 1]
    if (isCommon) {
      common.add(meter)
      for (const oldest of common) {
        if (common.size <= ENTRIES_MAX) break
        common.delete(oldest)
      }
    }
    if (before >= ALL_COPIED) return 'ALL'
    return before <= 0 ? 'NONE' : instantOf(before)
  }
}
