// A statement that drizzle writes once in a process, and that is asked on any connection. To write the insert of a customer takes longer
// than everything else that is done for it here, and for each row drizzle looks up once more what kind of column each value is of.
import { Column, DrizzleQueryError, is, Param, Placeholder, SQL } from 'drizzle-orm'
import type { Transaction } from '../transaction.ts'

type Values = Readonly<Record<string, unknown>>
type Encoder = { mapToDriverValue(value: unknown): unknown }
type Decoder = { mapFromDriverValue(value: unknown): unknown }

/** What drizzle keeps of a statement that it has prepared. */
type Prepared = {
  /** As the driver takes it: its text, its name, and rows as lists. */
  readonly queryConfig: { readonly text: string }
  readonly params: readonly unknown[]
  readonly fields: readonly { readonly path: readonly string[]; readonly field: unknown }[]
}

type Client = { query(asked: object, values: readonly unknown[]): Promise<{ readonly rows: readonly unknown[][] }> }

export type Question<Row> = (tx: Transaction, values: Values) => Promise<Row[]>

/** Asks what drizzle has prepared, with the values of its placeholders. It gives what `execute` gives. */
export function writtenOnce<Row>(prepared: object): Question<Row> {
  const { queryConfig, params, fields } = prepared as Prepared
  const written = params.map(paramOf)
  const columns = fields.map(columnOf)
  const width = columns.length
  return async (tx, values) => {
    const given = written.map(of => of(values))
    let answer: { readonly rows: readonly unknown[][] }
    try {
      answer = await clientOf(tx).query(queryConfig, given)
    } catch (error) {
      throw new DrizzleQueryError(queryConfig.text, given, error as Error)
    }
    return answer.rows.map(fields => {
      const row: Record<string, unknown> = {}
      for (let place = 0; place < width; place += 1) {
        const { name, decoder } = columns[place] as ReadColumn
        const value = fields[place]
        row[name] = value === null || decoder === null ? value : decoder.mapFromDriverValue(value)
      }
      return row as Row
    })
  }
}

const clientOf = (tx: Transaction): Client => (tx as Transaction & { readonly $client: unknown }).$client as Client

/** What becomes of the values that are given, for one parameter. */
function paramOf(param: unknown): (given: Values) => unknown {
  if (is(param, Placeholder)) return given => givenIn(given, param.name)
  if (!is(param, Param) || !is(param.value, Placeholder)) return () => param
  const { name } = param.value
  const encoder: Encoder = param.encoder
  return given => {
    const value = givenIn(given, name)
    return value === null ? null : encoder.mapToDriverValue(value)
  }
}

function givenIn(given: Values, name: string): unknown {
  const value = given[name]
  if (value === undefined) throw new Error(`no value for ${name}`)
  return value
}

type ReadColumn = { readonly name: string /** Null where values stay as they are. */; readonly decoder: Decoder | null }

function columnOf({ path, field }: Prepared['fields'][number]): ReadColumn {
  const [name] = path
  if (name === undefined || path.length > 1) throw new Error('what is written once gives rows of columns alone')
  return { name, decoder: decoderOf(field) }
}

function decoderOf(field: unknown): Decoder | null {
  if (is(field, Column)) return field.mapFromDriverValue === Column.prototype.mapFromDriverValue ? null : field
  if (is(field, SQL)) return (field as unknown as { readonly decoder: Decoder }).decoder
  if (is(field, SQL.Aliased)) return (field.sql as unknown as { readonly decoder: Decoder }).decoder
  throw new Error('a column or an expression is read')
}
