// A small client of the public interface, as a customer of Millrace would write one: nothing here looks inside.
import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'

/** What the demo reads of an answer; the interface has more fields than it needs. */
export type Row = { readonly id: string; readonly [field: string]: unknown }
export type Answer = { readonly status: number; readonly body: unknown; readonly retryAfterSeconds: number }

export type Client = {
  /**
   * The answer whatever its status. A call that is not answered, or with 429 or 503, is sent again after `Retry-After`, within a
   * bound; an Idempotency-Key keeps it one call.
   */
  send(method: string, path: string, body?: object): Promise<Answer>
  get(path: string): Promise<unknown>
  /** The row at `path`, or null when it is not there. */
  find(path: string): Promise<Row | null>
  post(path: string, body: object): Promise<Row>
  patch(path: string, body: object): Promise<Row>
}

const PATIENCE_MS = 120_000
const REQUEST_TIMEOUT_MS = 60_000
const UNANSWERED_PAUSE_MS = 1_000

type Call = { readonly method: string; readonly url: string; readonly body: object | undefined }

async function once({ method, url, body }: Call, headers: Record<string, string>): Promise<Answer> {
  const response = await fetch(url, {
    method,
    headers: { ...headers, ...(body ? { 'content-type': 'application/json' } : {}) },
    ...(body ? { body: JSON.stringify(body) } : {}),
    signal: AbortSignal.timeout(REQUEST_TIMEOUT_MS),
  })
  const text = await response.text()
  const isJson = response.headers.get('content-type')?.includes('json') ?? false
  return {
    status: response.status,
    body: isJson && text !== '' ? JSON.parse(text) : text,
    retryAfterSeconds: Number(response.headers.get('retry-after') ?? 1) || 1,
  }
}

export function createClient(baseUrl: string, apiKey: string): Client {
  const send: Client['send'] = async (method, path, body) => {
    const deadline = performance.now() + PATIENCE_MS
    const isOver = (waitMs: number): boolean => performance.now() + waitMs > deadline
    const headers = { 'x-api-key': apiKey, ...(method === 'POST' ? { 'idempotency-key': randomUUID() } : {}) }
    for (;;) {
      const answer = await once({ method, url: baseUrl + path, body }, headers).catch((error: unknown) => {
        // The api is being started again, or is too busy.
        if (isOver(UNANSWERED_PAUSE_MS)) throw error
        return null
      })
      const mayRetry = answer === null || answer.status === 429 || answer.status === 503
      const waitMs = answer === null ? UNANSWERED_PAUSE_MS : answer.retryAfterSeconds * 1_000
      if (answer !== null && (!mayRetry || isOver(waitMs))) return answer
      await sleep(waitMs)
    }
  }
  const succeed = async (method: string, path: string, body?: object): Promise<unknown> => {
    const answer = await send(method, path, body)
    if (answer.status < 300) return answer.body
    throw new Error(`${method} ${path} answers ${answer.status}: ${JSON.stringify(answer.body)}`)
  }
  return {
    send,
    get: path => succeed('GET', path),
    find: async path => {
      const answer = await send('GET', path)
      if (answer.status === 404) return null
      if (answer.status < 300) return answer.body as Row
      throw new Error(`GET ${path} answers ${answer.status}: ${JSON.stringify(answer.body)}`)
    },
    post: async (path, body) => (await succeed('POST', path, body)) as Row,
    patch: async (path, body) => (await succeed('PATCH', path, body)) as Row,
  }
}

/** The rows of a list answer. */
export async function listAll(client: Client, path: string): Promise<Row[]> {
  const { data } = (await client.get(path)) as { data: Row[] }
  return data
}
