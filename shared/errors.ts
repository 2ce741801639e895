// Refusals: one row a code. Anything thrown that is not an AppError is a bug and answers 500.

type ErrorRow = { readonly status: number; readonly type: 'INVALID_REQUEST' | 'API_ERROR' }

/** The only place that knows which HTTP status a code has. Codes: reference shapes, ApiErrorCode. */
export const ERRORS = {
  RESOURCE_NOT_FOUND: { status: 404, type: 'INVALID_REQUEST' },
  RESOURCE_ALREADY_EXISTS: { status: 409, type: 'INVALID_REQUEST' },
  CUSTOM_FIELD_VALUE_ALREADY_EXISTS: { status: 409, type: 'INVALID_REQUEST' },
  INVALID_REQUEST: { status: 400, type: 'INVALID_REQUEST' },
  INVALID_FIELD: { status: 400, type: 'INVALID_REQUEST' },
  MISSING_FIELD: { status: 400, type: 'INVALID_REQUEST' },
  MISSING_REFERENCE: { status: 400, type: 'INVALID_REQUEST' },
  INVALID_OPERATION: { status: 400, type: 'INVALID_REQUEST' },
  BAD_REQUEST: { status: 400, type: 'INVALID_REQUEST' },
  PAYLOAD_TOO_LARGE: { status: 413, type: 'INVALID_REQUEST' },
  UNSUPPORTED_MEDIA_TYPE: { status: 415, type: 'INVALID_REQUEST' },
  UNAUTHORISED: { status: 401, type: 'INVALID_REQUEST' },
  USER_NOT_ALLOWED: { status: 403, type: 'INVALID_REQUEST' },
  INSUFFICIENT_SCOPE: { status: 403, type: 'INVALID_REQUEST' },
  IDEMPOTENCY_CHECK_FAILED: { status: 409, type: 'INVALID_REQUEST' },
  IDEMPOTENCY_KEY_IN_USE: { status: 422, type: 'INVALID_REQUEST' },
  COULD_NOT_UPDATE_RESOURCE: { status: 409, type: 'INVALID_REQUEST' },
  COULD_NOT_DELETE_RESOURCE: { status: 409, type: 'INVALID_REQUEST' },
  RATE_LIMIT_EXCEEDED: { status: 429, type: 'INVALID_REQUEST' },
  INTERNAL_ERROR: { status: 500, type: 'API_ERROR' },
  SERVICE_UNAVAILABLE: { status: 503, type: 'API_ERROR' },
} as const satisfies Record<string, ErrorRow>

export type ErrorCode = keyof typeof ERRORS

/** The body of every refusal (semantics 9.5). */
export type ErrorBody = {
  type: ErrorRow['type']
  code: ErrorCode
  field?: string
  message: string
  resource_id?: string
  resource_type?: string
}

export type ErrorDetails = {
  /** Dotted path of the offending field, list positions as numbers: `meter_values.0.number`. */
  field?: string
  resourceId?: string
  resourceType?: string
  /** Seconds for the Retry-After header. */
  retryAfterSeconds?: number
  /** The Allow header of a 405: the methods that the path takes. */
  allow?: string
  /** The WWW-Authenticate header: how to come back with what is missing. */
  challenge?: string
  /** Overrides the row's status, where one code has two (a reference in an event body: 400, in a path: 404). */
  status?: number
  /** Logged, never sent. */
  context?: Record<string, unknown>
  cause?: unknown
}

/** A refusal the caller can act on: `code` from the table, a message that says what to do. */
export class AppError extends Error {
  readonly code: ErrorCode
  readonly details: ErrorDetails

  constructor(code: ErrorCode, message: string, details: ErrorDetails = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause })
    this.name = 'AppError'
    this.code = code
    this.details = details
  }

  get status(): number {
    return this.details.status ?? ERRORS[this.code].status
  }

  /** The same refusal for the whole of which `path` is a part: its field is named from there. */
  within(path: string): AppError {
    const { field } = this.details
    return new AppError(this.code, this.message, {
      ...this.details,
      field: field === undefined ? path : `${path}.${field}`,
    })
  }

  /** The same refusal of what stands at another path. */
  at(field: string): AppError {
    return new AppError(this.code, this.message, { ...this.details, field })
  }

  toBody(): ErrorBody {
    const { field, resourceId, resourceType } = this.details
    return {
      type: ERRORS[this.code].type,
      code: this.code,
      ...(field === undefined ? {} : { field }),
      message: this.message,
      ...(resourceId === undefined ? {} : { resource_id: resourceId }),
      ...(resourceType === undefined ? {} : { resource_type: resourceType }),
    }
  }
}

/** Ends an exhaustive switch: does not compile while a case is missing. */
export function assertNever(value: never): never {
  throw new Error(`unexpected value: ${JSON.stringify(value)}`)
}

/** Runs a command on the part of a body that stands at `path`. A field that it refuses is named by its path in the whole body. */
export async function within<T>(path: string, command: () => Promise<T>): Promise<T> {
  try {
    return await command()
  } catch (error) {
    throw error instanceof AppError ? error.within(path) : error
  }
}
