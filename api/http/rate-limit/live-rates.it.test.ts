// The rate of a platform that is in force is the one that was set last, in whatever order the reads of it end.
import pg from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createPlatform } from '../../../shared/access/create-platform.ts'
import type { Database } from '../../../shared/database/database.ts'
import { silentLogger } from '../../../shared/process/logger.ts'
import { openTestDatabase } from '../../../shared/testing/database-logins.ts'
import { createTestDatabase, type TestDatabase } from '../../../shared/testing/postgres.ts'
import { systemClock } from '../../../shared/time.ts'
import { createLiveRates, type LiveRates } from './live-rates.ts'

let testDatabase: TestDatabase
let database: Database
let owner: pg.Client
beforeAll(async () => {
  testDatabase = await createTestDatabase()
  database = await openTestDatabase({
    url: testDatabase.url,
    clock: systemClock,
    logger: silentLogger,
    role: 'millrace_gateway',
    poolMax: 5,
  })
  owner = new pg.Client({ connectionString: testDatabase.url })
  await owner.connect()
  // The first read of the platform of the plan waits with what it has seen, or fails.
  await owner.query(`
    create sequence reads;
    create table read_plan (platform text not null, what text not null);
    create function planned(platform_id text, environment environment) returns boolean
      language plpgsql volatile security definer set search_path from current as $$
    declare plan text;
    begin
      select what into plan from read_plan where platform = platform_id and environment = 'LIVE';
      if plan is null or nextval('reads') > 1 then return true; end if;
      if plan = 'fails' then raise exception 'a read that fails'; end if;
      perform pg_advisory_lock(42);
      perform pg_advisory_unlock(42);
      return true;
    end $$;
    create policy planned on platforms as restrictive for select to millrace_gateway using (planned(platform_id, environment))`)
})
afterAll(async () => {
  await owner?.end()
  await database?.close()
  await testDatabase?.drop()
})

/** Rates that have read a platform's own, of a burst of 1. Of the reads from now on, the first does what is planned. */
async function ratesOf(what: 'waits' | 'fails') {
  const { id: platformId } = await createPlatform(testDatabase.url, 'Platform')
  const set = (burst: number) =>
    owner.query(`update platforms set api_settings = $2 where platform_id = $1 and environment = 'LIVE'`, [
      platformId,
      { burst },
    ])
  await set(1)
  const time = { nowMs: 0 }
  const rates: LiveRates = createLiveRates({ database, logger: silentLogger, nowMs: () => time.nowMs, perSecond: 5 })
  const burst = () => rates.of({ platformId, environment: 'LIVE' }).burst
  await expect.poll(burst).toBe(1)
  await owner.query('alter sequence reads restart')
  await owner.query('insert into read_plan values ($1, $2)', [platformId, what])
  return { rates, set, burst, time }
}

const waiting = async (): Promise<number> => {
  const { rows } = await owner.query(
    `select count(*)::int as n from pg_locks where locktype = 'advisory' and not granted`,
  )
  return rows[0].n
}

test('a read that began before the last change and ends after the read of it does not bring back the older rate', async () => {
  await owner.query('select pg_advisory_lock(42)')
  const { rates, set, burst } = await ratesOf('waits')
  await set(2)
  await expect.poll(async () => [burst(), await waiting()]).toEqual([1, 1])
  await set(3)
  await expect.poll(burst).toBe(3)
  await owner.query('select pg_advisory_unlock(42)')
  await expect.poll(waiting).toBe(0)
  for (let count = 0; count < 20; count += 1) {
    await owner.query('select pg_sleep(0.01)')
    expect(burst()).toBe(3)
  }
  await rates.close()
})

test('a change whose read fails is read again', async () => {
  const { rates, set, burst, time } = await ratesOf('fails')
  await set(2)
  await expect
    .poll(() => {
      time.nowMs += 100
      return time.nowMs < 30_000 ? burst() : 'too late'
    })
    .toBe(2)
  await rates.close()
})
