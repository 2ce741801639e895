// Errors as ClickHouse's HTTP interface words them: `Code: 60. DB::Exception: … (UNKNOWN_TABLE)`.

/** HTTP statuses of exception codes, as the server assigns them; every other code is a 500. */
const STATUS = new Map<number, number>([
  [516, 403], // AUTHENTICATION_FAILED
  [192, 403], // UNKNOWN_USER
  [497, 403], // ACCESS_DENIED
  [47, 404], // UNKNOWN_IDENTIFIER
  [46, 404], // UNKNOWN_FUNCTION
  [60, 404], // UNKNOWN_TABLE
  [81, 404], // UNKNOWN_DATABASE
  [115, 404], // UNKNOWN_SETTING
  [36, 400], // BAD_ARGUMENTS
  [62, 400], // SYNTAX_ERROR
  [6, 400], // CANNOT_PARSE_TEXT
  [26, 400], // CANNOT_PARSE_QUOTED_STRING
  [27, 400], // CANNOT_PARSE_INPUT_ASSERTION_FAILED
  [38, 400], // CANNOT_PARSE_DATE
  [41, 400], // CANNOT_PARSE_DATETIME
  [72, 400], // CANNOT_PARSE_NUMBER
  [117, 400], // INCORRECT_DATA
  [130, 400], // CANNOT_READ_ARRAY_FROM_TEXT
  [456, 400], // UNKNOWN_QUERY_PARAMETER
  [457, 400], // BAD_QUERY_PARAMETER
  [354, 400], // ZLIB_INFLATE_FAILED
  [53, 400], // TYPE_MISMATCH
  [164, 403], // READONLY
  [48, 501], // NOT_IMPLEMENTED
  [307, 413], // TOO_MANY_BYTES
  [202, 503], // TOO_MANY_SIMULTANEOUS_QUERIES
])

/** A refusal by this server or by the engine behind it. */
export class ClickHouseError extends Error {
  readonly code: number
  /** The whole text the client parses. */
  readonly text: string

  constructor(code: number, type: string, message: string) {
    super(message)
    this.name = 'ClickHouseError'
    this.code = code
    this.text = `Code: ${code}. DB::Exception: ${message}. (${type})`
  }

  get status(): number {
    return STATUS.get(this.code) ?? 500
  }
}

const ENGINE_TEXT = /^Code: (\d+)\. DB::(?:Exception|NetException|ParsingException): ([\s\S]*?)\.? \(([A-Z0-9_]+)\)\s*$/

/** The engine's own error in this server's form. What is no ClickHouse error becomes 1002, UNKNOWN_EXCEPTION. */
export function fromEngine(error: unknown): ClickHouseError {
  if (error instanceof ClickHouseError) return error
  const text = error instanceof Error ? error.message : String(error)
  const at = text.indexOf('Code: ')
  const match = at >= 0 ? ENGINE_TEXT.exec(text.slice(at)) : null
  if (!match) return new ClickHouseError(1002, 'UNKNOWN_EXCEPTION', text)
  return new ClickHouseError(Number(match[1]), match[3] ?? 'UNKNOWN_EXCEPTION', match[2] ?? text)
}
