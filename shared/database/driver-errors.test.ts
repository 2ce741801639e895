import { expect, test } from 'vitest'
import { isUnavailable, mapDriverError } from './driver-errors.ts'

const withCode = (code: string) => Object.assign(new Error('it failed'), { code })

test.each(['08006', '53300', '57P03', 'ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'ENETUNREACH'])(
  '%s is a server that is away, also as the cause of another error',
  code => {
    expect(isUnavailable(withCode(code))).toBe(true)
    expect(isUnavailable(new Error('asked in vain', { cause: withCode(code) }))).toBe(true)
  },
)

test.each(['Timeout error.', 'Connection terminated unexpectedly', 'timeout exceeded when trying to connect'])(
  'an error without a code that says "%s" is a server that is away',
  message => expect(isUnavailable(new Error(message))).toBe(true),
)

// 53 and 530 are ClickHouse's: a type that does not match, and a setting that cannot be read.
test.each(['53', '530', '57P', '08', '28P01', '42601', 'ERR_INVALID_URL'])(
  '%s is a fault, not a server that is away',
  code => expect(isUnavailable(withCode(code))).toBe(false),
)

test.each([
  'customers_platform_id_environment_reference_key',
  'pricing_plan_subscriptions_platform_id_environment_referenc_key',
  'pricing_plan_subscription_gro_platform_id_environment_refer_key',
])('a reference that is taken is named, however much of it the constraint %s has', constraint => {
  const error = Object.assign(withCode('23505'), { constraint })
  expect(mapDriverError(error)).toMatchObject({
    code: 'RESOURCE_ALREADY_EXISTS',
    message: 'There already is one with this reference; choose another.',
    details: { field: 'reference' },
  })
})

test('what still refers to a row is named by its table', () => {
  const message = 'update or delete on table "customers" violates foreign key constraint "x" on table "contacts"'
  const error = Object.assign(new Error(message), { code: '23503', table: 'pricing_plan_subscriptions' })
  expect(mapDriverError(error)).toMatchObject({
    code: 'COULD_NOT_DELETE_RESOURCE',
    message: 'Other resources (pricing plan subscriptions) still refer to this one; remove those first.',
  })
})
