// A code that nobody guesses, after a pattern of the tenant's.
import { randomInt } from 'node:crypto'

const ALPHANUMERIC = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789'

/** The format with an upper-case letter or digit in the place of each # (semantics 2). */
export const generateCode = (format: string): string =>
  format.replaceAll('#', () => ALPHANUMERIC.charAt(randomInt(ALPHANUMERIC.length)))
