// The one door to the outbox: every notice of a change, whichever process makes it, is written here, in the change's transaction.
import { type SQL, sql } from 'drizzle-orm'
import { PgDialect } from 'drizzle-orm/pg-core'
import { type EventType, isDeclaredEvent } from '../contracts/event-types.ts'
import { newId } from '../ids.ts'
import { packJson, unpackJson } from '../json/packed-json.ts'
import type { Tenant } from '../tenant.ts'
import type { Actor, SystemTransaction } from './database.ts'
import { changedFields, type FormerValue, formerValues, type Json, withFormerValues } from './former-values.ts'
import { sendAhead } from './transaction.ts'

export type DomainEvent = {
  readonly type: EventType
  readonly objectId: string
  /** The resource after the change, as the API returns it. */
  readonly data: Record<string, unknown>
  /** The resource before the change; null unless it is an update. */
  readonly previous: Record<string, unknown> | null
  /** What else a receiver may want to know, such as what caused it (contract: Webhook delivery payload). */
  readonly metadata?: Record<string, unknown>
}

/** Rows that one statement writes. What all have in common is given once: half of the values need not be sent and parsed. */
const ROWS_MAX = 500

type Of = {
  readonly tenant: Tenant
  readonly actor: Actor
  /** When they happened: an instant, or what the database says of it. */
  readonly at: SQL | string
}

/**
 * Writes the notices of `events` in `of.tenant`, in their order; they become visible to consumers when the transaction commits, which
 * fails when they cannot be written. Throws for a type that no module declares.
 */
export async function writeNotices(tx: SystemTransaction, of: Of, events: readonly DomainEvent[]): Promise<void> {
  const rows = bodiesOf(events).map(valuesOf)
  for (let first = 0; first < rows.length; first += ROWS_MAX) {
    const some = rows.slice(first, first + ROWS_MAX)
    // Nothing is asked of it, and for most changes it is the last statement before the commit.
    if (!sendRows(tx, of, some)) await tx.execute(statementOf(of, sql.join(some.map(rowOf), sql`, `)))
  }
}

/** What a row says by itself, in the order of its columns. */
type NoticeValues = readonly [
  id: string,
  type: string,
  objectId: string,
  data: string | null,
  dataIn: string | null,
  changes: string | null,
  former: string | null,
  fields: readonly string[],
  metadata: string | null,
]

function valuesOf({ event, id, data, dataIn, changes, former }: Body): NoticeValues {
  if (!isDeclaredEvent(event.type)) throw new Error(`no module declares the event ${event.type}`)
  const metadata = event.metadata === undefined ? null : JSON.stringify(event.metadata)
  const texts = [changes?.text ?? null, former?.text ?? null] as const
  return [id, event.type, event.objectId, data, dataIn, ...texts, former?.fields ?? [], metadata]
}

/** The values that all rows have in common, in the order in which the statement names them. */
const commonOf = ({ tenant, actor }: Of) =>
  [
    ...([tenant.platformId, tenant.environment, actor.requestId, actor.id, actor.impersonatedUserId ?? null] as const),
    ...([actor.credentialId ?? null, actor.ip ?? null, actor.idempotencyKey ?? null] as const),
  ] as const

/** How each value of a row is given: JSON and lists are sent as text. */
const CASTS = ['', '', '', '::json', '', '::jsonb', '::jsonb', '::text[]', '::jsonb'] as const

const rowOf = (values: NoticeValues): SQL =>
  sql`(${sql.join(
    values.map((value, place) => sql`${sql.param(value)}${sql.raw(CASTS[place] ?? '')}`),
    sql`, `,
  )})`

/** The same for the row whose values stand from `first` on. The query builder takes six times as long for hundreds of rows. */
const textOfRow = (first: number): string => `(${CASTS.map((cast, place) => `$${first + place}${cast}`).join()})`

function statementOf(of: Of, rows: SQL): SQL {
  const [platform, environment, request, actor, user, credential, ip, key] = commonOf(of)
  return sql`
    insert into outbox (platform_id, environment, id, type, object_type, object_id, data, data_in, data_changes, former_values,
      changed_fields, metadata, request_id, actor_id, impersonated_user_id, credential_id, ip, idempotency_key, created_at)
    select ${platform}, ${environment}, id, type, split_part(type, '.', 1), object_id, data, data_in, data_changes,
      former_values, changed_fields, metadata, ${request}, ${actor}, ${user}, ${credential}, ${ip}, ${key}, ${of.at}
    from (values ${rows})
      as given (id, type, object_id, data, data_in, data_changes, former_values, changed_fields, metadata)`
}

const dialect = new PgDialect()

/** What stands before the rows and after them: the text is the same but for how it tells the time. */
type Around = { readonly before: string; readonly after: string; readonly name: string }
const arounds = new Map<string, Around>()

function aroundOf(of: Of, at: string): Around {
  const known = arounds.get(at)
  if (known) return known
  const [before = '', after = ''] = dialect.sqlToQuery(statementOf(of, sql.raw('ROWS'))).sql.split('ROWS')
  const made = { before, after, name: `notice ${arounds.size}` }
  arounds.set(at, made)
  return made
}

/** Sends these rows, one by a statement that has a name. Returns false, and sends nothing, where nothing can be sent ahead. */
function sendRows(tx: SystemTransaction, of: Of, rows: readonly NoticeValues[]): boolean {
  const given = typeof of.at === 'string' ? [of.at] : []
  const { sql: at, params } = typeof of.at === 'string' ? GIVEN : dialect.sqlToQuery(of.at)
  if (params.length > 0) return false
  const { before, after, name } = aroundOf(of, at)
  const common = [...commonOf(of), ...given]
  const texts = rows.map((_row, place) => textOfRow(common.length + 1 + place * CASTS.length))
  const text = `${before}${texts.join()}${after}`
  return sendAhead(tx, { text, values: [...common, ...rows.flat()], ...(rows.length === 1 ? { name } : {}) })
}

/** An instant: its text goes in as a value. */
const GIVEN = { sql: '', params: [] }

type Body = {
  readonly event: DomainEvent
  readonly id: string
  /** Null where another notice holds the resource: which, and what its own had in place of that. */
  readonly data: string | null
  readonly dataIn: string | null
  readonly changes: Former | null
  readonly former: Former | null
}

type Data = DomainEvent['data']

/** What is stored of each: a resource with several notices is stored once, with the last of them. */
function bodiesOf(events: readonly DomainEvent[]): Body[] {
  const compared = new Map<Data, Map<Data, Former>>()
  const formerOf = (previous: Data, data: Data): Former => {
    const known = compared.get(previous) ?? new Map<Data, Former>()
    compared.set(previous, known)
    const found = known.get(data) ?? storedFormer(previous, data)
    known.set(data, found)
    return found
  }
  const ids = events.map(() => newId('evnt'))
  const last = new Map(events.map(({ objectId }, place) => [objectId, place]))
  return events.map((event, place): Body => {
    const { data, previous } = event
    const former = previous === null ? null : formerOf(previous, data)
    const id = ids[place] ?? ''
    const holder = last.get(event.objectId) ?? place
    const held = events[holder]?.data ?? data
    const changes = data === held ? null : formerOf(data, held)
    return holder === place || changes?.isWhole
      ? { event, id, former, data: storedData(data), dataIn: null, changes: null }
      : { event, id, former, data: null, dataIn: ids[holder] ?? null, changes: changes?.isEmpty ? null : changes }
  })
}

/** As JSON; where that is long, as one text of JSON that holds it packed. */
function storedData(data: Data): string {
  const json = JSON.stringify(data)
  const packed = packJson(json)
  // Base64 has nothing that JSON escapes.
  return packed === null ? json : `"${packed}"`
}

type Former = {
  readonly text: string
  /** Nothing was saved: the text holds the resource. */
  readonly isWhole: boolean
  /** Nothing differs. */
  readonly isEmpty: boolean
  readonly fields: readonly string[]
}

/** Compared as what is stored of both. Members that both share are the same; those of an invoice are nearly all of its size. */
function storedFormer(previous: Data, data: Data): Former {
  const before = differing(previous, data)
  const now = differing(data, previous)
  const values = formerValues(before, now)
  const own = { fields: changedFields(values, now), isEmpty: values.length === 0 }
  const text = JSON.stringify(values)
  // Where almost everything is another, the paths would take more than the resource, which is written out only where it may be so short.
  const { length } = text
  if (lengthAtLeast(before, length) >= length || lengthAtLeast(previous, length) >= length)
    return { text, isWhole: false, ...own }
  const whole = asWhole(JSON.stringify(previous))
  return length <= whole.length ? { text, isWhole: false, ...own } : { text: whole, isWhole: true, ...own }
}

/** What its JSON has at least as length. Stops looking once that is `enough`. */
function lengthAtLeast(value: unknown, enough: number): number {
  if (typeof value === 'string') return value.length + 2
  if (typeof value !== 'object' || value === null) return value === undefined ? 0 : 1
  if ('toJSON' in value) return 0
  const isList = Array.isArray(value)
  let length = 2
  for (const [name, member] of Object.entries(value)) {
    if (length >= enough) break
    if (member !== undefined) length += (isList ? 0 : name.length + 3) + lengthAtLeast(member, enough - length)
  }
  return length
}

const asWhole = (text: string): string => `[{"path":[],"value":${text}}]`

/** The members that are not the very same in `other`. */
const differing = (data: Data, other: Data): Data =>
  Object.fromEntries(Object.entries(data).filter(([name, value]) => value !== memberOf(other, name)))

const memberOf = (data: Data, name: string): unknown => (Object.hasOwn(data, name) ? data[name] : undefined)

/** What a row of the outbox says of a resource, `data` being what the row or the one that holds it has. */
export type StoredBody = {
  /** A text where it is packed. */
  readonly data: Record<string, unknown> | string
  /** What its own data had in place of that. */
  readonly data_changes: readonly FormerValue[] | null
  /** Of rows written before `former_values` was there. */
  readonly previous_data: Record<string, unknown> | null
  readonly former_values: readonly FormerValue[] | null
}

/** The whole resource after a change, and before it; the latter null unless it is an update. */
export function bodyOf({ data: stored, data_changes, previous_data, former_values }: StoredBody): {
  readonly data: Record<string, unknown>
  readonly previous_data: Record<string, unknown> | null
} {
  const held = typeof stored === 'string' ? (unpackJson(stored) as Record<string, unknown>) : stored
  // A resource is an object before and after.
  const was = (data: Record<string, unknown>, former: readonly FormerValue[]) =>
    withFormerValues(data as Json, former) as Record<string, unknown>
  const data = data_changes === null ? held : was(held, data_changes)
  return { data, previous_data: former_values === null ? previous_data : was(data, former_values) }
}

/** The fields in which a resource is another than before; none where there was none. Both are as JSON has them. */
export const changedBetween = (previous: Record<string, unknown> | null, data: Record<string, unknown>): string[] =>
  previous === null ? [] : changedFields(formerValues(previous, data), data)
