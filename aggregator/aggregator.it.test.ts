import { rmSync } from 'node:fs'
import { jetstreamManager } from '@nats-io/jetstream'
import { describe, expect, test } from 'vitest'
import { createTestClickHouse, type TestClickHouse } from '../shared/testing/clickhouse.ts'
import { startTestNats, type TestNats } from '../shared/testing/nats.ts'
import { createClickHouse } from '../shared/usage/clickhouse.ts'
import {
  amendLineOf,
  createTestAggregator,
  deleteLineOf,
  eventLineOf,
  TEST_PLATFORM,
  TEST_TIME_MS,
  type TestAggregator,
  type TestEvent,
} from './testing.ts'

async function withAggregator(
  work: (aggregator: TestAggregator, server: TestNats, clickhouse: TestClickHouse) => Promise<void>,
) {
  const clickhouse = await createTestClickHouse()
  const server = await startTestNats()
  const aggregator = await createTestAggregator({ natsUrl: server.url, clickhouse })
  try {
    await work(aggregator, server, clickhouse)
  } finally {
    await aggregator.close()
    await server.stop()
    await clickhouse.drop()
  }
}

const COUNTED = `SELECT reference, toString(value_quantities[1]) FROM usage_events FINAL WHERE deleted = 0 ORDER BY reference`
const events = (count: number, over: Partial<TestEvent> = {}): TestEvent[] =>
  Array.from({ length: count }, (_, index) => ({ reference: `event-${String(index).padStart(4, '0')}`, ...over }))

describe('the aggregator', () => {
  test('counts each reference once, the first in the log, and keeps every duplicate', () =>
    withAggregator(async aggregator => {
      const running = await aggregator.start()
      await aggregator.publish(events(20).map(eventLineOf))
      // The same content again, other content, and another month: all duplicates of the first.
      await aggregator.publish(events(20).map(eventLineOf))
      await aggregator.publish([
        eventLineOf({ reference: 'event-0000', quantity: '99' }),
        eventLineOf({ reference: 'event-0001', timestampMs: TEST_TIME_MS - 40 * 86_400_000 }),
        eventLineOf({ reference: 'event-0002', customerKey: 'somebody-else' }),
      ])
      await aggregator.settle()
      expect(await aggregator.rows(COUNTED)).toEqual(events(20).map(({ reference }) => [reference, '1']))
      const [duplicates] = await aggregator.rows<[string, string]>(
        'SELECT count(), sum(content_differs) FROM usage_duplicates FINAL',
      )
      expect(duplicates).toEqual(['23', '3'])
      await running.stop()
    }))

  test('a deletion stops an event counting for ever, and only in its own tenant', () =>
    withAggregator(async aggregator => {
      const running = await aggregator.start()
      await aggregator.publish([eventLineOf({ reference: 'a' }), eventLineOf({ reference: 'b' })])
      await aggregator.publish([deleteLineOf({ reference: 'a' }), deleteLineOf({ reference: 'never-sent' })])
      await aggregator.publish([eventLineOf({ reference: 'a' })])
      // The hash of one tenant's event in a record that names another tenant.
      const foreign = deleteLineOf({ reference: 'b' })
      await aggregator.publish([
        { ...foreign, line: foreign.line.replace(TEST_PLATFORM, 'plat_0000000000000000000002') },
      ])
      await aggregator.settle()
      expect(await aggregator.rows(COUNTED)).toEqual([['b', '1']])
      expect(await aggregator.rows(`SELECT reference, deleted FROM usage_events FINAL WHERE reference = 'a'`)).toEqual([
        ['a', 1],
      ])
      expect(await aggregator.rows('SELECT reason FROM usage_dead_letters FINAL ORDER BY reason')).toEqual([
        ['DELETE_NOT_FOUND'],
        ['DELETE_UNKNOWN'],
      ])
      await running.stop()
    }))

  test('an amendment replaces what the event measured, the last in the log for good, and the history says what it was', () =>
    withAggregator(async aggregator => {
      const running = await aggregator.start()
      const properties = { model: 'small' }
      await aggregator.publish([eventLineOf({ reference: 'a', properties }), eventLineOf({ reference: 'b' })])
      const first = amendLineOf({ reference: 'a', quantity: '0.000000000001', properties: { model: 'large' } })
      await aggregator.publish([first, amendLineOf({ reference: 'never-sent' })])
      await aggregator.publish([amendLineOf({ reference: 'a', quantity: '-7.5' })])
      const foreign = amendLineOf({ reference: 'b' })
      await aggregator.publish([
        { ...foreign, line: foreign.line.replace(TEST_PLATFORM, 'plat_0000000000000000000002') },
      ])
      // What is sent again stays a duplicate, of the first and not of what it became.
      await aggregator.publish([eventLineOf({ reference: 'a', properties }), eventLineOf({ reference: 'b' })])
      await aggregator.settle()
      const events = `SELECT reference, toString(value_quantities[1]), properties, toUnixTimestamp64Milli(timestamp),
        received_at = toDateTime64(${TEST_TIME_MS / 1000 + 1}, 3), content_hash != '' FROM usage_events FINAL ORDER BY reference`
      const stored = [
        ['a', '-7.5', { model: 'large' }, String(TEST_TIME_MS), 1, 1],
        ['b', '1', {}, String(TEST_TIME_MS), 1, 1],
      ]
      expect(await aggregator.rows(events)).toEqual(stored)
      expect(await aggregator.rows('SELECT content_differs FROM usage_duplicates FINAL')).toEqual([[0], [0]])
      const history = `SELECT toString(value_quantities[1]), properties['model'], toString(previous_value_quantities[1]),
        previous_properties['model'], applied, actor_id, reason FROM usage_amendments FINAL ORDER BY log_seq`
      const kept = [
        ['0.000000000001', 'large', '1', 'small', 1, 'apik_1', 'counted twice by the sender'],
        ['-7.5', 'large', '0.000000000001', 'large', 1, 'apik_1', 'counted twice by the sender'],
      ]
      expect(await aggregator.rows(history)).toEqual(kept)
      expect(await aggregator.rows('SELECT reason FROM usage_dead_letters FINAL ORDER BY reason')).toEqual([
        ['AMEND_NOT_FOUND'],
        ['AMEND_UNKNOWN'],
      ])
      // Deleted, it can no longer be changed; and reading the whole log again changes nothing.
      await aggregator.publish([deleteLineOf({ reference: 'a' })])
      await aggregator.publish([amendLineOf({ reference: 'a', quantity: '9' }), deleteLineOf({ reference: 'a' })])
      await aggregator.settle()
      await running.stop()
      const late = ['9', 'large', '-7.5', 'large', 0, 'apik_1', 'counted twice by the sender']
      for (const again of [false, true]) {
        if (again) {
          rmSync(aggregator.indexDirectory, { recursive: true })
          await aggregator.client.command({ query: 'TRUNCATE TABLE usage_positions' })
          const second = await aggregator.start()
          await aggregator.settle()
          await second.stop()
        }
        expect(await aggregator.rows(COUNTED)).toEqual([['b', '1']])
        expect(await aggregator.rows(events)).toEqual(stored)
        expect(await aggregator.rows(history)).toEqual([...kept, late])
        expect(await aggregator.rows('SELECT count() FROM usage_duplicates FINAL')).toEqual([['2']])
      }
    }))

  test('stores what no table could refuse: every month since 1970, extreme numbers, odd text', () =>
    withAggregator(async aggregator => {
      const running = await aggregator.start()
      const months = Array.from({ length: 56 * 12 }, (_, month) => ({
        reference: `month-${month}`,
        timestampMs: Date.UTC(1970, month, 1),
      }))
      await aggregator.publish(months.map(eventLineOf))
      const widest = '99999999999999999999999999.999999999999'
      const odd: TestEvent[] = [
        { reference: 'widest', quantity: widest },
        { reference: 'lowest', quantity: `-${widest}` },
        {
          reference: 'surrogate \ud800 \u0000 \u2028 "\\',
          customerKey: 'c\u0000\n\ud800',
          properties: { 'p\n"': '\udfff' },
        },
        { reference: 'smallest', quantity: '0.000000000001' },
      ]
      await aggregator.publish(odd.map(eventLineOf))
      await aggregator.settle()
      expect(
        await aggregator.rows(
          `SELECT count(), min(timestamp), max(timestamp), uniqExact(toYYYYMM(timestamp)) FROM usage_events FINAL WHERE startsWith(reference, 'month')`,
        ),
      ).toEqual([['672', '1970-01-01 00:00:00.000', '2025-12-01 00:00:00.000', '672']])
      expect(
        await aggregator.rows(
          `SELECT toString(value_quantities[1]) FROM usage_events FINAL WHERE reference IN ('widest', 'lowest', 'smallest') ORDER BY reference`,
        ),
      ).toEqual([[`-${widest}`], ['0.000000000001'], [widest]])
      expect(await aggregator.rows('SELECT count() FROM usage_events FINAL')).toEqual([['676']])
      await running.stop()
    }))

  test('keeps what cannot be read with its reason, and goes on', () =>
    withAggregator(async aggregator => {
      const running = await aggregator.start()
      const good = eventLineOf({ reference: 'good' })
      await aggregator.publish([
        { ...good, line: 'not json' },
        { ...good, line: good.line.replace('"1"', '"1e9"') },
        good,
      ])
      await aggregator.settle()
      expect(await aggregator.rows(COUNTED)).toEqual([['good', '1']])
      expect(
        await aggregator.rows('SELECT reason, log_line, record FROM usage_dead_letters FINAL ORDER BY log_line'),
      ).toEqual([
        ['NOT_A_RECORD', 0, 'not json'],
        ['INVALID_FIELD', 1, good.line.replace('"1"', '"1e9"')],
      ])
      await running.stop()
    }))

  test('goes on from its position, and rebuilds a lost index from usage_events with the same answers', () =>
    withAggregator(async aggregator => {
      const first = await aggregator.start()
      await aggregator.publish(events(50).map(eventLineOf))
      await aggregator.publish([deleteLineOf({ reference: 'event-0003' })])
      await aggregator.settle()
      await first.stop()
      await aggregator.publish([eventLineOf({ reference: 'while-stopped' }), eventLineOf({ reference: 'event-0004' })])
      rmSync(aggregator.indexDirectory, { recursive: true })
      const second = await aggregator.start()
      await aggregator.publish(events(50, { quantity: '7' }).map(eventLineOf))
      await aggregator.settle()
      const expected = events(50).filter(({ reference }) => reference !== 'event-0003')
      expect(await aggregator.rows(COUNTED)).toEqual([
        ...expected.map(({ reference }) => [reference, '1']),
        ['while-stopped', '1'],
      ])
      expect(await aggregator.rows('SELECT count() FROM usage_duplicates FINAL')).toEqual([['51']])
      await second.stop()
    }))

  test.for(['kept', 'lost'])('an empty ClickHouse is filled again from the log; the index is %s', (index, _) =>
    withAggregator(async (aggregator, _server, { url, database }) => {
      const first = await aggregator.start()
      await aggregator.publish(events(30).map(eventLineOf))
      await aggregator.publish([deleteLineOf({ reference: 'event-0003' }), eventLineOf({ reference: 'event-0004' })])
      await aggregator.settle()
      const before = await aggregator.rows(COUNTED)
      await first.stop()
      const client = createClickHouse(url, database)
      for (const [table] of await aggregator.rows<[string]>("SHOW TABLES LIKE 'usage%'"))
        await client.command({ query: `TRUNCATE TABLE ${table}` })
      await client.close()
      expect(await aggregator.rows(COUNTED)).toEqual([])
      if (index === 'lost') rmSync(aggregator.indexDirectory, { recursive: true })
      const second = await aggregator.start()
      await aggregator.publish(events(31).map(eventLineOf))
      await aggregator.settle()
      expect(await aggregator.rows(COUNTED)).toEqual([...before, ['event-0030', '1']])
      await second.stop()
    }),
  )

  test('reads on when the broker is killed and comes back', () =>
    withAggregator(async (aggregator, server) => {
      const running = await aggregator.start()
      await aggregator.publish(events(10).map(eventLineOf))
      await aggregator.settle()
      await server.kill()
      await server.restart()
      await aggregator.publish(events(20).map(eventLineOf))
      await aggregator.settle()
      expect(await aggregator.rows(COUNTED)).toHaveLength(20)
      expect(await aggregator.rows('SELECT count() FROM usage_duplicates FINAL')).toEqual([['10']])
      await running.stop()
    }))

  test('notes messages that expired before they were read, and goes on', () =>
    withAggregator(async aggregator => {
      const first = await aggregator.start()
      await first.stop()
      const jsm = await jetstreamManager(aggregator.nats)
      for (const { reference } of events(8)) await aggregator.publish([eventLineOf({ reference })])
      const lost = (await jsm.streams.info('USAGE_0')).state.last_seq - 1
      await jsm.streams.purge('USAGE_0', { seq: lost + 1 })
      const second = await aggregator.start()
      await aggregator.settle()
      expect(
        await aggregator.rows('SELECT log_partition, log_seq, reason, record FROM usage_dead_letters FINAL'),
      ).toEqual([[0, '1', 'LOG_GAP', `messages 1 to ${lost} are no longer in the log`]])
      expect(await aggregator.rows(COUNTED)).toHaveLength(8 - lost)
      await second.stop()
    }))

  test('refuses a log that does not hold what was processed', () =>
    withAggregator(async aggregator => {
      const running = await aggregator.start()
      await aggregator.publish(events(10).map(eventLineOf))
      await aggregator.settle()
      await running.stop()
      const jsm = await jetstreamManager(aggregator.nats)
      await jsm.streams.delete('USAGE_0')
      await expect(aggregator.start()).rejects.toThrow(/USAGE_0 does not hold what was already processed/)
    }))
})
