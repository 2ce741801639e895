// The name of an operation's tool. It follows from method and path alone, so that it stays when other operations come and go.
import type { Method, Operation } from './operations.ts'

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

/**
 * `POST /v1/customers/{id}/archive` is `customers_archive`: the words of the path, and the method where it is not the POST of a
 * verb. Only letters, digits and underscores, which is what every client takes.
 */
export function toolNameOf({ method, path }: Pick<Operation, 'method' | 'path'>): string {
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
