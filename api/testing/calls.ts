// A call of a test that must succeed, or must be refused.
import type { TestTenant } from './harness.ts'
import type { Row } from './wire.ts'

/** Sends a call that must succeed and gives its body. */
export async function succeed(tenant: TestTenant, method: string, url: string, body?: unknown): Promise<Row> {
  const answer = await tenant.call(method, url, body)
  if (answer.status >= 300) throw new Error(`${method} ${url}: ${answer.status} ${JSON.stringify(answer.body)}`)
  return answer.body
}

/** What a test states of a refusal: its status, its code, and the field it names. */
export const refusalOf = ({ status, body }: { readonly status: number; readonly body: Row }): unknown[] => [
  status,
  body['code'],
  body['field'],
]

/** Sends a call and gives what it was refused with. */
export const refusal = async (tenant: TestTenant, method: string, url: string, body?: unknown): Promise<unknown[]> =>
  refusalOf(await tenant.call(method, url, body))
