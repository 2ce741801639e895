// The operations that are no tools, each with its reason. Whatever is not here is one.
import { isAboutAccess } from '../http/permissions.ts'
import type { Operation } from './tools/operations.ts'

type Exclusion = {
  readonly reason: string
  readonly covers: (operation: Operation) => boolean
  /** Holds for operations before they are there. */
  readonly ahead?: true
}

const at =
  (...places: readonly string[]) =>
  ({ method, path }: Operation): boolean =>
    places.includes(`${method} ${path}`)

export const EXCLUSIONS: readonly Exclusion[] = [
  {
    reason: 'a second address of an operation that has a tool under /v1/events',
    covers: ({ path }) => path.startsWith('/v1/ingest/meter-data') || path === '/v1/events/ingest-batch',
  },
  {
    reason: 'the same act by reference; the tool of the same name takes an id or a reference',
    covers: at('POST /v1/events/delete', 'POST /v1/events/amend'),
  },
  {
    reason: 'refused by name',
    covers: at('GET /v1/api-keys/{id}/decrypt'),
  },
  {
    reason: 'a file that a model does not read; the invoice itself has a tool',
    covers: at('GET /v1/invoices/{id}/pdf', 'GET /v1/invoices/{id}/ubl21', 'GET /v1/invoices/{id}/factur-x'),
  },
  {
    reason: 'a stream of any length; files_create takes content in its body',
    covers: at('PUT /v1/files/{id}/content'),
  },
  {
    reason:
      "where a tenant's changes are sent is for people to say: what an agent that was misled sets up would go on when it is gone",
    covers: at('POST /v1/webhooks', 'PATCH /v1/webhooks/{id}', 'POST /v1/webhooks/test-connection'),
  },
  {
    reason:
      'what is approved, and by whom, is for people to say: an agent that was misled must not let through what it has submitted itself',
    covers: ({ method, path }) =>
      method !== 'GET' && /^\/v1\/approval-(policies|requests(\/\{id\})?\/(approve|decline)$)/.test(path),
  },
  {
    reason:
      'who may come in is for people to say: an agent that was misled must not let anybody in, or make access that outlasts its own',
    covers: ({ permission }) => permission !== null && isAboutAccess(permission),
    ahead: true,
  },
]

/** Why an operation has no tool, or null when it has one. */
export const exclusionOf = (operation: Operation): string | null =>
  EXCLUSIONS.find(({ covers }) => covers(operation))?.reason ?? null
