// In which time a request is answered: in that of the test clock of the customer that it is about.
import type { FastifyRequest } from 'fastify'
import type { Database } from '../../shared/database/database.ts'
import type { Tenant } from '../../shared/tenant.ts'
import { testClockSubjectsOf } from '../resource/rules.ts'
import { inTimeOf } from './test-clock.ts'
import { memberOf, type TestClockSubject } from './test-clock-subject.ts'

/** Does what a request wants in the time of the test clock of the customer that it is about, if there is one; LIVE has none. */
export const inTimeOfRequest = <T>(
  { database }: { readonly database: Database },
  { tenant }: { readonly tenant: Tenant },
  request: Named,
  work: () => Promise<T>,
): Promise<T> =>
  tenant.environment === 'TEST'
    ? inTimeOf(database, tenant, namesIn(testClockSubjectsOf(database), request), work)
    : work()

type Named = Pick<FastifyRequest, 'routeOptions' | 'params' | 'body'>

/** What a call names its customer by: the path of what belongs to customers, and the fields of its body. */
export function namesIn(subjects: readonly TestClockSubject[], { routeOptions, params, body }: Named): string[] {
  const [, , path] = (routeOptions.url ?? '').split('/')
  if (!subjects.some(subject => subject.path === path)) return []
  const members = subjects.map(memberOf)
  const given = isRecord(body) ? body : {}
  const bodies = [given, ...members.map(member => given[member]).filter(isRecord)]
  const names = bodies.flatMap(part => members.flatMap(member => [part[`${member}_id`], part[`${member}_reference`]]))
  return [isRecord(params) ? params['id'] : null, ...names].filter(name => typeof name === 'string')
}

const isRecord = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null
