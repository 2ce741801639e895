// Upgrade and rollback of the schema, as docs/deploying.md has them: a new version adds what is missing to the data of the one
// before, and the one before starts on the newer schema.
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import pg from 'pg'
import { afterEach, beforeEach, expect, inject, test } from 'vitest'
import type {} from '../testing/global-setup.ts'
import { uniqueName } from '../testing/names.ts'
import { migrate } from './migrate.ts'

const FOLDER = 'shared/database/migrations'
const files = readdirSync(FOLDER)
  .filter(name => name.endsWith('.sql'))
  .sort()
/** What the version before has. */
const before = files.slice(0, Math.ceil(files.length / 2))
const SHA256_OF_NOTHING = createHash('sha256').update('').digest('hex')

let name: string
let url: string
let client: pg.Client
const onServer = async (statement: string): Promise<void> => {
  const server = new pg.Client({ connectionString: inject('databaseUrl') })
  await server.connect()
  await server.query(statement).finally(() => server.end())
}
beforeEach(async () => {
  name = uniqueName()
  await onServer(`create database ${name}`)
  const address = new URL(inject('databaseUrl'))
  address.pathname = `/${name}`
  url = address.href
  client = new pg.Client({ connectionString: url })
  await client.connect()
})
afterEach(async () => {
  await client.end()
  await onServer(`drop database ${name} with (force)`)
})

/** Leaves the schema as the version before left it. */
async function migrateAsBefore(): Promise<void> {
  await client.query(
    'create table schema_migrations (name text primary key, sha256 text, applied_at timestamptz default now())',
  )
  for (const file of before) {
    const text = readFileSync(`${FOLDER}/${file}`, 'utf8')
    await client.query(text)
    const sha256 = createHash('sha256').update(text).digest('hex')
    await client.query('insert into schema_migrations (name, sha256) values ($1, $2)', [file, sha256])
  }
}
const known = async (): Promise<string[]> =>
  (await client.query<{ name: string }>('select name from schema_migrations order by name')).rows.map(row => row.name)

test('an upgrade adds what is new to the data of the version before, once, however many processes begin it', async () => {
  await migrateAsBefore()
  await client.query(
    `insert into platforms (platform_id, environment, name) values ('plat_1', 'LIVE', 'Kept'), ('plat_1', 'TEST', 'Kept')`,
  )
  const applied = await Promise.all([migrate(url), migrate(url), migrate(url)])
  expect(applied.flat().sort()).toEqual(files.slice(before.length))
  expect(await known()).toEqual(files)
  const { rows } = await client.query('select environment, name from platforms order by environment')
  expect(rows.map(row => row.name)).toEqual(['Kept', 'Kept'])
})

test('after a rollback the version before starts on the schema of the newer one, and changes nothing', async () => {
  await migrate(url)
  await client.query(`insert into schema_migrations (name, sha256) values ('99991231T2359_newer.sql', $1)`, [
    SHA256_OF_NOTHING,
  ])
  expect(await migrate(url)).toEqual([])
  expect(await known()).toEqual([...files, '99991231T2359_newer.sql'])
})

test('a migration that was changed after it ran is refused by name', async () => {
  await migrate(url)
  await client.query('update schema_migrations set sha256 = $1 where name = $2', [SHA256_OF_NOTHING, files[3]])
  await expect(migrate(url)).rejects.toThrow(`migration ${files[3]} was changed after it had been applied`)
})
