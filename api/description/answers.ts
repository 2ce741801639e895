// What operations answer besides their success: one shape of error with its codes, and the headers of every answer.
import { ERRORS } from '../../shared/errors.ts'
import type { JsonObject } from './json.ts'

const CODES = Object.entries(ERRORS)
const codesOf = (status: number): string[] => CODES.filter(([, row]) => row.status === status).map(([code]) => code)

/** The one shape of every refusal, which may name things of these object types. */
export const errorSchema = (objectTypes: readonly string[]): JsonObject => ({
  type: 'object',
  description: 'Why a request was refused.',
  required: ['type', 'code', 'message'],
  properties: {
    type: {
      type: 'string',
      enum: [...new Set(CODES.map(([, row]) => row.type))],
      description:
        '`INVALID_REQUEST`: change the request. `API_ERROR`: the service failed; send the same request again later.',
    },
    code: {
      type: 'string',
      enum: CODES.map(([code]) => code),
      description: 'The reason, for programs. New codes may be added.',
    },
    field: {
      type: 'string',
      description: 'The field, parameter or header at fault, as a dotted path with list positions as numbers.',
    },
    message: {
      type: 'string',
      description: 'The reason, for people: what is wrong and what to do. Its wording may change.',
    },
    resource_id: { type: 'string', description: 'Id of the resource that stands in the way.' },
    resource_type: {
      type: 'string',
      enum: [...objectTypes],
      description: 'Object type of the resource that is missing or stands in the way. New types may be added.',
    },
  },
  examples: [
    {
      type: 'INVALID_REQUEST',
      code: 'INVALID_FIELD',
      field: 'meter_values.0.number',
      message: 'meter_values.0.number must be a plain decimal in a string.',
    },
  ],
})

type Refusal = { readonly name: string; readonly status: number; readonly when: string; readonly retryAfter?: true }

const REFUSALS: readonly Refusal[] = [
  { name: 'BadRequest', status: 400, when: 'The request is malformed, or breaks a rule. `field` says where.' },
  { name: 'Unauthorised', status: 401, when: 'The API key or bearer token is missing, wrong, revoked or expired.' },
  { name: 'Forbidden', status: 403, when: 'The key, token or user may not make this call.' },
  { name: 'NotFound', status: 404, when: 'There is no such resource on this platform and environment.' },
  {
    name: 'Conflict',
    status: 409,
    when: 'The request conflicts with what is stored, such as a reference already in use.',
  },
  { name: 'PayloadTooLarge', status: 413, when: 'The body is larger than this call accepts.' },
  {
    name: 'UnsupportedMediaType',
    status: 415,
    when: 'The body has another Content-Type than the call takes, or a Content-Encoding.',
  },
  {
    name: 'KeyInUse',
    status: 422,
    when: 'A request with this Idempotency-Key is still running. Send it again after `Retry-After` seconds.',
    retryAfter: true,
  },
  {
    name: 'TooManyRequests',
    status: 429,
    when: 'A rate limit is reached. Send it again after `Retry-After` seconds.',
    retryAfter: true,
  },
  { name: 'InternalError', status: 500, when: 'The service failed. Report it with the `X-REQUEST-ID`.' },
  {
    name: 'ServiceUnavailable',
    status: 503,
    when: 'A part of the service is not available. Send the same request again after `Retry-After` seconds.',
    retryAfter: true,
  },
]

const header = (name: string): JsonObject => ({ $ref: `#/components/headers/${name}` })

/** Headers that answers refer to. */
export const ANSWER_HEADERS: Readonly<Record<string, JsonObject>> = {
  RequestId: {
    description: 'Identifies the request in logs and the audit trail. Quote it when you report a problem.',
    schema: { type: 'string' },
    example: 'reqr_0w4mZQ1SgqhV5Yd0CFFkZ2',
  },
  RetryAfter: {
    description: 'Seconds to wait before the request is sent again.',
    schema: { type: 'integer', minimum: 0 },
  },
  RateLimitLimit: {
    description: 'How many calls the credential may make at once.',
    schema: { type: 'integer', minimum: 1 },
  },
  RateLimitRemaining: {
    description: 'How many of them are left now.',
    schema: { type: 'integer', minimum: 0 },
  },
  RateLimitReset: {
    description: 'Seconds until all of them are there again, if no call is made.',
    schema: { type: 'integer', minimum: 0 },
  },
  IdempotentReplayed: {
    description: '`true` when this is the stored answer of an earlier request with the same Idempotency-Key.',
    schema: { type: 'string', enum: ['true'] },
  },
  DryRun: { description: '`true` when nothing was kept.', schema: { type: 'string', enum: ['true'] } },
}

/** What is left of the caller's rate. */
const RATE_LIMIT: JsonObject = {
  'X-RateLimit-Limit': header('RateLimitLimit'),
  'X-RateLimit-Remaining': header('RateLimitRemaining'),
  'X-RateLimit-Reset': header('RateLimitReset'),
}

/** The refusals as components. */
export const ERROR_RESPONSES: Readonly<Record<string, JsonObject>> = Object.fromEntries(
  REFUSALS.map(({ name, status, when, retryAfter }) => [
    name,
    {
      description: `${when} Codes: ${codesOf(status)
        .map(code => `\`${code}\``)
        .join(', ')}.`,
      headers: {
        'X-REQUEST-ID': header('RequestId'),
        ...(retryAfter ? { 'Retry-After': header('RetryAfter') } : {}),
        ...(status === 429 ? RATE_LIMIT : {}),
      },
      content: { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } },
    },
  ]),
)

export type Traits = {
  readonly changes: boolean
  readonly hasBody: boolean
  readonly takesKey: boolean
  readonly dryRun: boolean
}

/** The refusals an operation may answer, by status. */
export function refusalsOf({ changes, hasBody, takesKey }: Traits): JsonObject {
  const applies = ({ status }: Refusal): boolean => {
    if (status === 409) return changes || takesKey
    if (status === 413 || status === 415) return hasBody
    if (status === 422) return takesKey
    return true
  }
  return Object.fromEntries(
    REFUSALS.filter(applies).map(({ name, status }) => [String(status), { $ref: `#/components/responses/${name}` }]),
  )
}

/** The headers of a success. */
export const successHeaders = ({ takesKey, dryRun }: Traits): JsonObject => ({
  'X-REQUEST-ID': header('RequestId'),
  ...RATE_LIMIT,
  ...(takesKey ? { 'Idempotent-Replayed': header('IdempotentReplayed') } : {}),
  ...(dryRun ? { 'X-DRY-RUN': header('DryRun') } : {}),
})
