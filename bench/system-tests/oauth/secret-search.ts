// Looks for secrets where none may be: as they are, and in the spellings in which they could lie there unnoticed.
import { readdirSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import pg from 'pg'
import type { ClickHouseClient } from '../../../shared/usage/clickhouse.ts'

/** What a secret is, and its text. */
export type Secret = { readonly kind: string; readonly text: string }
/** A place that was looked through, and its content. */
export type Place = { readonly name: string; readonly content: Buffer }
export type Finding = { readonly place: string; readonly kind: string; readonly spelling: string }

const SHORTEST = 12
const RANDOM = /^[\w-]{43}$/

/** Every secret found in a place, once for each spelling. Throws for a secret too short to be told from chance. */
export function searchFor(secrets: Iterable<Secret>, places: readonly Place[]): Finding[] {
  const findings: Finding[] = []
  for (const { kind, text } of secrets) {
    if (text.length < SHORTEST) throw new Error(`a ${kind} of ${text.length} characters cannot be searched for`)
    for (const [spelling, form] of spellingsOf(text))
      for (const { name, content } of places) if (content.includes(form)) findings.push({ place: name, kind, spelling })
  }
  return findings
}

/** The spellings of a secret: its text, and its bytes as text; for a random value also the bytes it stands for. */
function spellingsOf(text: string): [name: string, form: string][] {
  const bytes = Buffer.from(text)
  const forms: [string, string][] = [
    ['in clear', text],
    ['percent-encoded', encodeURIComponent(text)],
  ]
  forms.push(...encodingsOf('', bytes))
  if (RANDOM.test(text)) forms.push(...encodingsOf('its bytes in ', Buffer.from(text, 'base64url')))
  return forms
}

function encodingsOf(prefix: string, bytes: Buffer): [string, string][] {
  const hex = bytes.toString('hex')
  const forms: [string, string][] = [
    [`${prefix}hex`, hex],
    [`${prefix}HEX`, hex.toUpperCase()],
  ]
  // In the middle of something longer the letters of base64 depend on where the bytes begin; the outermost are shared.
  for (const before of [0, 1, 2]) {
    const padded = Buffer.concat([Buffer.alloc(before), bytes])
    const shared = [0, 2, 3][before] ?? 0
    for (const encoding of ['base64', 'base64url'] as const) {
      const letters = padded.toString(encoding).replace(/=+$/, '')
      forms.push([`${prefix}${encoding}`, letters.slice(shared, padded.length % 3 === 0 ? undefined : -1)])
    }
  }
  return forms
}

/** Every row of every table of a PostgreSQL database as text, a place for each table; binary columns are hex in it. */
export async function tablesOf(databaseUrl: string): Promise<Place[]> {
  const client = new pg.Client({ connectionString: databaseUrl })
  await client.connect()
  try {
    const { rows } = await client.query<{ name: string }>(
      `select format('%I.%I', n.nspname, c.relname) as name from pg_class c join pg_namespace n on n.oid = c.relnamespace
       where c.relkind in ('r', 'm') and n.nspname !~ '^(pg_|information_schema)' order by 1`,
    )
    const places: Place[] = []
    for (const { name } of rows) {
      const dump = await client.query<{ line: string }>(`select t::text as line from ${name} t`)
      places.push({ name: `table ${name}`, content: Buffer.from(dump.rows.map(({ line }) => line).join('\n')) })
    }
    return places
  } finally {
    await client.end()
  }
}

/** Every row of every table of our ClickHouse database. */
export async function usageTablesOf(clickhouse: ClickHouseClient): Promise<Place[]> {
  const query = async (text: string): Promise<Record<string, unknown>[]> =>
    await (await clickhouse.query({ query: text, format: 'JSONEachRow' })).json()
  const tables = await query('select name from system.tables where database = currentDatabase()')
  return await Promise.all(
    tables.map(async ({ name }) => ({
      name: `usage table ${name}`,
      content: Buffer.from(JSON.stringify(await query(`select * from \`${name}\``))),
    })),
  )
}

/** Every file below a folder, among them what the processes wrote to their logs. */
export function filesOf(folder: string): Place[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter(entry => entry.isFile())
    .map(entry => {
      const path = join(entry.parentPath, entry.name)
      return { name: `file ${relative(folder, path)}`, content: readFileSync(path) }
    })
}
