// The one place where a PostgreSQL error code becomes a refusal.
import { AppError } from '../errors.ts'

type DriverError = Error & { code: string; detail?: string; constraint?: string; table?: string; column?: string }

function findDriverError(error: unknown): DriverError | null {
  for (let current = error; current instanceof Error; current = current.cause) {
    if ('code' in current && typeof current.code === 'string' && /^[0-9A-Z]{5}$/.test(current.code)) {
      return current as DriverError
    }
  }
  return null
}

// Row-level security hides the detail of a violation, so the constraint's name has to tell which field the user chose:
// `customers_platform_id_environment_reference_key`. PostgreSQL shortens long names, hence the cut `refer…`.
export function fieldOfConstraint(constraint: string | undefined): string | undefined {
  const column = /environment_([a-z_]+?)_f?key[0-9]*$/.exec(constraint ?? '')?.[1]
  return column?.startsWith('refer') ? 'reference' : column
}

/** What another transaction has stored meanwhile: the unit of work finds it when it is done again, which inTenant does. */
export class StoredMeanwhileError extends Error {
  readonly code = '40001'
}

/** The connection was lost after the commit had been sent, so it is not known whether the transaction took effect. */
export class UnknownCommitError extends Error {
  constructor(cause: unknown) {
    super('the connection was lost while the transaction was committed', { cause })
  }
}

function isUnknownCommit(error: unknown): boolean {
  for (let current = error; current instanceof Error; current = current.cause)
    if (current instanceof UnknownCommitError) return true
  return false
}

/** Whether a unique index refused it. */
export const isSecond = (error: unknown): boolean => findDriverError(error)?.code === '23505'

/** Text that is not valid in the database's encoding, or a jsonb escape of such a character. */
const UNSTORABLE = new Set(['22021', '22P05'])
/** By statement_timeout. */
const STATEMENT_GIVEN_UP = '57014'
/** Five characters: ClickHouse has numbers, and its 53 is a wrong type. */
const UNAVAILABLE = /^(08[0-9A-Z]{3}|53[0-9A-Z]{3}|57P0[0-9A-Z])$/
const LOST_CONNECTION = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'EAI_AGAIN',
])
// The drivers give a connection that broke, or that could not be had in time, no code: only their words tell. `Timeout error.` is
// ClickHouse's.
const LOST_IN_WORDS =
  /^(Connection terminated|timeout exceeded when trying to connect|Client has encountered a connection error|Timeout error\.$)/

/** Whether the server could not be reached or went away: the caller may send the same again. */
export function isUnavailable(error: unknown): boolean {
  for (let current = error; current instanceof Error; current = current.cause) {
    const code = 'code' in current && typeof current.code === 'string' ? current.code : ''
    if (LOST_CONNECTION.has(code) || UNAVAILABLE.test(code) || LOST_IN_WORDS.test(current.message)) return true
  }
  return isOutdatedPlan(error)
}

/**
 * Whether a migration changed the type of a column since the connection prepared the statement. The connection cannot run that statement
 * any more; a new one can.
 */
export function isOutdatedPlan(error: unknown): boolean {
  for (let current = error; current instanceof Error; current = current.cause)
    if (current.message === 'cached plan must not change result type') return true
  return false
}

/** `table`: the one whose rows refer to what would be deleted. */
const stillReferredTo = (table: string | undefined): string =>
  `Other resources${table === undefined ? '' : ` (${table.replaceAll('_', ' ')})`} still refer to this one; remove those first.`

/** An AppError for the driver errors a caller can act on; anything else is returned as it came. */
export function mapDriverError(error: unknown): unknown {
  if (error instanceof AppError) return error
  if (isUnknownCommit(error)) {
    const message =
      'The database stopped answering while the change was saved, and whether it takes effect is not known. ' +
      'Read the resource, or send the call again with the same Idempotency-Key.'
    return new AppError('SERVICE_UNAVAILABLE', message, { retryAfterSeconds: 2, cause: error })
  }
  if (isUnavailable(error)) {
    return new AppError('SERVICE_UNAVAILABLE', 'The database is not available; send it again.', {
      retryAfterSeconds: 2,
      cause: error,
    })
  }
  const driver = findDriverError(error)
  if (!driver) return error
  if (driver.code === STATEMENT_GIVEN_UP) {
    return new AppError('SERVICE_UNAVAILABLE', 'The database takes too long to answer; send it again.', {
      retryAfterSeconds: 5,
      cause: error,
    })
  }
  const field = fieldOfConstraint(driver.constraint)
  const where = field === undefined ? {} : { field }
  if (driver.code === '23505') {
    return new AppError(
      'RESOURCE_ALREADY_EXISTS',
      `There already is one with this ${field ?? 'value'}; choose another.`,
      {
        ...where,
        cause: error,
      },
    )
  }
  if (driver.code === '23503') {
    return /update or delete/.test(driver.message)
      ? new AppError('COULD_NOT_DELETE_RESOURCE', stillReferredTo(driver.table), { cause: error })
      : new AppError('RESOURCE_NOT_FOUND', `${field ?? 'The reference'} names nothing that exists here.`, {
          ...where,
          cause: error,
        })
  }
  if (driver.code === '23502') {
    // A PATCH cleared, or a create left out, what this resource cannot be without.
    const column = driver.column === undefined ? {} : { field: driver.column }
    return new AppError('MISSING_FIELD', `${driver.column ?? 'A field'} is required and cannot be empty.`, {
      ...column,
      cause: error,
    })
  }
  if (UNSTORABLE.has(driver.code)) {
    const message = 'A text holds a NUL character or a lone surrogate, which cannot be stored; remove it.'
    return new AppError('INVALID_REQUEST', message, { cause: error })
  }
  if (driver.code === '23P01') {
    return new AppError('COULD_NOT_UPDATE_RESOURCE', 'It overlaps another one in time; change its start or its end.', {
      cause: error,
    })
  }
  if (driver.constraint === 'pricing_plan_schedules_contiguous') {
    const message = 'It would leave a gap between two schedules of the subscription; end the one where the next starts.'
    return new AppError('COULD_NOT_UPDATE_RESOURCE', message, { field: 'end_at', cause: error })
  }
  if (driver.code === '40001' || driver.code === '40P01') {
    return new AppError('SERVICE_UNAVAILABLE', 'The change met too many concurrent changes; send it again.', {
      retryAfterSeconds: 1,
      cause: error,
    })
  }
  return error
}
