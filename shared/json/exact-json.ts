// JSON that decodes to exactly the same values, with decimals, maps and sets.
import { decimal, isDecimal, plain } from '../decimal.ts'

/** The text of a value. No member of it has one of the names used as marks. */
export function encode(value: unknown): string {
  return JSON.stringify(value, function mark(this: Record<string, unknown>, name: string, plainValue: unknown) {
    // A decimal is already text here; its original value is still in its owner.
    const was = this[name]
    if (isDecimal(was)) return { $decimal: plain(was) }
    if (was instanceof Map) return { $map: [...was] }
    if (was instanceof Set) return { $set: [...was] }
    return plainValue
  })
}

/** The value of a text that `encode` made. */
export const decode = (text: string): unknown =>
  JSON.parse(text, (_name, value: unknown) => {
    if (typeof value !== 'object' || value === null) return value
    if ('$decimal' in value && typeof value.$decimal === 'string') return decimal(value.$decimal)
    if ('$map' in value && Array.isArray(value.$map)) return new Map(value.$map)
    if ('$set' in value && Array.isArray(value.$set)) return new Set(value.$set)
    return value
  })
