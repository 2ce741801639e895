// The ground every other `it` test stands on.
import { ClickHouseLogLevel, createClient } from '@clickhouse/client'
import pg from 'pg'
import { expect, test } from 'vitest'
import { brokerAddress } from '../log/address.ts'
import { createTestClickHouse } from './clickhouse.ts'
import { startTestNats } from './nats.ts'
import { createTestDatabase } from './postgres.ts'

async function tables(url: string): Promise<string[]> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    const { rows } = await client.query<{ name: string }>(
      "SELECT tablename AS name FROM pg_tables WHERE schemaname = 'public' ORDER BY 1",
    )
    return rows.map(row => row.name)
  } finally {
    await client.end()
  }
}

test('two test databases have the schema and share nothing', async () => {
  const [a, b] = await Promise.all([createTestDatabase(), createTestDatabase()])
  expect(await tables(a.url)).toContain('schema_migrations')
  const client = new pg.Client({ connectionString: a.url })
  await client.connect()
  await client.query('CREATE TABLE only_here (n int)')
  await client.end()
  expect(await tables(a.url)).toContain('only_here')
  expect(await tables(b.url)).not.toContain('only_here')
  await Promise.all([a.drop(), b.drop()])
  await expect(tables(a.url)).rejects.toMatchObject({ code: '3D000' })
})

test('a test ClickHouse has the tables of the aggregator and goes away', async () => {
  const { url, database, drop } = await createTestClickHouse()
  const client = createClient({ url, database, log: { level: ClickHouseLogLevel.OFF } })
  const shown = await client.query({ query: 'SHOW TABLES', format: 'JSONEachRow' })
  expect((await shown.json<{ name: string }>()).map(row => row.name)).toContain('usage_events')
  await drop()
  await expect(client.query({ query: 'SHOW TABLES', format: 'JSONEachRow' })).rejects.toMatchObject({ code: '81' })
  await client.close()
})

test('a test NATS keeps its url over a kill and a restart', async () => {
  const nats = await startTestNats()
  await nats.kill()
  await nats.restart()
  const { connect } = await import('@nats-io/transport-node')
  const connection = await connect(brokerAddress(nats.url))
  expect(connection.info?.jetstream).toBe(true)
  await connection.close()
  await nats.stop()
})
