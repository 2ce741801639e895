// What was written to the outbox, held against the payloads that the API description promises.
import { expect } from 'vitest'
import type { EventType } from '../../shared/contracts/event-types.ts'
import { payloadOfType } from '../description/webhooks.ts'
import { RESOURCES } from '../modules/modules.ts'
import { payloadOf } from '../modules/webhooks/request/payload.ts'
import { outboxRow, type StoredOutboxRow } from '../workers/outbox-row.ts'
import { createChecker } from './checker.ts'
import { describedApi } from './described-api.ts'
import type { Row } from './wire.ts'

type Sql = { sql(text: string, values?: unknown[]): Promise<Row[]> }
let described: Promise<ReturnType<typeof createChecker>> | undefined

/** Expects that the payload of each event in the outbox of `objectId` has its described shape, and that they are of these types. */
export async function expectPayloads(of: Sql, objectId: unknown, types: readonly EventType[]): Promise<void> {
  const fired = await checkPayloads(of, 'object_id', String(objectId))
  expect([...fired]).toEqual(expect.arrayContaining([...types]))
}

/** Expects that the payload of each event in the outbox of a platform has its described shape. Gives the types it found. */
export const expectPayloadsOfPlatform = (of: Sql, platformId: string): Promise<ReadonlySet<string>> =>
  checkPayloads(of, 'platform_id', platformId)

async function checkPayloads(of: Sql, column: 'object_id' | 'platform_id', value: string): Promise<Set<string>> {
  described ??= describedApi().then(createChecker)
  const check = await described
  const rows = await of.sql(
    `select o.*, coalesce(o.data, h.data) as data,
       to_char(o.created_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as created_at
     from outbox o left join outbox h on h.platform_id = o.platform_id and h.environment = o.environment and h.id = o.data_in
     where o.${column} = $1`,
    [value],
  )
  const wrong = rows.flatMap(row => {
    const fault = check(payloadOfType(row['type'], RESOURCES), payloadOf(outboxRow(row as StoredOutboxRow), true))
    return fault === null ? [] : [`${row['type']}: ${fault}`]
  })
  expect([...new Set(wrong)]).toEqual([])
  return new Set(rows.map(({ type }) => type))
}
