// The id of an operation, which is also the name of its tool for AI agents. It follows from method and path alone, so that it
// stays when other operations come and go.

/** The methods that operations have. */
export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

const ON_A_COLLECTION: Readonly<Record<Method, string>> = {
  GET: 'list',
  POST: 'create',
  PUT: 'upsert',
  PATCH: 'update_all',
  DELETE: 'delete_all',
}
/** Below one thing: the POST of a verb is the verb. No word is one of those above, so that `/x/{id}/y` and `/x/{id}/y/{z}` differ. */
const BELOW: Readonly<Record<Method, string>> = { GET: 'read', POST: '', PUT: 'set', PATCH: 'change', DELETE: 'clear' }
const ON_ONE: Readonly<Record<Method, string>> = {
  GET: 'get',
  POST: 'post',
  PUT: 'replace',
  PATCH: 'update',
  DELETE: 'delete',
}

/** What method and path do not say. */
const SPECIAL: Readonly<Record<string, string>> = {
  'GET /v1/usage': 'usage_read', // one answer, no list of things
  'POST /v1/events/amend': 'events_amend_by_reference',
  'POST /v1/events/delete': 'events_delete_by_reference',
  'POST /v1/ingest/meter-data/amend': 'ingest_meter_data_amend_by_reference',
  // One file, not a collection.
  'GET /v1/catalog': 'catalog_get',
  // Beside those of one request.
  'POST /v1/approval-requests/approve': 'approval_requests_approve_many',
  'POST /v1/approval-requests/decline': 'approval_requests_decline_many',
  'POST /v1/approval-requests/cancel': 'approval_requests_cancel_many',
  // The name of a tool is short.
  'GET /v1/pricing-plan-schedules/{id}/on-demand-pricing-items': 'pricing_plan_schedules_on_demand_items_read',
  'POST /v1/ingest/meter-data/delete': 'ingest_meter_data_delete_by_reference',
}

/**
 * `POST /v1/customers/{id}/archive` is `customers_archive`: the words of the path, and the method where it is not the POST of a
 * verb. Only letters, digits and underscores, which is what every client takes.
 */
export function operationIdOf({ method, path }: { readonly method: Method; readonly path: string }): string {
  const special = SPECIAL[`${method} ${path}`]
  if (special !== undefined) return special
  const [, , ...segments] = path.split('/')
  const words = segments.filter(segment => !segment.startsWith('{'))
  const last = segments.at(-1) ?? ''
  return [...words, verbOf(method, { isOne: last.startsWith('{'), isCollection: segments.length === 1 })]
    .filter(word => word !== '')
    .join('_')
    .replaceAll(/[^A-Za-z0-9]+/g, '_')
    .toLowerCase()
}

function verbOf(method: Method, { isOne, isCollection }: { isOne: boolean; isCollection: boolean }): string {
  if (isOne) return ON_ONE[method]
  return isCollection ? ON_A_COLLECTION[method] : BELOW[method]
}
