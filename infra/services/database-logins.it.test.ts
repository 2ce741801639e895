// A process is in the database what its login is, and can become nothing else.
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import pg from 'pg'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { DATABASE_ROLES, type DatabaseRole, openDatabase } from '../../shared/database/database.ts'
import { type Logins, loginsOf, prepareLogins } from '../../shared/database/logins.ts'
import { migrate } from '../../shared/database/migrate.ts'
import { silentLogger } from '../../shared/process/logger.ts'
import { systemClock } from '../../shared/time.ts'
import { freePort, type Service } from './child.ts'
import { startPostgres } from './postgres.ts'
import { temporaryFolder } from './temporary.ts'

const folder = temporaryFolder('millrace-logins-')
let server: Service
let owner: pg.Client
let logins: Logins

// A server of its own: roles belong to the whole server, and this test spoils them.
beforeAll(async () => {
  const log = () => undefined
  server = await startPostgres({ dataDir: join(folder, 'postgres'), port: await freePort(), log, forgetful: true })
  owner = new pg.Client({ connectionString: server.url })
  await owner.connect()
  await migrate(server.url)
  logins = loginsOf(server.url, role => `first of ${role}`)
  await prepareLogins(server.url, logins)
}, 120_000)
afterAll(async () => {
  await owner?.end()
  await server?.stop()
  rmSync(folder, { recursive: true, force: true })
})

const open = (url: string, role: DatabaseRole) =>
  openDatabase({ url, role, clock: systemClock, logger: silentLogger, poolMax: 1 }).then(database => database.close())

describe('a connection of the gateway', () => {
  test.each([
    ['the keys that sign tokens', 'select from oauth_signing_keys'],
    ['invoices of every tenant', 'select from invoices'],
    ['passwords', 'select password_hash from users'],
    ['a file of the server', `select pg_read_file('postgresql.conf')`],
    ['a program of the server', `copy (select 1) to program 'id'`],
    ['another role', 'set role millrace_app'],
    ['the owner', 'set role millrace'],
    ['the session of the owner', 'set session authorization millrace'],
    ['a role of its own', 'create role mine'],
    ['a table of its own', 'create table mine (id int)'],
  ])('gets nowhere near %s, after `set role none` either', async (_what, statement) => {
    const client = new pg.Client({ connectionString: logins.millrace_gateway })
    await client.connect()
    try {
      await client.query('set role none')
      await expect(client.query(statement)).rejects.toMatchObject({ code: '42501' })
      const { rows } = await client.query('select session_user, current_user')
      expect(rows).toEqual([{ session_user: 'millrace_gateway', current_user: 'millrace_gateway' }])
    } finally {
      await client.end()
    }
  })
})

describe('a process starts', () => {
  test.each(DATABASE_ROLES)('as %s, with its own login and no other', async role => {
    await open(logins[role], role)
    await expect(open(server.url, role)).rejects.toThrow(`logs in to PostgreSQL as ${role}, not as millrace`)
    for (const other of DATABASE_ROLES.filter(each => each !== role))
      await expect(open(logins[other], role)).rejects.toThrow(`as ${role}, not as ${other}`)
  })

  describe('and refuses', () => {
    const undo: string[] = []
    afterEach(async () => {
      for (const statement of undo.splice(0)) await owner.query(statement)
    })
    test.each([
      ['a superuser', 'alter role millrace_app superuser', 'alter role millrace_app nosuperuser'],
      ['who bypasses row-level security', 'alter role millrace_app bypassrls', 'alter role millrace_app nobypassrls'],
      ['who makes roles', 'alter role millrace_app createrole', 'alter role millrace_app nocreaterole'],
      ['a member of another role', 'grant millrace_worker to millrace_app', 'revoke millrace_worker from millrace_app'],
      [
        'who reads files',
        'grant pg_read_server_files to millrace_app',
        'revoke pg_read_server_files from millrace_app',
      ],
      ['who owns a table', 'create table mine (id int); alter table mine owner to millrace_app', 'drop table mine'],
      [
        'who owns a function',
        'create function mine() returns int language sql as $$ select 1 $$; alter function mine owner to millrace_app',
        'drop function mine',
      ],
    ])('a login %s', async (_what, spoil, repair) => {
      await owner.query(spoil)
      undo.push(repair)
      await expect(open(logins.millrace_app, 'millrace_app')).rejects.toThrow('The PostgreSQL login millrace_app owns')
    })
  })
})

describe('logins', () => {
  test('are made in a database from before there were any, and given another password', async () => {
    await owner.query('alter role millrace_worker nologin password null')
    await expect(open(logins.millrace_worker, 'millrace_worker')).rejects.toThrow()
    await prepareLogins(server.url, logins)
    await open(logins.millrace_worker, 'millrace_worker')
    const others = loginsOf(server.url, role => `second of ${role}: %/@?`)
    await prepareLogins(server.url, others)
    await open(others.millrace_worker, 'millrace_worker')
    await expect(open(logins.millrace_worker, 'millrace_worker')).rejects.toMatchObject({ code: '28P01' })
    await prepareLogins(server.url, logins)
  })

  test('that work are left as they are', async () => {
    const stored = async () => (await owner.query('select rolname, rolpassword from pg_authid order by 1')).rows
    const before = await stored()
    await prepareLogins(server.url, logins)
    expect(await stored()).toEqual(before)
    expect(JSON.stringify(before)).not.toContain('first of')
  })
})
