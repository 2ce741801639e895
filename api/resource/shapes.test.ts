import { beforeAll, describe, expect, test } from 'vitest'
import { validatorCompiler } from '../http/body/validation.ts'
import { Address, Amount, Name, registerFormats, Shape, Timestamp, TimeZone } from './shapes.ts'

beforeAll(registerFormats)

const schema = Shape({ zone: TimeZone, amount: Amount, address: Address, name: Name, at: Timestamp })
const GOOD = {
  zone: 'UTC',
  amount: { quantity: '1', currency: 'EUR' },
  address: { country: 'NL' },
  name: 'Acme',
  at: '2026-01-01T00:00:00Z',
}
/** What is wrong with a body that differs in this: null, or the field and the message. */
function faultOf(more: object): { field: string | undefined; message: string } | null {
  const outcome = validatorCompiler({ schema })({ ...GOOD, ...more })
  return outcome === true ? null : { field: outcome.error.details.field, message: outcome.error.message }
}

describe('shapes', () => {
  test.each(['UTC', 'GMT', 'Europe/Amsterdam', 'GMT+01:00', 'UTC-5', '+05:30', 'CET', 'EST'])(
    '%s is a time zone',
    zone => {
      expect(faultOf({ zone })).toBeNull()
    },
  )
  test.each(['Mars/Base', 'GMT+25:00', '', 'Amsterdam', '1'])('%j is no time zone', zone => {
    expect(faultOf({ zone })?.field).toBe('zone')
  })
  test.each([
    [{ amount: { quantity: '1', currency: 'XXZ' } }, 'amount.currency', 'ISO 4217'],
    [{ amount: { quantity: '1', currency: 'ZZZ' } }, 'amount.currency', 'ISO 4217'],
    [{ address: { country: 'XX' } }, 'address.country', 'ISO 3166'],
    [{ address: { country: 'UK' } }, 'address.country', 'ISO 3166'],
    [{ amount: { quantity: '1', curency: 'EUR' } }, 'amount.curency', 'Did you mean currency?'],
    [{ colour: 'red' }, 'colour', 'Remove it'],
    [{ name: ' \t ' }, 'name', 'white space'],
    [{ name: '' }, 'name', ''],
    [{ at: '2999-01-01T00:00:00Z' }, 'at', '1970 to 2199'],
    [{ at: '1899-01-01T00:00:00Z' }, 'at', '1970 to 2199'],
  ])('%j is refused by its field, with what would be right', (more, field, hint) => {
    const fault = faultOf(more)
    expect(fault?.field).toBe(field)
    expect(fault?.message).toContain(hint)
  })
})
