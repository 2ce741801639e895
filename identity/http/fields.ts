// Reads the bodies of the JSON operations, field by field, so that a refusal names the field and says what to do.
import type { FastifyRequest } from 'fastify'
import { AppError } from '../../shared/errors.ts'

const TEXT_MAX = 1_024

/** A text that must be there. Throws UNSUPPORTED_MEDIA_TYPE, MISSING_FIELD or INVALID_FIELD. */
export function textField(request: FastifyRequest, name: string): string {
  if (!/^application\/json\b/i.test(request.headers['content-type'] ?? '')) {
    throw new AppError('UNSUPPORTED_MEDIA_TYPE', 'Send the body as application/json.')
  }
  const { body } = request
  const value =
    typeof body === 'object' && body !== null && name in body ? (body as Record<string, unknown>)[name] : null
  if (value === null || value === undefined) throw new AppError('MISSING_FIELD', `${name} is missing.`, { field: name })
  if (typeof value !== 'string' || value.length > TEXT_MAX) {
    throw new AppError('INVALID_FIELD', `${name} must be a text of at most ${TEXT_MAX} characters.`, { field: name })
  }
  return value
}

/** The refusal of a JSON operation that was called too often. */
export const tooManyRequests = (wait: number): AppError =>
  new AppError('RATE_LIMIT_EXCEEDED', `Too many requests; try again in ${wait} seconds.`, { retryAfterSeconds: wait })
