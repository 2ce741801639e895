// Passwords: argon2id, a bounded number of hashes at a time, and an answer that takes as long for a user nobody knows.
import { hash, verify } from '@node-rs/argon2'
import { AppError } from '../errors.ts'

// OWASP's second recommendation, measured at 12 ms (security section 3).
const ARGON2ID = { memoryCost: 19_456, timeCost: 2, parallelism: 1 } as const
/** The library takes 20 MB and a thread for each hash, so that a flood of sign-ins must not start them all at once. */
const HASHES_MAX = 2
const QUEUE_MAX = 50
/** A longer one is refused, never cut: cutting would let two passwords open one door. */
export const PASSWORD_BYTES_MAX = 256

/** One text for one password, however a keyboard composes its accents (NIST SP 800-63B-4, section 3.1.1.2). */
export const passwordText = (password: string): string => password.normalize('NFC')

let running = 0
const waiting: (() => void)[] = []

/** Runs at most HASHES_MAX at a time. Throws SERVICE_UNAVAILABLE when the queue is full. */
async function queued<T>(work: () => Promise<T>): Promise<T> {
  if (running >= HASHES_MAX) {
    if (waiting.length >= QUEUE_MAX) {
      throw new AppError('SERVICE_UNAVAILABLE', 'Too many sign-ins at once; try again.', { retryAfterSeconds: 2 })
    }
    await new Promise<void>(resolve => waiting.push(resolve))
  }
  running += 1
  try {
    return await work()
  } finally {
    running -= 1
    waiting.shift()?.()
  }
}

/** The argon2id hash of a password, with its parameters. */
export const hashPassword = (password: string): Promise<string> => queued(() => hash(passwordText(password), ARGON2ID))

/** Of a password nobody has; made when it is first needed. */
let dummy: Promise<string> | null = null

/** Whether `password` is that of the hash. Null, for a user who has none or is not known, takes as long and is false. */
export async function verifyPassword(stored: string | null, password: string): Promise<boolean> {
  const text = passwordText(password)
  if (Buffer.byteLength(text) > PASSWORD_BYTES_MAX) return false
  dummy ??= hashPassword('a password that belongs to nobody')
  const against = stored ?? (await dummy)
  const right = await queued(() => verify(against, text))
  return right && stored !== null
}

/** Whether a hash was made with other parameters than today's, and should be made anew when the password is at hand. */
export const needsRehash = (stored: string): boolean =>
  !stored.startsWith(`$argon2id$v=19$m=${ARGON2ID.memoryCost},t=${ARGON2ID.timeCost},p=${ARGON2ID.parallelism}$`)
