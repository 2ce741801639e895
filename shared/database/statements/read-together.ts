// A read whose questions do not depend on each other's answers, in one message there and one back: the beginning, the tenant, the
// questions and the end travel together, all of them prepared, and the server answers them together. What PostgreSQL says of the columns
// is asked once for each connection.
import pg from 'pg'
import type { Tenant } from '../../tenant.ts'
import { BEGIN_SNAPSHOT, type Transaction, takeEnd } from '../transaction.ts'
import { drizzleOn } from './drizzle-on.ts'

type Parse = (text: string) => unknown
type Field = { readonly name: string; readonly dataTypeID: number }
type Column = { readonly name: string; readonly parse: Parse }
type Result = { readonly rows: unknown[] }
/** A row as it came. */
type Texts = readonly (string | null)[]

/** A question as drizzle gives it to a connection. */
type Asked = {
  readonly text: string
  readonly name?: string
  readonly rowMode?: 'array'
  readonly types?: { getTypeParser(type: number, format: 'text'): Parse }
}
type Question = {
  readonly asked: Asked
  /** Another one than it has by itself: the driver does not know that it is prepared. */
  readonly name: string
  readonly values: readonly unknown[]
  readonly rows: Texts[]
  /** Of its rows; those of a question without a name are those of its last answer. */
  columns: readonly Column[]
  readonly answer: (result: Result) => void
  readonly refuse: (error: unknown) => void
}

/** What of the driver's connection writes messages, and where to. */
type Writing = {
  _send(bytes: Buffer): void
  parse(of: { readonly name: string; readonly text: string }): void
  bind(of: {
    readonly statement: string
    readonly values: readonly unknown[]
    readonly valueMapper: typeof written
  }): void
  describe(of: { readonly type: 'P' }): void
  execute(of: null): void
  sync(): void
  close(of: { readonly type: 'S'; readonly name: string }): void
}

/** What is known of a connection. */
type Connection = {
  readonly tx: Transaction
  /** Writes into `chunks`. */
  readonly writing: Writing
  readonly chunks: Buffer[]
  /** The names that are prepared on it. */
  readonly prepared: Set<string>
  readonly columns: Map<string, readonly Column[]>
  /** What is being asked; null when it is no time to ask. */
  questions: Question[] | null
}

const connections = new WeakMap<pg.PoolClient, Connection>()

/**
 * Does `work` in one read-only snapshot of `tenant`. It asks all that it asks before it first waits, or fails; a question of drizzle that
 * is not prepared is asked when it is waited for, which is too late. `onLost` learns of a connection that cannot even roll back.
 */
export async function readTogether<T>(
  client: pg.PoolClient,
  { tenant, work }: { readonly tenant: Tenant; readonly work: (tx: Transaction) => Promise<T> },
  onLost: (error: Error) => void,
): Promise<T> {
  const own = connectionOf(client)
  const questions: Question[] = []
  own.questions = questions
  let result: Promise<T>
  try {
    result = work(own.tx)
  } finally {
    // Another tenant asks next on this connection.
    own.questions = null
  }
  if (questions.length === 0) return await result
  // Its failure is thrown by the last line.
  result.catch(() => {})
  const isAnswered = await new Promise<boolean>(over => {
    const hasEnd = takeEnd(client) !== ''
    client.query(new Message({ own, tenant, questions, hasEnd, over }) as unknown as pg.Submittable)
  })
  if (!isAnswered) await client.query('rollback').catch(onLost)
  return await result
}

function connectionOf(client: pg.PoolClient): Connection {
  const known = connections.get(client)
  if (known) return known
  const { connection } = client as unknown as { readonly connection: Writing }
  const chunks: Buffer[] = []
  const writing = Object.assign(Object.create(connection) as Writing, {
    _send: (bytes: Buffer): void => void chunks.push(bytes),
  })
  const asking = {
    query: (asked: Asked, values: readonly unknown[] = []): Promise<Result> =>
      new Promise((answer, refuse) => {
        const name = asked.name === undefined ? UNNAMED : nameOf(asked.name)
        if (own.questions) own.questions.push({ asked, name, values, rows: [], columns: [], answer, refuse })
        else refuse(new Error('what is read together is asked together'))
      }),
  }
  const tx = drizzleOn(asking as unknown as pg.PoolClient)
  const own: Connection = { tx, writing, chunks, prepared: new Set(), columns: new Map(), questions: null }
  connections.set(client, own)
  return own
}

/** What is prepared under this is prepared each time. */
const UNNAMED = ''
const names = new Map<string, string>()

/** Short enough for the server, which takes 63 characters. */
function nameOf(name: string): string {
  const known = names.get(name)
  if (known !== undefined) return known
  const made = `together ${names.size}`
  names.set(name, made)
  return made
}

const BEGIN = { name: 'together: begin', text: BEGIN_SNAPSHOT }
const ENTER = {
  name: 'together: enter',
  text: `select set_config('app.platform_id', $1, true), set_config('app.environment', $2, true)`,
}
const COMMIT = { name: 'together: commit', text: 'commit' }
const FRAME = [BEGIN, ENTER, COMMIT]

type Sent = {
  readonly own: Connection
  readonly tenant: Tenant
  readonly questions: readonly Question[]
  /** Whether the end of the read before goes first. */
  readonly hasEnd: boolean
  /** Called once: with false, when the transaction has failed. */
  readonly over: (isAnswered: boolean) => void
}

/** The driver takes no other class of queries where some are sent ahead; of this one it needs nothing but that it is one. */
const DriverQuery = pg.Query as unknown as new (text: string) => object

class Message extends DriverQuery {
  readonly #sent: Sent
  /** The place of the question whose answer comes; negative before the first one. */
  #place: number

  constructor(sent: Sent) {
    super('')
    this.#sent = sent
    this.#place = sent.hasEnd ? -3 : -2
  }

  submit({ stream }: { readonly stream: { write(bytes: Buffer): boolean } }): null {
    const { own, tenant, questions, hasEnd } = this.#sent
    if (hasEnd) this.#ask(COMMIT, [])
    this.#ask(BEGIN, [])
    this.#ask(ENTER, [tenant.platformId, tenant.environment])
    for (const { name, asked, values } of questions)
      this.#ask({ name, text: asked.text }, values, name === UNNAMED || !own.columns.has(name))
    this.#ask(COMMIT, [])
    own.writing.sync()
    stream.write(Buffer.concat(own.chunks))
    own.chunks.length = 0
    return null
  }

  #ask(statement: { readonly name: string; readonly text: string }, values: readonly unknown[], isNew = false): void {
    const { prepared, writing } = this.#sent.own
    if (!prepared.has(statement.name)) {
      // It may be there, of a message that failed.
      if (statement.name !== UNNAMED) writing.close({ type: 'S', name: statement.name })
      writing.parse(statement)
    }
    writing.bind({ statement: statement.name, values, valueMapper: written })
    if (isNew) writing.describe({ type: 'P' })
    writing.execute(null)
  }

  handleRowDescription({ fields }: { readonly fields: readonly Field[] }): void {
    const question = this.#sent.questions[this.#place]
    if (!question) return
    const { types = pg.types } = question.asked
    const columns = fields.map(({ name, dataTypeID }) => ({
      name,
      parse: types.getTypeParser(dataTypeID, 'text') as Parse,
    }))
    this.#sent.own.columns.set(question.name, columns)
  }

  handleDataRow({ fields }: { readonly fields: Texts }): void {
    const question = this.#sent.questions[this.#place]
    if (!question) return
    if (question.rows.length === 0) question.columns = this.#sent.own.columns.get(question.name) ?? []
    question.rows.push(fields)
  }

  handleCommandComplete(): void {
    this.#place += 1
  }

  handleError(error: unknown): void {
    const { own, questions, over } = this.#sent
    // Of those it is not known.
    for (const { name } of [...FRAME, ...questions]) own.prepared.delete(name)
    for (const { refuse } of questions) refuse(error)
    over(false)
  }

  handleReadyForQuery(): void {
    const { own, questions, over } = this.#sent
    for (const { name } of [...FRAME, ...questions]) if (name !== UNNAMED) own.prepared.add(name)
    // Values are made where they are used at once: what waits for other rows as a text is one piece for the garbage collector.
    for (const { answer, rows, columns, asked } of questions)
      answer({
        rows: rows.map(texts => (asked.rowMode === 'array' ? valuesIn(texts, columns) : objectOf(texts, columns))),
      })
    over(true)
  }
}

const parsedBy = (text: string | null, column: Column | undefined): unknown =>
  text === null || !column ? text : column.parse(text)

function valuesIn(fields: Texts, columns: readonly Column[]): unknown[] {
  const values: unknown[] = new Array(fields.length)
  for (let place = 0; place < fields.length; place += 1) values[place] = parsedBy(fields[place] ?? null, columns[place])
  return values
}

function objectOf(fields: Texts, columns: readonly Column[]): Record<string, unknown> {
  const row: Record<string, unknown> = {}
  for (const [place, column] of columns.entries()) row[column.name] = parsedBy(fields[place] ?? null, column)
  return row
}

/** A value as the server reads it. */
function written(value: unknown): string | null {
  if (value === null || value === undefined) return null
  if (typeof value === 'string') return value
  if (Array.isArray(value)) return `{${value.map(textInList).join(',')}}`
  if (typeof value === 'number' || typeof value === 'boolean') return String(value)
  throw new TypeError('a value of what is read together is a text, a number, a boolean, or a list of texts')
}

const textInList = (value: unknown): string => `"${String(value).replace(/[\\"]/g, '\\$&')}"`
