// A condition on properties as SQL. What a tenant chose stands in the statement as hexadecimal digits and nothing else: ten
// thousand values do not fit the address of a request, where bound parameters travel, and digits cannot end a text.
import { isPlainDecimal } from '../../shared/decimal.ts'
import { AppError, assertNever } from '../../shared/errors.ts'
import {
  checkCondition,
  type PropertyTest,
  type PropertyType,
  type UsageCondition,
  type UsageProperty,
} from '../../shared/usage/condition.ts'

/** Servers bound a statement; the embedded one takes 128 MiB. */
const CONDITION_BYTES_MAX = 48 * 1024 * 1024

const hex = (text: string): string => Buffer.from(text).toString('hex')

/** A text of any content as SQL. */
export const textSql = (text: string): string => `unhex('${hex(text)}')`

// isPlainDecimal, as ClickHouse says it: what does not match is no number on either side.
const PLAIN_DECIMAL = `'^-?[0-9]{1,26}(?:\\\\.[0-9]{1,12})?$'`
const isNumberSql = (value: string): string => `match(${value}, ${PLAIN_DECIMAL})`
const numberSql = (value: string): string => `toDecimal128OrZero(${value}, 12)`

/**
 * The condition on a Map column, or `1` for none. Throws as `checkCondition`, and INVALID_OPERATION when its values are
 * more than one statement can hold.
 */
export function conditionSql(column: string, condition: UsageCondition | undefined): string {
  if (condition === undefined) return '1'
  checkCondition(condition)
  const sql = nodeSql(column, condition)
  if (sql.length > CONDITION_BYTES_MAX) {
    throw new AppError('INVALID_OPERATION', 'The conditions list more values than one usage query can hold.')
  }
  return sql
}

function nodeSql(column: string, condition: UsageCondition): string {
  if (!('operator' in condition)) return testSql(column, condition)
  const operands = condition.operands.map(operand => nodeSql(column, operand))
  const [only] = operands
  switch (condition.operator) {
    case 'AND':
      return only === undefined ? '1' : `(${operands.join(' AND ')})`
    case 'OR':
      return only === undefined ? '0' : `(${operands.join(' OR ')})`
    case 'XOR':
      if (only === undefined) return '0'
      return operands.length === 1 ? only : `xor(${operands.join(', ')})`
    case 'NOT':
      return `(NOT ${only})`
    default:
      return assertNever(condition.operator)
  }
}

function testSql(column: string, { property, comparator, values }: PropertyTest): string {
  const name = textSql(property.reference)
  const value = `${column}[${name}]`
  const isText = property.type !== 'NUMBER'
  const compared = (operator: string): string =>
    `(${isNumberSql(value)} AND ${numberSql(value)} ${operator} toDecimal128('${numberText(values[0])}', 12))`
  const within =
    values.length === 0
      ? '0'
      : isText
        ? `(mapContains(${column}, ${name}) AND ${value} IN ${listSql('STRING', values)})`
        : `(${isNumberSql(value)} AND ${numberSql(value)} IN ${listSql('NUMBER', values)})`
  const contained = `(mapContains(${column}, ${name}) AND position(${value}, ${textSql(values[0] ?? '')}) > 0)`
  switch (comparator) {
    case 'EQUALS':
    case 'IN':
      return within
    case 'NOT_EQUALS':
    case 'NOT_IN':
      return `(NOT ${within})`
    case 'GREATER_THAN':
      return compared('>')
    case 'GREATER_THAN_OR_EQUALS':
      return compared('>=')
    case 'LESS_THAN':
      return compared('<')
    case 'LESS_THAN_OR_EQUALS':
      return compared('<=')
    // An absent property reads as an empty text.
    case 'EMPTY':
      return `(${value} = '')`
    case 'NOT_EMPTY':
      return `(${value} != '')`
    case 'CONTAINS':
      return contained
    case 'NOT_CONTAINS':
      return `(NOT ${contained})`
    default:
      return assertNever(comparator)
  }
}

/** More values than this stand in a table of their own, which takes longer to be analysed than a few, and far less than many. */
const VALUES_LISTED_MAX = 16

/** A set of values; of many the sub-query makes ClickHouse build it once, whatever its size. */
function listSql(type: PropertyType, values: readonly string[]): string {
  if (values.length <= VALUES_LISTED_MAX) {
    const each = (value: string) => (type === 'NUMBER' ? `toDecimal128('${numberText(value)}', 12)` : textSql(value))
    return `(${values.map(each).join(', ')})`
  }
  const item = type === 'NUMBER' ? `toDecimal128(item, 12)` : `unhex(item)`
  const list = values.map(value => (type === 'NUMBER' ? numberText(value) : hex(value))).join(',')
  return `(SELECT ${item} FROM (SELECT arrayJoin(splitByChar(',', '${list}')) AS item))`
}

/** A decimal that may stand in a statement as it is. */
function numberText(value: string | undefined): string {
  if (value === undefined || !isPlainDecimal(value)) throw new RangeError('a number is compared with decimals')
  return value
}

/** The text by which the values of a property are distinguished; `distinctText`, as ClickHouse says it. */
export function distinctTextSql(column: string, { reference, type }: UsageProperty): string {
  const value = `${column}[${textSql(reference)}]`
  return type === 'NUMBER' ? `if(${isNumberSql(value)}, toString(${numberSql(value)}), ${value})` : value
}
