import fc from 'fast-check'
import { expect, test } from 'vitest'
import { formatInstant, instantOf } from '../../shared/time.ts'
import { storedTimeText } from './columns.ts'

const digits = (number: number, length: number): string => String(number).padStart(length, '0')

test('a stored time is its instant in whole seconds, in whatever zone and with whatever fraction the database writes it', () => {
  const time = fc.integer({ min: Date.UTC(1970, 0, 1), max: Date.UTC(2199, 11, 31) })
  const fraction = fc.constantFrom('', '.5', '.999999', '.001')
  const offset = fc.constantFrom('+00', '+02', '-05', '+05:30', '+00:00')
  fc.assert(
    fc.property(time, fraction, offset, (ms, part, zone) => {
      const [, sign = '+', hours = '0', minutes = '0'] = /^([+-])([0-9]{2})(?::([0-9]{2}))?$/.exec(zone) ?? []
      const shift = (Number(hours) * 60 + Number(minutes)) * 60_000 * (sign === '-' ? -1 : 1)
      const second = Math.floor(ms / 1_000) * 1_000
      const at = new Date(second + shift)
      const text =
        `${digits(at.getUTCFullYear(), 4)}-${digits(at.getUTCMonth() + 1, 2)}-${digits(at.getUTCDate(), 2)} ` +
        `${digits(at.getUTCHours(), 2)}:${digits(at.getUTCMinutes(), 2)}:${digits(at.getUTCSeconds(), 2)}${part}${zone}`
      expect(storedTimeText(text)).toBe(formatInstant(instantOf(second)))
    }),
  )
  expect(storedTimeText(new Date(1_700_000_000_999))).toBe('2023-11-14T22:13:20Z')
})
