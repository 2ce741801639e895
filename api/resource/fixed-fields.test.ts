// What a resource has and a body does not take is refused for that, on every resource: not as a misspelling.
import { beforeAll, expect, test } from 'vitest'
import { validatorCompiler } from '../http/body/validation.ts'
import { RESOURCES } from '../modules/modules.ts'
import { scheduleResource } from '../modules/subscriptions/schedules/schedule.ts'
import type { Resource } from './define-resource.ts'
import { registerFormats } from './shapes.ts'

beforeAll(registerFormats)

type Body = { readonly properties?: Readonly<Record<string, unknown>> }
const namesOf = (body: Resource['createBody']) => Object.keys((body as Body).properties ?? {})

function refusalOf(schema: Resource['createBody'], name: string): string {
  const outcome = validatorCompiler({ schema })({ [name]: 'x' })
  if (outcome === true) return 'accepted'
  const { message, details } = outcome.error
  return `${details.field}: ${message}`
}

const fixed = RESOURCES.flatMap(resource => {
  const { createBody, updateBody, objectType } = resource
  const changeable = new Set(namesOf(updateBody))
  return namesOf(createBody)
    .filter(name => !changeable.has(name))
    .map(name => [objectType, name, updateBody] as const)
})
const shown = RESOURCES.flatMap(({ objectType, createBody, updateBody }) => [
  [objectType, createBody] as const,
  [objectType, updateBody] as const,
])

test('resources have fields that are set at creation alone', () => {
  expect(fixed.map(([type, name]) => `${type}.${name}`)).toEqual(
    expect.arrayContaining([
      'PRICING_PLAN_SUBSCRIPTION.type',
      'PRICING_PLAN_SUBSCRIPTION.variant',
      'PRICING_PLAN_SCHEDULE.pricing_plan_subscription_id',
    ]),
  )
})
test.each(fixed)('a PATCH of a %s with %s says that it is set at creation', (_type, name, updateBody) => {
  const set = `${name}: ${name} is set at creation and cannot be changed. Leave it out.`
  expect(refusalOf(updateBody, name)).toBe(set)
})
test.each(shown)('a body of a %s with its created_at says that it is only shown', (_type, body) => {
  expect(refusalOf(body, 'created_at')).toMatch(/^created_at: created_at is only shown in answers\. /)
})
test.each(['createBody', 'updateBody'] as const)(
  'the status of a schedule in its %s names the calls that change it',
  body => {
    expect(refusalOf(scheduleResource[body], 'status')).toMatch(
      /^status: status is only shown in answers\. POST \/v1\/pricing-plan-schedules\/\{id\}\/activate makes it ACTIVE\./,
    )
  },
)
