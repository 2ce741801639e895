// What a value must be, in words, for each check of a schema that it can fail.

type Fault = { readonly keyword: string; readonly message: string; readonly params: Readonly<Record<string, unknown>> }

/** What a value must be to pass the check that it failed: the rest of a sentence that begins with its name. */
export function whatItMustBe(fault: Fault): string {
  if (fault.keyword === 'type') return typesOf(fault.params['type'])
  const { limit } = fault.params
  if (limit === 1 && (fault.keyword === 'minLength' || fault.keyword === 'minItems')) return 'must not be empty'
  const bound = BOUNDS[fault.keyword]
  if (bound) return `must ${bound.replace('N', String(limit))}`
  if (fault.keyword === 'enum') return `must be one of ${[fault.params['allowedValues']].flat().join(', ')}`
  if (fault.keyword === 'format') return FORMAT_HELP[String(fault.params.format)] ?? fault.message
  if (fault.keyword === 'const') return `must be ${JSON.stringify(fault.params['allowedValue'])}`
  if (fault.keyword === 'pattern')
    return PATTERN_HELP[String(fault.params.pattern)] ?? `must match ${String(fault.params.pattern)}`
  return fault.message
}

const typesOf = (types: unknown): string =>
  `must be ${(Array.isArray(types) ? types : [types]).map(type => TYPES[String(type)] ?? String(type)).join(' or ')}`

const TYPES: Readonly<Record<string, string>> = {
  object: 'an object',
  array: 'a list',
  string: 'a string',
  number: 'a number',
  integer: 'a whole number',
  boolean: 'true or false',
}

const BOUNDS: Readonly<Record<string, string>> = {
  minLength: 'have at least N characters',
  maxLength: 'have at most N characters',
  minItems: 'have at least N entries',
  maxItems: 'have at most N entries',
  minimum: 'be N or more',
  maximum: 'be N or less',
  exclusiveMinimum: 'be more than N',
  exclusiveMaximum: 'be less than N',
}

/** What the patterns mean that values of bodies and queries must match. */
export const PATTERN_HELP: Readonly<Record<string, string>> = {
  '\\S': 'must hold more than white space',
  '^[^\\u0000]*$': 'must not hold NUL characters',
  '^[^\\u0000-\\u001f/\\\\]{1,255}$':
    'must be 1 to 255 characters, none of them a slash, a backslash or a control character',
  '^[0-9]{1,16}$': 'must be a whole number of at most 16 digits, without a sign',
  '^[0-9]{1,9}$': 'must be a whole number of at most 9 digits',
  '^[0-9]{1,2}$': 'must be a whole number of one or two digits',
  '^[0-9A-Za-z_-]{1,64}$': 'must be 1 to 64 letters, digits, hyphens or underscores',
  '^[0-9A-Za-z_#-]{1,64}$': 'must be 1 to 64 letters, digits, hyphens, underscores or #, each # a random character',
  '^[a-z]{2}(-[A-Z]{2})?$': 'must be a language, with or without a country, such as en or en-GB',
  '^#[0-9A-Fa-f]{6}$': 'must be a colour such as #0b6e4f',
  '^[A-Z0-9]{8}([A-Z0-9]{3})?$': 'must be a BIC: 8 or 11 capital letters and digits',
  '^\\d{4}-\\d{2}-\\d{2}(T.*)?$': 'must be a day, such as 2026-03-31',
  '^-?[A-Z*][A-Z_]*(\\.[A-Z_*]+)*$': 'must be a permission, such as INVOICE.VIEW or *.VIEW, or one with a - before it',
}

const FORMAT_HELP: Readonly<Record<string, string>> = {
  'date-time':
    'must be an ISO 8601 date and time with an offset, such as 2026-01-31T00:00:00Z, in a year from 1970 to 2199',
  date: 'must be a day that exists, such as 2026-01-31, in a year from 1970 to 2199',
  decimal: 'must be a plain decimal in a string: at most 26 digits before and 12 after the point, no exponent',
  'time-zone':
    'must be the IANA name of a time zone, its abbreviation or an offset, such as Europe/Amsterdam or GMT+01:00',
  currency: 'must be a currency code of ISO 4217, such as EUR',
  country: 'must be a two-letter country code of ISO 3166-1, such as NL',
  email: 'must be an e-mail address in ASCII, such as ada@example.com',
  reference: 'must be 1 to 255 characters without white space, and not of the form of an id',
}
